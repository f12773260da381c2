"""What the strip below a card, and the page Versions, make of many releases."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from helpers import ROOT

from casebook.chapters import evidence
from casebook.chapters.evidence import Row

SIGNS = {
    "x": "reproduced",
    "v": "not reproduced",
    "!": "failed differently",
    "-": "cannot be installed",
}


@pytest.fixture
def versions(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book/_ext")
    from bookext import versions

    return versions


@pytest.fixture
def strip(versions, monkeypatch):
    """strip(rows): the strip of a chapter with these rows and one message on its card."""

    def strip(found):
        monkeypatch.setattr(evidence, "rows", lambda chapter: found)
        case = SimpleNamespace(facts=SimpleNamespace(messages=["of the card"]))
        return versions.strip("lib", versions.runs(case))

    return strip


def rows(said=(), **ends):
    """Releases 1.0, 1.1 … with a sign for each: `rows(cpu_today="xxv")`. `said`: their lines."""
    gpu = {"cpu": (), "gpu": ("580.1", "X")}
    lines = {tuple(name.split("_")): signs for name, signs in ends.items()}
    return [
        Row("90-case", "lib", f"1.{n}", f"2026-01-{n + 1:02}", as_of, level, "3.12",
            ("numpy==2.0",), SIGNS[signs[n]], dict(said).get(n, ""), "2026-11-21", *gpu[level])
        for n in range(len(next(iter(lines.values()))))
        for (level, as_of), signs in lines.items()
        if signs[n] != " "
    ]  # fmt: skip


def soup(node):
    return BeautifulSoup(node.astext().replace("\u00a0", " "), "html.parser")


def lines(node):
    """The cells of each line of a table, as text."""
    return [[cell.text for cell in line.select("th, td")] for line in soup(node).select("tr")]


def test_neighbours_that_end_alike_in_every_line_share_a_column(versions):
    assert lines(versions.strip("lib", rows(cpu_release="xxxvvv", cpu_today="xxxvv!"))) == [
        ["dependency set", "1.0 – 1.2", "1.3 – 1.4", "1.5"],
        ["releases", "3", "2", "1"],
        ["as of release", "✗", "✓", "✓"],
        ["today", "✗", "✓", "!"],
    ]
    assert lines(versions.strip("lib", rows(cpu_today="xvx"))) == [
        ["dependency set", "1.0", "1.1", "1.2"],
        ["today", "✗", "✓", "✗"],
    ]


def test_what_was_not_run_is_empty(strip):
    """Without a Python there was no run."""
    shown = strip(rows(cpu_today="xxxx", gpu_today=" x v"))
    assert lines(shown)[-1] == ["today, on a GPU", "", "✗", "", "✓"]
    assert soup(shown).select_one(".legend").text.endswith("empty: not run")
    assert soup(shown).select_one("details p").text.endswith("GPU: X, driver 580.1")


def test_what_failed_for_a_reason_of_its_own_stopped_before(strip):
    """An import, a missing library, a build; not words of the card, nor another failure."""
    said = {
        0: "ModuleNotFoundError: No module named 'x'",
        1: "AttributeError: of the card",
        2: "TypeError: another",
    }
    shown = soup(strip(rows(said, cpu_today="!!!")))
    assert [mark.text for mark in shown.select("td[title]")] == ["·", "!"]
    assert shown.select("td[title]")[0]["title"] == f"1.0: stopped before · {said[0]}"
    assert shown.dd.text == f"· stopped before · {said[0]}"
    assert [mark["class"] for mark in shown.select(".legend span")] == [["otherwise"], ["stopped"]]


def test_dependency_sets_that_say_the_same_share_a_line(versions):
    strip = versions.strip("lib", rows(cpu_release="xv", cpu_today="xv", gpu_today="xx"))
    assert [line[0] for line in lines(strip)[1:]] == ["as of release; today", "today, on a GPU"]


def test_every_last_line_stands_below_with_its_releases_and_dependency_sets(versions):
    said = {0: "old", 1: "old", 2: "new", 3: "new"}
    ends = {"cpu_release": "xxxv", "cpu_today": "xxxv", "gpu_today": " xxv"}
    strip = soup(versions.strip("lib", rows(said, **ends)))
    assert [line.text for line in strip.select("dt, dd")] == [
        "1.0 (2026-01-01)",
        "✗ reproduced · old",
        "1.1 – 1.2 (2026-01-02 – 2026-01-03)",
        "✗ 1.1: reproduced · old",
        "✗ 1.2: reproduced · new",
        "1.3 (2026-01-04)",
        "✓ not reproduced · new",
    ]
    assert strip.select("td[title]")[1]["title"] == "1.2: reproduced · new"
    strip = soup(versions.strip("lib", rows(cpu_release="x", cpu_today="v", gpu_today="v")))
    assert [line.text for line in strip.select("dd")] == [
        "✗ as of release: reproduced",
        "✓ today; today, on a GPU: not reproduced",
    ]


def test_lines_that_differ_only_in_the_releases_number_stand_once(versions):
    said = {0: "lib 1.0 b", 1: "lib 1.1 a", 2: "lib 1.2 a"}
    strip = soup(versions.strip("lib", rows(said, cpu_today="---")))
    assert [line.text for line in strip.select("dd")] == [
        "– 1.0: cannot be installed · lib 1.0 b",
        "– 1.1 – 1.2: cannot be installed · lib 1.2 a",
    ]


def test_the_page_has_one_mark_for_two_runs_alike(versions):
    day = rows({0: "a", 1: "a"}, cpu_release="xxv")
    today = rows({0: "a", 1: "b", 2: "a"}, cpu_today="xxx")
    page = soup(versions.section("lib", day + today))
    shown = [[mark.text for mark in box.select("span")] for box in page.select(".cpu")]
    assert shown == [["✓", "✗"], ["✗", "✗"], ["✗"]]
    title = "case 90, 1.0, as of release and today: reproduced · a"
    assert page.select(".cpu > span")[-1]["title"] == title


def test_the_page_repeats_the_cases_above_each_screenful(versions):
    found = lines(versions.section("lib", rows(cpu_today="x" * 40)))
    assert [n for n, (first, *_) in enumerate(found) if first == "Release"] == [0, 17, 34]


def test_no_value_of_a_row_is_markup(versions):
    """Whatever a file has in place of a word, no page gets an element of it."""
    evil = "\"'><script>alert(1)</script>"
    free = "case", "library", "released", "line", "date", "driver", "gpu"
    one = replace(rows(gpu_today="x")[0], **dict.fromkeys(free, evil))
    section = versions.section(evil, [one]).children[1]
    for node in section, versions.strip(evil, [replace(one, release=evil, python=evil)]):
        assert "alert(1)" in node.astext()
        assert not soup(node).find("script")

"""What the strip below a card, and the page Versions, make of many releases."""

import pytest
from bs4 import BeautifulSoup
from helpers import ROOT

from casebook.authoring.releases import evidence

SIGNS = {
    "x": evidence.REPRODUCED,
    "v": evidence.NOT_REPRODUCED,
    "!": evidence.DIFFERENT,
    "-": evidence.CANNOT,
    "p": evidence.NO_PYTHON,
}


@pytest.fixture
def versions(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book/_ext")
    from bookext import versions

    return versions


def rows(said=(), **ends):
    """Releases 1.0, 1.1 and so on of a library, with a sign for each: `rows(cpu_today="xxv", gpu_today=" xv")`. `said`: lines."""
    lines = {tuple(name.split("_")): signs for name, signs in ends.items()}
    return [
        evidence.Row(
            "90-case",
            "lib",
            f"1.{n}",
            f"2026-01-{n + 1:02}",
            as_of,
            level,
            "3.12",
            ("numpy==2.0",),
            SIGNS[signs[n]],
            dict(said).get(n, ""),
            "2026-11-21",
            *(["580.1", "X"] if level == "gpu" else []),
        )
        for n in range(len(next(iter(lines.values()))))
        for (level, as_of), signs in lines.items()
        if signs[n] != " "
    ]


def lines(html, selector="tr"):
    """The cells of each line of a table, as text."""
    return [
        [cell.get_text().replace("\u00a0", " ") for cell in line.select("th, td")]
        for line in BeautifulSoup(html, "html.parser").select(selector)
    ]


def test_neighbours_that_end_alike_in_every_line_share_a_column(versions):
    assert lines(versions.strip("lib", rows(cpu_release="xxxvvv", cpu_today="xxxvv!"))) == [
        ["dependency set", "1.0 – 1.2", "1.3 – 1.4", "1.5"],
        ["releases", "3", "2", "1"],
        ["as of release", "✗", "✓", "✓"],
        ["today", "✗", "✓", "!"],
    ]


def test_a_strip_without_neighbours_alike_counts_nothing(versions):
    assert lines(versions.strip("lib", rows(cpu_today="xvx"))) == [
        ["dependency set", "1.0", "1.1", "1.2"],
        ["today", "✗", "✓", "✗"],
    ]


@pytest.mark.parametrize(
    ("gpu", "columns", "shown"),
    [
        (
            "x  xvv",
            ["1.0 – 1.3", "1.4 – 1.5"],
            ["✗ 2 of 4", "✓"],
        ),  # between two alike there is no edge
        (
            "xx vvv",
            ["1.0 – 1.1", "1.2", "1.3 – 1.5"],
            ["✗", "", "✓"],
        ),  # where the edge is, nobody saw
        ("  xx  ", ["1.0 – 1.1", "1.2 – 1.3", "1.4 – 1.5"], ["", "✗", ""]),  # nor beyond both ends
        ("pxxxxx", ["1.0", "1.1 – 1.5"], ["", "✗"]),  # no Python there is no run
    ],
)
def test_what_was_not_run_is_empty_and_hides_no_edge(versions, monkeypatch, gpu, columns, shown):
    monkeypatch.setattr(evidence, "rows", lambda chapter: rows(cpu_today="xxxxxx", gpu_today=gpu))
    html = versions.strip("lib", versions.runs(None))
    head, *_, on_gpu = lines(html)
    assert (head[1:], on_gpu) == (columns, ["today, on a GPU", *shown])
    assert ("empty: not run" in html) == ("" in shown)


def test_a_column_that_others_end_shows_nothing_of_a_level_that_was_not_run(versions):
    assert lines(versions.strip("lib", rows(cpu_today="xvx", gpu_today="x x")))[-1] == [
        "today, on a GPU",
        "✗",
        "",
        "✗",
    ]


def test_every_last_line_stands_below_with_its_releases_and_dependency_sets(versions):
    said = {0: "old <b>", 1: "old <b>", 2: "new", 3: "new"}
    html = versions.strip("lib", rows(said, cpu_release="xxxv", cpu_today="xxxv", gpu_today=" xxv"))
    assert [
        line.get_text().replace("\u00a0", " ")
        for line in BeautifulSoup(html, "html.parser").select("dt, dd")
    ] == [
        "1.0 (2026-01-01)",
        "✗ reproduced · old <b>",
        "1.1 – 1.2 (2026-01-02 – 2026-01-03)",
        "✗ 1.1: reproduced · old <b>",
        "✗ 1.2: reproduced · new",
        "1.3 (2026-01-04)",
        "✓ not reproduced · new",
    ]


def test_below_stands_in_which_dependency_sets_where_they_differ(versions):
    html = versions.strip("lib", rows(cpu_release="x", cpu_today="v", gpu_today="v"))
    assert [line.text for line in BeautifulSoup(html, "html.parser").select("dd")] == [
        "✗ as of release: reproduced",
        "✓ today; today, on a GPU: not reproduced",
    ]


def test_lines_that_differ_only_in_the_releases_number_stand_once(versions):
    strip = BeautifulSoup(
        versions.strip(
            "lib", rows({0: "lib 1.0 b", 1: "lib 1.1 a", 2: "lib 1.2 a"}, cpu_today="---")
        ),
        "html.parser",
    )
    assert [line.text.replace("\u00a0", " ") for line in strip.select("dd")] == [
        "– 1.0: cannot be installed · lib 1.0 b",
        "– 1.1 – 1.2: cannot be installed · lib 1.2 a",
    ]
    alike = BeautifulSoup(
        versions.strip("lib", rows({0: "lib 1.0", 1: "lib 1.1"}, cpu_today="xx")), "html.parser"
    )
    assert alike.select_one("td[title]")["title"] == "1.1: reproduced · lib 1.1"


def test_the_pointer_reads_the_newest_line_and_that_there_are_others(versions):
    strip = BeautifulSoup(
        versions.strip("lib", rows({0: "old", 1: "<new>"}, cpu_today="xx!")), "html.parser"
    )
    assert [cell["title"] for cell in strip.select("td[title]")] == [
        "1.1: reproduced · <new>; older ones said something else",
        "1.2: failed differently",
    ]


def test_the_keyboard_stops_twice_at_a_folded_strip(versions):
    """At the box that scrolls and at the fold, however many releases there are."""
    strip = BeautifulSoup(
        versions.strip("lib", rows(cpu_release="xv" * 9, cpu_today="vx" * 9)), "html.parser"
    )
    strip.dl.decompose()
    assert [stop.name for stop in strip.select("a, button, summary, [tabindex]")] == [
        "div",
        "summary",
    ]


@pytest.mark.parametrize(
    ("release", "today", "lines", "shown"),
    [
        ("x", "x", ("a", "a"), ["✗"]),
        ("x", "x", ("a", "b"), ["✗", "✗"]),
        ("v", "x", ("", "a"), ["✓", "✗"]),
    ],
)
def test_the_page_has_one_mark_for_two_runs_alike(versions, release, today, lines, shown):
    found = rows({0: lines[0]}, cpu_release=release) + rows({0: lines[1]}, cpu_today=today)
    marks = BeautifulSoup(versions.marks(found), "html.parser").select(".cpu > span")
    assert [mark.text for mark in marks] == shown
    days = "as of release and today" if len(shown) == 1 else "as of release"
    assert marks[0]["title"].startswith(f"case 90, 1.0, {days}: ")


def test_the_page_repeats_the_cases_above_each_screenful(versions):
    table = versions.section("lib", rows(cpu_today="x" * 40)).children[1].astext()
    assert [n for n, (first, *_) in enumerate(lines(table)) if first == "Release"] == [0, 17, 34]

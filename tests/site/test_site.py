"""The built site: complete, and as the notebooks are. No browser; the build executes nothing."""

import csv
import functools
import gzip
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from helpers import ROOT
from nbformat.v4 import new_notebook, writes
from sample import FAILING, SAMPLE

from casebook.authoring import receipts
from casebook.authoring.chapters import Chapter, load
from casebook.authoring.releases import evidence
from casebook.cells.header import read
from casebook.errors import EnvironmentFailure
from casebook.execution.script import check, run

ADDED = ["97", "98"]  # numbers of the chapters that tests add


@pytest.fixture(scope="session")
def texts(site):
    """The pages as written: {'book/index': '<!DOCTYPE html>…'}."""
    files = [*site.glob("*.html"), *site.glob("book/*.html"), *site.glob("notebooks/*.html")]
    return {
        path.relative_to(site).with_suffix("").as_posix(): path.read_text("utf8")
        for path in files
        if path.name != "index.html" or path.parent != site
    }


@pytest.fixture(scope="session")
def soup(texts):
    """A page, parsed: `soup("book/index")`."""
    return functools.cache(lambda name: BeautifulSoup(texts[name], "html.parser"))


@pytest.fixture(scope="session")
def page(soup):
    return soup(SAMPLE)


@pytest.fixture
def bookext(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book/_ext")


def notebooks(texts):
    return {name.partition("/")[2] for name in texts if name.startswith("notebooks/")}


def test_no_page_names_a_path_of_this_machine(site, texts):
    # The Dockerfile's user is called reader.
    ours = re.compile(
        rf"/(?:home|root|Users)/(?!reader/)\S+|{re.escape(str(ROOT))}|{site.parent.parent}"
    )
    assert not [
        f"{name}: {found[0]}" for name, text in texts.items() if (found := ours.search(text))
    ]


def test_bodies_are_highlighted_as_python(page):
    for number, keyword in {1: "for", 2: "def", 3: "while"}.items():
        assert keyword in [span.text for span in page.select(f"#cell-{number} pre span.k")]


def test_header_is_folded_and_complete(page):
    cell = page.select_one("#cell-1")
    header = FAILING[: FAILING.index("import numpy")]
    assert "open" not in cell.select_one("details.bar").attrs
    assert cell.select_one("details.bar + div pre .header").text == header
    assert cell.select_one(".cell_input pre").text.rstrip() == FAILING


def test_line_names_what_matters_and_first_what_differs_from_the_neighbours(page):
    facts = [page.select_one(f"#cell-{number} .facts").text for number in (1, 2, 6)]
    assert facts[0] == "numba 0.65.1 · Python 3.11–3.13 · GPU"
    assert facts[1].startswith("numba 0.65.1 · numpy 2.4.6 ")
    assert facts[2].startswith("numba 0.65.1 · numpy 2.5.5 ")
    must = [page.select_one(f"#cell-{number} .must").text for number in (1, 2)]
    assert must == ["must raise ZeroDivisionError", "must exit with 0"]


@pytest.mark.parametrize(
    ("mine", "before", "case", "named"),
    [
        (
            {"numba": "0.59.0", "numpy": "1.26.4"},
            {"numba": "0.59.1", "numpy": "1.26.4"},
            ["numba"],
            ["numba 0.59.0"],
        ),
        (
            {"numba": "0.65.1", "numba-cuda-mlir": "0.6.0"},
            {"numba": "0.65.1", "numba-cuda": "0.30.4"},
            ["numba"],
            ["numba 0.65.1", "numba-cuda-mlir 0.6.0"],
        ),
        (
            {"cuda-core": "1.2.2", "numba-cuda": "0.30.4", "numba": "0.65.1"},
            {},
            ["cuda-python"],
            ["cuda-core 1.2.2", "numba-cuda 0.30.4"],
        ),
        (
            {"numba-cuda": "0.7.0", "numba": "0.65.1", "cuda-core": "1.2.2"},
            {"numba-cuda": "0.7.0", "numba": "0.60.0", "cuda-core": "1.2.2"},
            ["cuda-python"],
            ["numba 0.65.1", "cuda-core 1.2.2"],
        ),
        (
            {"cupy-cuda12x": "13.4.0", "nvidia-cuda-nvrtc-cu12": "12.1.105"},
            {"cupy-cuda12x": "13.4.0", "nvidia-cuda-nvrtc-cu12": "12.9.86"},
            ["cupy"],
            ["cupy-cuda12x 13.4.0", "nvrtc 12.1.105"],
        ),
        ({"six": "1.17.0"}, {}, [], ["six 1.17.0"]),
        ({}, {}, [], ["standard library"]),
    ],
)
def test_packages_that_a_line_names(bookext, monkeypatch, mine, before, case, named):
    from bookext import summary

    monkeypatch.setattr(summary, "pins", lambda header: header)
    assert summary.packages(mine, [before], case) == named


def test_lines_are_numbered_as_in_the_traceback(page):
    body = page.select_one("#cell-1 pre .body")
    lines = [line.text for line in body.select(".line")]
    first = int(re.search(r"counter-reset: line (\d+)", body["style"])[1]) + 1
    assert lines[12 - first].strip() == "print(n / 0)"  # the traceback says line 12


def test_ending_is_a_mark_below_the_output(page):
    endings = [page.select_one(f"#cell-{number} .ending").text for number in (1, 2)]
    assert endings == ["as expected: ZeroDivisionError", "as expected: exit status 0"]
    assert "as expected" not in page.select_one("#cell-1 .cell_output pre").text
    assert not page.select_one("#cell-2 .cell_output pre")


def test_text_in_columns_does_not_wrap_and_messages_do(page):
    assert page.select_one("#cell-8 .columns pre") and not page.select_one("#cell-6 .columns")


def test_every_cell_links_to_itself(page):
    cells = page.select("div.cell[id]")
    assert len(cells) == 9
    assert all(cell.select_one("a.permalink")["href"] == f"#{cell['id']}" for cell in cells)


def test_plot_code_is_folded_and_plots_are_not(page):
    fold = page.select_one("#cell-5 > details.fold")
    assert fold.summary.text == "Code, 2 lines" and not fold.img
    assert page.select_one("#cell-5 a.plot img")["alt"] == "The plot shows words."


def test_a_drawing_for_white_paper_keeps_its_paper(page):
    assert page.select_one("#cell-9 a.plot.paper") and not page.select_one("#cell-5 a.plot.paper")


def test_no_page_shows_a_table_as_raw_pipes(texts):
    rows = re.compile(r"(?m)^(?:<\w+[^>]*>)?\s*\|.*\|.*\|\s*(?:</p>)?$")
    shown = {name: re.sub("(?s)<pre>.*?</pre>", "", text) for name, text in texts.items()}
    assert not [f"{name}: {row[0]}" for name, text in shown.items() if (row := rows.search(text))]


def test_failing_and_running_cells_are_labelled(page):
    for kind, labels in {"fails": ["Fails"], "runs": ["Runs", "Runs"]}.items():
        assert [cell.select_one(".verdict").text for cell in page.select(f".cell.{kind}")] == labels


def test_solutions_and_long_outputs_are_closed(page):
    folds = {number: page.select_one(f"#cell-{number} > details.fold") for number in (1, 3, 4)}
    assert not folds[1]
    assert folds[3].summary.text == "Output, 50 lines" and "a line" in folds[3].text
    assert folds[4].summary.text == "Solution" and "answer = 42" in folds[4].text
    assert "open" not in folds[3].attrs | folds[4].attrs


def test_chapter_without_receipt_says_so(page):
    assert "None. The outputs of this chapter" in page.select_one(".receipt").text


def test_receipt_is_shown(bookext, tmp_path):
    from bookext.receipt import markup
    from bookext.status import standing

    path = tmp_path / "chapter.ipynb"
    path.write_text(writes(new_notebook()))
    chapter = Chapter(path)
    chapter.notebook.metadata["casebook"] = dict.fromkeys(receipts.KEYS, "") | {
        "gpu": "NVIDIA H200",
        "driver": "580.1",
        "date": "2026-11-20",
        "seconds": 99,
        "environment": receipts.environment(chapter),
        "cells": {},
    }
    assert standing(chapter) == "holds"
    assert all(
        word in markup(chapter)
        for word in ("NVIDIA H200", "580.1", "2026-11-20", "99 s", "Every output above")
    )
    chapter.notebook.metadata["casebook"]["cells"] = {"gone": "1 2"}
    assert "Something was edited" in markup(chapter)
    assert standing(chapter) == "stale"


def test_first_page_has_each_chapter(soup, texts):
    index = soup("book/index")
    listed = {Path(link["href"]).stem for link in index.select("ul.cases .case-title a")}
    assert listed == notebooks(texts)
    sections = index.select("section.kind")
    kinds = [one.h2.text.rstrip("#") for one in sections if "Something breaks" in one.text]
    assert kinds == ["Crash", "Slow"]
    card = next(card for card in index.select("ul.cases > li") if "Something breaks" in card.text)
    assert "about-numba" in card["class"]
    assert (card.dt.text, card.dd.code.text) == ("A division breaks", "max(d, 1)")


def test_first_page_begins_with_the_box(soup):
    section = soup("book/index").select_one("article").section
    parts = section.find_all(recursive=False)
    assert [part.name for part in parts][:3] == ["h1", "p", "form"]
    assert section.p.text.count(". ") == 0 and section.form["class"] == ["lookup"]


def test_the_card_has_a_row_for_each_fault_and_a_line_for_the_rest(page):
    card = page.select_one("table.case-card")
    assert [head.text for head in card.select("th")] == ["You see", "Do", "Affected", "Fixed in"]
    assert len(card.select("tbody tr")) == 1 and page.select_one("p.case-facts").strong


def test_pages_have_colours_without_a_script_and_none_is_drawn_by_one(site, texts):
    assert all('data-theme="light"' in text for text in texts.values())
    assert not [name for name, text in texts.items() if "fontawesome.js" in text]
    assert not list(site.rglob("fontawesome.js*"))


@pytest.mark.parametrize("name", ["index", "contributing"])
def test_example_on_a_page_does_what_it_says(name):
    source = re.search(
        r"```\{example-cell\}\n%%pinned\n(.*?)```",
        (ROOT / f"book/{name}.md").read_text(),
        re.DOTALL,
    )[1]
    header = read(source)
    try:
        outcome = run(source, header, lambda text: None)
    except EnvironmentFailure as error:
        pytest.skip(str(error))
    check(header, outcome)
    shown = re.search(r"```text\n(\[255.*?)```", (ROOT / "book/index.md").read_text(), re.DOTALL)[1]
    assert name != "index" or f"{outcome.output}as expected: {header.expected.ending}\n" == shown


def test_error_index_has_every_message(soup):
    listed = [code.text for code in soup("book/errors").select("ul.messages code")]
    for message in [message for chapter in load() for message in chapter.facts.messages]:
        assert any(message in text for text in listed), message
    assert "ZeroDivisionError: division by zero" in listed


def test_page_searches_the_messages_of_all_cases(site, texts):
    text = (site / "_static/cases.js").read_text("utf8")
    book = json.loads(text.removeprefix("const BOOK = ").removesuffix(";\n"))
    assert {Path(case["href"]).stem for case in book["cases"]} == notebooks(texts)
    for name in ("book/index", "book/errors"):
        scripts = re.findall(r'src="[^"]*/(match|cases|errors)\.js', texts[name])
        assert scripts == ["match", "cases", "errors"]


def test_status_has_a_row_for_each_chapter(bookext, soup):
    from bookext.status import standing

    lines = soup("book/status").select("table.status tbody tr")
    rows = [[cell.text for cell in row.select("td")] for row in lines]
    assert [row[0][:2] for row in rows] == [*(chapter.name[:2] for chapter in load()), *ADDED]
    assert rows[-1][1:] == ["never", "", "", "7 CPU, 2 GPU", "none"]
    assert [row[5] for row in rows[: -len(ADDED)]] == [standing(chapter) for chapter in load()]


def test_cells_offer_their_file(page, site):
    link, button = page.select_one("#cell-1 .export a"), page.select_one("#cell-1 .export button")
    assert button["data-file"] == link["href"] and link.has_attr("download")
    offered = (site / "notebooks" / link["href"]).read_text("utf8")
    assert offered.startswith("# From 98-sample.ipynb, cell [1]") and "print(n / 0)" in offered
    assert not page.select_one("#cell-3 .export")


def test_pages_are_light(site, texts):
    """Bytes of HTML, style sheets and scripts, compressed as a server sends them; plots are images
    and not counted. The theme's are 120 KB of each page. With them, and with its icon fonts cut to
    the icons in use, Lighthouse (mobile) gives 93 to 97 for performance."""
    size = functools.cache(lambda file: len(gzip.compress(file.read_bytes())))
    weights = {}
    for name in texts.keys() - {"404", "search"}:
        html = re.sub(r"(?s)<svg.*?</svg>", "", texts[name]).encode()
        tags = re.findall(r"<script[^>]*>|<link[^>]*stylesheet[^>]*>", texts[name])
        links = re.findall(r'(?:src|href)="([^"]+)"', "".join(tags))
        files = [(site / name).parent / urlsplit(link).path for link in links]
        weights[name] = len(gzip.compress(html)) + sum(size(file.resolve()) for file in files)
    assert max(weights.values()) <= 200_000, weights


def test_every_page_is_described_and_on_the_site_map(site, texts):
    listed = re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text("utf8"))
    for name in texts.keys() - {"search", "404"}:
        assert re.search('<meta name="description" content="[^"]{10,}"', texts[name]), name
        url = re.search('<meta property="og:url" content="([^"]+)"', texts[name])[1]
        assert url in listed and url.endswith(f"/{name}.html"), name
    assert not [address for address in listed if "404" in address or "search" in address]


def test_there_is_a_page_for_what_is_missing(soup):
    links = [link["href"] for link in soup("404").select("article a")]
    assert any("book/index.html" in link for link in links)
    assert any("book/errors.html" in link for link in links)
    assert soup("search").select_one(".pointer a")["href"] == "book/errors.html"


def test_the_strip_has_a_mark_for_each_run(page):
    lines = [
        [cell.get_text(strip=True) for cell in line.find_all(["th", "td"])]
        for line in page.select("table.strip tr")
    ]
    assert lines == [
        ["dependency set", "2.4.6", "2.10.0"],
        ["as of release", "\u2717", ""],
        ["today", "\u2713", "\u2013"],
        ["as of release, on a GPU", "!", ""],
    ]
    legend = page.select_one("table.strip").find_next(class_="legend")
    assert legend.text.endswith("GPU: NVIDIA X, driver 580.1")
    assert page.select_one("#how-we-know table.strip")


def test_below_the_strip_stands_what_was_said_and_where_the_release_is(soup, page):
    fold = page.select_one("table.strip").find_next("details")
    assert [line.text for line in fold.select("dt, dd")] == [
        "2.4.6 (2026-05-01)",
        "\u2717 as of release: reproduced \u00b7 ZeroDivisionError: <b>division by zero",
        "\u2713 today: not reproduced",
        "! as of release, on a GPU: failed differently \u00b7 killed by SIGSEGV",
        "2.10.0 (2026-09-01)",
        "\u2013 cannot be installed \u00b7 Python 3.12: no wheel",
    ]
    title = "2.4.6: reproduced \u00b7 ZeroDivisionError: <b>division by zero"
    assert page.select_one("table.strip td")["title"] == title
    assert fold.a["href"] == "../book/versions.html#numpy-2-4-6"
    assert soup("book/versions").select_one("tr#numpy-2-4-6 th").text == "2.4.6"


def test_the_page_versions_has_a_line_for_each_release_newest_first(soup):
    rows = soup("book/versions").select("#of-numpy table.versions tr")
    assert [[cell.get_text(strip=True) for cell in row.find_all(["th", "td"])] for row in rows] == [
        ["Release", "98", "Day", "Python", "NumPy"],
        ["2.10.0", "\u2013", "2026-09-01", "\u2013", "\u2013"],
        ["2.4.6", "\u2717\u2713!", "2026-05-01", "3.12", "2.4.6"],
    ]
    assert [[mark.text for mark in box] for box in rows[2].select(".cpu, .gpu")] == [
        ["\u2717", "\u2713"],
        ["!"],
    ]


def test_every_run_stands_in_a_file(site, soup):
    rows = list(csv.DictReader((site / "_static/versions.csv").read_text("utf8").splitlines()))
    assert soup("book/versions").select_one("a[download]")["href"] == "../_static/versions.csv"
    sample = [row for row in rows if row["case"] == "98-sample"]
    book = [row for row in rows if row["case"][:2] not in ADDED]
    assert len(book) == sum(1 for chapter in load() for _ in evidence.rows(chapter))
    assert [(row["release"], row["as_of"], row["level"], row["outcome"]) for row in sample] == [
        ("2.4.6", "release", "cpu", "reproduced"),
        ("2.4.6", "release", "gpu", "failed differently"),
        ("2.4.6", "today", "cpu", "not reproduced"),
        ("2.10.0", "today", "cpu", "cannot be installed"),
    ]
    assert sample[0]["closure"] == "numpy==2.4.6 six==1.17.0"

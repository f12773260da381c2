"""The built site: complete, and as the notebooks are. No browser; the build executes nothing."""

import csv
import gzip
import json
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from helpers import ROOT
from nbformat.v4 import new_notebook, writes
from sample import FAILING, SAMPLE, build, small

from casebook.authoring import receipts
from casebook.authoring.chapters import Chapter, load
from casebook.authoring.releases import evidence
from casebook.cells.header import read
from casebook.errors import EnvironmentFailure
from casebook.execution.script import check, run


@pytest.fixture(scope="session")
def page(site, pages):
    return pages[site / f"{SAMPLE}.html"]


def local(site, page, link):
    """The file that a link leads to, or None where it leads outside."""
    if urlsplit(link).scheme or link.startswith("//"):
        return None
    path = unquote(urlsplit(link).path)
    root = re.match(r"/[^/]+/", path)  # the 404 page names the site's root, /name/
    return (site / path[root.end() :] if root else page.parent / path).resolve() if path else page


def test_links_and_anchors_resolve(site, pages):
    broken = []
    anchors = {path: {tag["id"] for tag in soup.find_all(id=True)} for path, soup in pages.items()}
    for path, soup in pages.items():
        for tag in soup.find_all(["a", "link", "img", "script"]):
            link = tag.get("href") or tag.get("src")
            target = link and local(site, path, link)
            anchor = link and unquote(urldefrag(link).fragment)
            if target and not target.exists():
                broken.append(f"{path.name}: {link}")
            elif target in pages and anchor and anchor not in anchors[target]:
                broken.append(f"{path.name}: {link} (no such anchor)")
    assert not broken


def test_style_sheets_load_only_what_is_there(site, pages):
    sheets = {path: path.read_text("utf8") for path in site.rglob("*.css")}
    sheets |= {path: "\n".join(map(str, soup.find_all("style"))) for path, soup in pages.items()}
    bad = []
    for path, text in sheets.items():
        for url in re.findall(r"""url\(["']?(?!data:)([^"')]+)""", text) + re.findall(
            r"""@import\s+["']([^"']+)""", text
        ):
            target = local(site, path, url)
            if not target or not target.exists():
                bad.append(f"{path.name}: {url}")
    assert not bad


def test_no_page_names_a_path_of_this_machine(site, pages):
    text = {path.name: path.read_text("utf8") for path in pages}
    ours = re.compile(
        r"/(?:home|root|Users)/(?!reader/)\S+"
    )  # the Dockerfile's user is called reader
    assert not [
        f"{name}: {found[0]}" for name, page in text.items() if (found := ours.search(page))
    ]
    assert not [
        name for name, page in text.items() if str(ROOT) in page or str(site.parent.parent) in page
    ]


@pytest.mark.parametrize(("number", "keyword"), [(1, "for"), (2, "def"), (3, "while")])
def test_bodies_are_highlighted_as_python(page, number, keyword):
    assert keyword in [span.text for span in page.select(f"#cell-{number} pre span.k")]


def test_header_is_folded_and_complete(page):
    cell = page.select_one("#cell-1")
    assert "open" not in cell.select_one("details.bar").attrs
    assert (
        cell.select_one("details.bar + div pre .header").text
        == FAILING[: FAILING.index("import numpy")]
    )
    assert cell.select_one(".cell_input pre").text.rstrip() == FAILING


def test_line_names_what_matters(page):
    assert page.select_one("#cell-1 .facts").text == "numba 0.65.1 · Python 3.11–3.13 · GPU"
    assert page.select_one("#cell-1 .must").text == "must raise ZeroDivisionError"
    assert page.select_one("#cell-2 .must").text == "must exit with 0"


def test_line_names_first_what_differs_from_the_neighbours(page):
    assert page.select_one("#cell-2 .facts").text.startswith("numba 0.65.1 · numpy 2.4.6 ")
    assert page.select_one("#cell-6 .facts").text.startswith("numba 0.65.1 · numpy 2.5.5 ")


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
def test_packages_that_a_line_names(monkeypatch, mine, before, case, named):
    monkeypatch.syspath_prepend(ROOT / "book/_ext")
    from bookext import summary

    monkeypatch.setattr(summary, "pins", lambda header: header)
    assert summary.packages(mine, [before], case) == named


def test_lines_are_numbered_as_in_the_traceback(page):
    body = page.select_one("#cell-1 pre .body")
    lines = [line.text for line in body.select(".line")]
    first = int(re.search(r"counter-reset: line (\d+)", body["style"])[1]) + 1
    assert lines[12 - first].strip() == "print(n / 0)"  # the traceback says line 12


def test_verdict_is_a_mark_below_the_output(page):
    told = page.select_one("#cell-1 .ending")
    assert (
        told.text == "as expected: ZeroDivisionError"
        and "as expected" not in page.select_one("#cell-1 .cell_output pre").text
    )
    assert page.select_one(
        "#cell-2 .ending"
    ).text == "as expected: exit status 0" and not page.select_one("#cell-2 .cell_output pre")


def test_text_in_columns_does_not_wrap_and_messages_do(page):
    assert page.select_one("#cell-8 .columns pre") and not page.select_one("#cell-6 .columns")


def test_every_cell_links_to_itself(site, pages):
    for path in (path for path in pages if path.parent.name == "notebooks"):
        cells = pages[path].select("div.cell[id]")
        assert cells and all(
            cell.select_one("a.permalink")["href"] == f"#{cell['id']}" for cell in cells
        ), path.name


def test_plot_code_is_folded_and_plots_are_not(page):
    fold = page.select_one("#cell-5 > details.fold")
    assert (
        fold.summary.text == "Code, 2 lines"
        and not fold.img
        and page.select_one("#cell-5 a.plot img")["alt"] == "The plot shows words."
    )


def test_a_drawing_for_white_paper_keeps_its_paper(page):
    assert page.select_one("#cell-9 a.plot.paper") and not page.select_one("#cell-5 a.plot.paper")


def test_no_page_shows_a_table_as_raw_pipes(pages):
    rows = re.compile(r"^\s*\|.*\|.*\|\s*$", re.MULTILINE)
    raw = [
        f"{path.name}: {rows.search(text)[0].strip()}"
        for path, soup in pages.items()
        for block in soup.select("article .cell_output, article p, article li, article td")
        if rows.search(text := block.get_text()) and not block.find_parent("pre")
    ]
    assert not raw


def test_failing_and_running_cells_are_labelled(page):
    assert [cell.select_one(".verdict").text for cell in page.select(".cell.fails")] == ["Fails"]
    assert [cell.select_one(".verdict").text for cell in page.select(".cell.runs")] == [
        "Runs",
        "Runs",
    ]


def test_solution_is_closed(page):
    fold = page.select_one("#cell-4 > details.fold")
    assert (
        fold.summary.text == "Solution" and "open" not in fold.attrs and "answer = 42" in fold.text
    )


def test_long_output_is_closed(page):
    fold = page.select_one("#cell-3 > details.fold")
    assert (
        fold.summary.text == "Output, 50 lines"
        and "a line" in fold.text
        and not page.select_one("#cell-1 > details.fold")
    )


def test_chapter_without_receipt_says_so(page):
    assert "None. The outputs of this chapter" in page.select_one(".receipt").text


def test_receipt_is_shown(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "book/_ext")
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


def test_receipts_of_the_chapters_are_shown(site, pages):
    for chapter in (
        chapter for chapter in load() if site / f"notebooks/{chapter.name}.html" in pages
    ):
        foot = pages[site / f"notebooks/{chapter.name}.html"].select_one(".receipt").text
        assert (chapter.receipt or {"date": "None."})["date"] in foot


def test_first_page_has_a_card_for_each_chapter(site, pages):
    index = pages[site / "book/index.html"]
    listed = {link["href"].rpartition("/")[2] for link in index.select("ul.cases .case-title a")}
    assert listed == {path.name for path in pages if path.parent.name == "notebooks"}
    kinds = [
        section.h2.text.rstrip("#")
        for section in index.select("section.kind")
        if "Something breaks" in section.text
    ]
    assert kinds == ["Crash", "Slow"]
    card = next(card for card in index.select("ul.cases > li") if "Something breaks" in card.text)
    assert "about-numba" in card["class"]
    assert (card.dt.text, card.dd.code.text) == ("A division breaks", "n / max(d, 1)")


def test_first_page_begins_with_the_box(site, pages):
    article = pages[site / "book/index.html"].select_one("article")
    assert [part.name for part in article.section.find_all(recursive=False)][:3] == [
        "h1",
        "p",
        "form",
    ]
    assert article.section.p.text.count(". ") == 0 and article.form["class"] == ["lookup"]


def test_the_card_has_a_row_for_each_fault_and_a_line_for_the_rest(page):
    card = page.select_one("table.case-card")
    assert [head.text for head in card.select("th")] == ["You see", "Do", "Affected", "Fixed in"]
    assert len(card.select("tbody tr")) == 1 and page.select_one("p.case-facts").strong


def test_pages_have_colours_without_a_script(pages):
    assert all(
        html["data-theme"] == "light"
        for soup in pages.values()
        for html in soup.select("html[data-content_root]")
    )


def test_fontawesome_script_is_gone(site, pages):
    assert not [path.name for path in pages if "fontawesome.js" in path.read_text("utf8")]
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


def test_error_index_has_every_message(site, pages):
    listed = [code.text for code in pages[site / "book/errors.html"].select("ul.messages code")]
    shown = {path.stem for path in pages if path.parent.name == "notebooks"}
    for chapter in (chapter for chapter in load() if chapter.name in shown):
        for message in chapter.facts.messages:
            assert any(message in text for text in listed), message
    assert "ZeroDivisionError: division by zero" in listed


def test_page_searches_the_messages_of_all_cases(site, pages):
    text = (site / "_static/cases.js").read_text("utf8")
    book = json.loads(text.removeprefix("const BOOK = ").removesuffix(";\n"))
    assert {case["href"] for case in book["cases"]} == {
        f"../notebooks/{path.name}" for path in pages if path.parent.name == "notebooks"
    }
    for name in ("book/index", "book/errors"):
        scripts = [
            script["src"].partition("?")[0].rpartition("/")[2]
            for script in pages[site / f"{name}.html"].select("script[src]")
        ]
        assert [
            script for script in scripts if script in ("match.js", "cases.js", "errors.js")
        ] == ["match.js", "cases.js", "errors.js"]


def test_status_has_a_row_for_each_chapter(site, pages):
    rows = [
        [cell.text for cell in row.select("td")]
        for row in pages[site / "book/status.html"].select("table.status tbody tr")
    ]
    shown = [chapter for chapter in load() if site / f"notebooks/{chapter.name}.html" in pages]
    assert [row[0][:2] for row in rows] == [*(chapter.name[:2] for chapter in shown), "98"]
    assert rows[-1][1:] == ["never", "", "", "7 CPU, 2 GPU", "none"]
    for chapter, row in zip(shown, rows, strict=False):
        assert row[5] == (
            "none"
            if not chapter.receipt
            else "stale"
            if any(receipts.receipt_problems(chapter))
            else "holds"
        )


def test_cells_offer_their_file(page, site, pages):
    link = page.select_one("#cell-1 .export a")
    assert page.select_one("#cell-1 .export button")["data-file"] == link["href"] and link.has_attr(
        "download"
    )
    offered = (site / "notebooks" / link["href"]).read_text("utf8")
    assert offered.startswith("# From 98-sample.ipynb, cell [1]") and "print(n / 0)" in offered
    assert not page.select_one("#cell-3 .export")
    for chapter in (
        chapter for chapter in load() if site / f"notebooks/{chapter.name}.html" in pages
    ):
        for cell in chapter.cells:
            offer = (
                pages[site / f"notebooks/{chapter.name}.html"]
                .find(id=f"cell-{cell.number}")
                .select_one(".export a")
            )
            assert bool(offer) == (cell.pinned and not cell.header.build), (
                chapter.name,
                cell.number,
            )


def test_what_leads_nowhere_fails_the_build(tmp_path):
    built = build(
        small(
            tmp_path,
            """# A page

```{exported} 98-sample no-such-id
```
[lost](lost-page.md) [lost](../notebooks/98-sample.ipynb#lost-anchor) {doc}`lost-document`
""",
        )
    )
    assert (
        built.returncode != 0
        and "there is no cell no-such-id to export in 98-sample" in built.stdout
    )
    assert all(
        re.search(rf"page\.md.*{lost}", built.stdout)
        for lost in ("lost-page", "lost-anchor", "lost-document")
    )


def weight(site, path, soup):
    """Bytes of a page's HTML, style sheets and scripts, each compressed as a server sends it; plots
    are images and not counted."""
    html = re.sub(r"(?s)<svg.*?</svg>", "", path.read_text("utf8"))
    loaded = [
        local(site, path, tag.get("src") or tag.get("href"))
        for tag in soup.select("script[src], link[rel=stylesheet]")
    ]
    return sum(len(gzip.compress(text)) for text in [html.encode(), *map(Path.read_bytes, loaded)])


def test_pages_are_light(site, pages):
    """The theme's style sheets and scripts are 120 KB of each page. With them, and with its icon
    fonts cut to the icons in use, Lighthouse (mobile) gives 93 to 97 for performance."""
    weights = {path.name: weight(site, path, soup) for path, soup in pages.items()}
    assert max(weights.values()) <= 200_000, weights


def test_every_page_is_described_and_on_the_site_map(site, pages):
    listed = re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text("utf8"))
    for path in (path for path in pages if path.parent.name in ("book", "notebooks")):
        assert len(pages[path].select_one('meta[name="description"]')["content"]) > 10, path.name
        assert any(address.endswith(f"/{path.parent.name}/{path.name}") for address in listed), (
            path.name
        )


def test_there_is_a_page_for_what_is_missing(pages, site):
    links = [link["href"] for link in pages[site / "404.html"].select("a")]
    assert any("book/index.html" in link for link in links) and any(
        "book/errors.html" in link for link in links
    )
    assert pages[site / "search.html"].select_one(".pointer a")["href"] == "book/errors.html"


def test_no_page_is_empty(site, pages):
    assert not (site / "genindex.html").exists()
    assert not [
        path.name
        for path, soup in pages.items()
        if path.parent.name in ("book", "notebooks") and len(soup.article.text) < 200
    ]


def test_the_strip_below_the_card_has_a_mark_for_each_run(page):
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
    assert (
        page.select_one("table.strip")
        .find_next(class_="legend")
        .text.endswith("GPU: NVIDIA X, driver 580.1")
    )
    assert page.select_one(".case-card").find_next("table")["class"] == ["strip"]


def test_below_the_strip_stands_what_was_said_and_where_the_release_is(site, pages, page):
    fold = page.select_one("table.strip").find_next("details")
    assert [line.text for line in fold.select("dt, dd")] == [
        "2.4.6 (2026-05-01)",
        "\u2717 as of release: reproduced \u00b7 ZeroDivisionError: <b>division by zero",
        "\u2713 today: not reproduced",
        "! as of release, on a GPU: failed differently \u00b7 killed by SIGSEGV",
        "2.10.0 (2026-09-01)",
        "\u2013 cannot be installed \u00b7 Python 3.12: no wheel",
    ]
    assert (
        page.select_one("table.strip td")["title"]
        == "2.4.6: reproduced \u00b7 ZeroDivisionError: <b>division by zero"
    )
    assert fold.a["href"] == "../book/versions.html#numpy-2-4-6"
    assert pages[site / "book/versions.html"].select_one("tr#numpy-2-4-6 th").text == "2.4.6"


def test_the_page_versions_has_a_line_for_each_release_newest_first(site, pages):
    rows = pages[site / "book/versions.html"].select("#of-numpy table.versions tr")
    assert [[cell.get_text(strip=True) for cell in row.find_all(["th", "td"])] for row in rows] == [
        ["Release", "98", "Day", "Python", "NumPy"],
        ["2.10.0", "\u2013", "2026-09-01", "\u2013", "\u2013"],
        ["2.4.6", "\u2717\u2713!", "2026-05-01", "3.12", "2.4.6"],
    ]
    assert [[mark.text for mark in box] for box in rows[2].select(".cpu, .gpu")] == [
        ["\u2717", "\u2713"],
        ["!"],
    ]


def test_every_run_stands_in_a_file(site, pages):
    rows = list(csv.DictReader((site / "_static/versions.csv").read_text("utf8").splitlines()))
    assert (
        pages[site / "book/versions.html"].select_one("a[download]")["href"]
        == "../_static/versions.csv"
    )
    sample = [row for row in rows if row["case"] == "98-sample"]
    assert len(rows) == sum(1 for chapter in load() for _ in evidence.rows(chapter)) + len(sample)
    assert [(row["release"], row["as_of"], row["level"], row["outcome"]) for row in sample] == [
        ("2.4.6", "release", "cpu", "reproduced"),
        ("2.4.6", "release", "gpu", "failed differently"),
        ("2.4.6", "today", "cpu", "not reproduced"),
        ("2.10.0", "today", "cpu", "cannot be installed"),
    ]
    assert sample[0]["closure"] == "numpy==2.4.6 six==1.17.0"

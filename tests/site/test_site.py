"""The built site: complete, and as the notebooks are. No browser; the build executes nothing."""

import csv
import functools
import gzip
import json
import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from helpers import ROOT
from sample import ADDED, MARKED, SAMPLE

from casebook.cells.header import read
from casebook.chapters import Chapter, evidence, load, receipts
from casebook.chapters.questions import ASK
from casebook.errors import EnvironmentFailure
from casebook.execution.script import check, run

SHOWN = yaml.safe_load((ADDED.parent / "shown.yml").read_text("utf8"))


@pytest.fixture(scope="session")
def soup(texts):
    """A page, parsed: `soup("book/index")`."""
    return functools.cache(lambda name: BeautifulSoup(texts[f"{name}.html"], "html.parser"))


@pytest.fixture(scope="session")
def page(soup):
    return soup(SAMPLE)


def notebooks(texts):
    return {Path(name).name for name in texts if re.match(r"notebooks/\d", name)}


def test_no_page_names_a_path_of_this_machine(site, texts):
    # The Dockerfile's user is called reader; /home/*/class is what a hub's administrator types.
    ours = re.compile(
        rf"/(?:home|root|Users)/(?!reader/|\*/class)\S+|{re.escape(str(ROOT))}|{site.parent.parent}"
    )
    assert not [
        f"{name}: {found[0]}" for name, text in texts.items() if (found := ours.search(text))
    ]


@pytest.mark.parametrize("selector", SHOWN)
def test_the_sample_shows(page, selector):
    assert [part.get_text(" ", strip=True) for part in page.select(selector)] == SHOWN[selector]


def test_bodies_are_highlighted_as_python(page):
    for number, keyword in {1: "for", 2: "def", 3: "while"}.items():
        assert keyword in [span.text for span in page.select(f"#cell-{number} pre span.k")]


def test_header_is_complete_and_lines_are_numbered_as_in_the_traceback(page):
    source = Chapter(ADDED / f"{SAMPLE}.ipynb").cells[0].source
    pre = page.select_one("#cell-1 details.bar + div pre")
    header, body = pre.select_one(".header").text, pre.select_one(".body")
    assert header == source[: source.index("import numpy")]
    assert pre.text.rstrip() == source
    first = int(re.search(r"counter-reset: line (\d+)", body["style"])[1]) + 1
    line = body.select(".line")[12 - first]  # the traceback says line 12
    assert line.text.strip() == "print(n / 0)"


def test_every_cell_links_to_itself(page):
    cells = page.select("div.cell[id]")
    assert len(cells) == 9
    assert all(cell.select_one("a.permalink")["href"] == f"#{cell['id']}" for cell in cells)


def test_outputs_look_as_they_are(page):
    """Columns do not wrap, messages do; plots are described, those for white paper keep it."""
    assert page.select_one("#cell-8 .columns pre") and not page.select_one("#cell-6 .columns")
    assert page.select_one("#cell-5 a.plot:not(.paper) img")["alt"] == "No. The plot shows words."
    assert page.select_one("#cell-9 a.plot.paper")


def test_questions_are_shown_without_markup(texts):
    """Every question of a chapter stands in front of its cell, and no asterisk around it."""
    asked = re.compile(r"<p><strong>Before you run it:</strong> (.+)</p>")
    for book in load():
        shown = asked.findall(texts[f"notebooks/{book.name}.html"])
        assert len(shown) == sum(cell.source.count(ASK) for cell in book.notebook.cells)
        assert not [one for one in shown if "*" in re.sub("<code.*?</code>", "", one)]


def test_no_page_shows_a_table_as_raw_pipes(texts):
    rows = re.compile(r"(?m)^(?:<\w+[^>]*>)?\s*\|.*\|.*\|\s*(?:</p>)?$")
    shown = {name: re.sub("(?s)<pre>.*?</pre>", "", text) for name, text in texts.items()}
    assert not [f"{name}: {row[0]}" for name, text in shown.items() if (row := rows.search(text))]


def test_receipt_is_shown(soup):
    foot = soup(MARKED).select_one(".receipt.stale").text
    (book,) = load(["04"])
    receipt, gpu_cells = book.receipt, sum(cell.needs_gpu for cell in book.cells)
    confirmed = "Also on NVIDIA H100", f"6 of {gpu_cells} GPU cells ended as expected"
    run = "NVIDIA H200", receipt["driver"], receipt["date"], "Something was edited"
    assert all(word in foot for word in (*run, *confirmed))
    assert "None. The outputs of this chapter" in soup(SAMPLE).select_one(".receipt.none").text


def test_first_page_has_each_chapter(soup, texts):
    index = soup("book/index")
    listed = [Path(link["href"]).name for link in index.select(".fault:not(.other) .see a")]
    assert set(listed) == notebooks(texts) and len(listed) == len(set(listed))
    card = next(one for one in index.select("ul.cases > li") if "A division breaks" in one.text)
    assert {"about-numba", "kind-crash", "kind-slow"} <= {*card["class"]}
    assert (card.select_one(".see a").text, card.select_one(".do code").text) == (
        "A division breaks",
        "max(d, 1)",
    )


def test_first_page_begins_with_the_box(soup):
    section = soup("book/index").select_one("article").section
    parts = section.find_all(recursive=False)
    assert [part.name for part in parts][:3] == ["h1", "p", "form"]
    assert section.p.text.count(". ") == 0 and section.form["class"] == ["lookup"]


def test_pages_have_colours_without_a_script_and_none_is_drawn_by_one(site, texts):
    assert [name for name in texts if 'data-theme="light"' not in texts[name]] == ["index.html"]
    assert not [name for name, text in texts.items() if "fontawesome.js" in text]
    assert not list(site.rglob("fontawesome.js*"))


@pytest.mark.parametrize("name", ["index", "authoring"])
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
    assert {Path(case["href"]).name for case in book["cases"]} == notebooks(texts)
    for name in ("book/index", "book/errors"):
        scripts = re.findall(r'src="[^"]*/(match|cases|errors)\.js', texts[f"{name}.html"])
        assert scripts == ["match", "cases", "errors"]


def test_status_has_a_row_for_each_chapter(soup):
    lines = soup("book/status").select("table.status tbody tr")
    rows = [[cell.text for cell in row.select("td")] for row in lines]
    for row, chapter in zip(rows, load(), strict=False):
        stale = any(receipts.receipt_problems(chapter))
        assert (row[0][:2], row[5]) == (chapter.name[:2], "stale" if stale else "holds")
    assert [row[5] for row in rows[-2:]] == ["stale", "none"]
    assert rows[-1][1:5] == ["never", "", "7", "2"]
    assert "6" in rows[-2][6:]


def test_status_shows_what_was_hunted(soup):
    page = soup("book/status")
    rows = [[cell.text for cell in row("td")] for row in page.select("table.hunts tbody tr")]
    for about, programs, *_ in rows:
        assert "==" in about and int(programs.replace(",", "")) >= 2_000
    targets = {about.partition(": ")[0] for about, *_ in rows}
    drawn = {figure.text.partition(": ")[0] for figure in page.select("figure.hunt:has(title)")}
    assert {"fuse", "functions", "views"} <= drawn <= targets and "kernels" in targets


def test_cells_offer_their_file(page, site):
    file = page.select_one("#cell-1 .export a[download]")["href"]
    assert page.select_one("#cell-1 .export button")["data-file"] == file
    offered = (site / "notebooks" / file).read_text("utf8")
    assert offered.startswith("# From 98-sample.ipynb, cell [1]") and "print(n / 0)" in offered


def test_pages_are_light(site, texts):
    """Bytes of HTML, style sheets and scripts, compressed as a server sends them; plots are images
    and not counted. The theme's are 120 KB of each page. With them, and with its icon fonts cut to
    the icons in use, Lighthouse (mobile) gives 93 to 97 for performance."""
    for name in (name for name in texts if name.startswith("notebooks/0")):
        tags = "".join(re.findall(r"<script[^>]*>|<link[^>]*stylesheet[^>]*>", texts[name]))
        links = re.findall(r'(?:src|href)="\.\./([^"?]+)', tags)
        html = re.sub(r"(?s)<svg.*?</svg>", "", texts[name]).encode()
        loaded = [html, *((site / link).read_bytes() for link in links)]
        assert len(links) > 10 and sum(len(gzip.compress(one)) for one in loaded) <= 200_000, name


def test_every_page_is_described_and_on_the_site_map(site, texts):
    listed = re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text("utf8"))
    for name in texts.keys() - {"index.html", "search.html", "404.html"}:
        assert re.search('<meta name="description" content="[^"]{10,}"', texts[name]), name
        url = re.search('<meta property="og:url" content="([^"]+)"', texts[name])[1]
        assert url in listed and url.endswith(f"/{name}"), name
    assert not [address for address in listed if "404" in address or "search" in address]


def test_there_is_a_page_for_what_is_missing(soup):
    links = [link["href"] for link in soup("404").select("article a")]
    assert any("book/index.html" in link for link in links)
    assert any("book/errors.html" in link for link in links)
    assert soup("search").select_one(".pointer a")["href"] == "book/errors.html"


def test_the_page_versions_has_a_line_for_each_release_newest_first(page, soup):
    rows = soup("book/versions").select("#of-numpy tr")
    assert [row.get_text(" ", strip=True) for row in rows] == [
        "Release 98 Day Python NumPy",
        "2.10.0 – 2026-09-01 – –",
        "2.4.6 ✗ ✓ ! 2026-05-01 3.12 2.4.6",
    ]
    link = page.select_one("#how-we-know dt a")["href"]
    assert link == f"../book/versions.html#{rows[2]['id']}"


def test_every_run_stands_in_a_file(site, soup):
    rows = list(csv.DictReader((site / "_static/versions.csv").read_text("utf8").splitlines()))
    assert soup("book/versions").select_one("a[download]")["href"] == "../_static/versions.csv"
    gpus = list(csv.DictReader((site / "_static/gpus.csv").read_text("utf8").splitlines()))
    ran = [row["gpu"][:11] for row in gpus if row["case"] == Path(MARKED).name]
    assert ran == ["NVIDIA H200", "NVIDIA H100"]
    book = [row for row in rows if f"notebooks/{row['case']}" not in (MARKED, SAMPLE)]
    assert len(book) == sum(1 for chapter in load() for _ in evidence.rows(chapter))
    (row,) = (row for row in rows if row["line"].endswith("<b>division by zero"))
    assert (row["release"], row["as_of"], row["level"]) == ("2.4.6", "release", "cpu")
    assert row["closure"] == "numpy==2.4.6 six==1.17.0"

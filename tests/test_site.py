"""The built site: complete, self-contained, and saying what the notebooks say. Without a browser; the build executes nothing."""
import gzip
import json
import re
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml
from helpers import ROOT
from nbformat.v4 import new_notebook, writes
from PIL import Image
from sample import FAILING, SAMPLE, UNRELATED, build, copy

from casebook.chapters import MACHINE_PATH, RECEIPT_KEYS, Chapter, load, receipt_problems
from casebook.errors import EnvironmentFailure
from casebook.header import read
from casebook.run import check, run


@pytest.fixture(scope="session")
def page(site, pages):
    return pages[site / f"{SAMPLE}.html"]


def test_every_chapter_is_in_the_table_of_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    listed = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"] if chapter["file"].startswith("notebooks/")]
    assert listed == [f"notebooks/{path.stem}" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]


def local(site, page, link):
    """The file that a link leads to, or None where it leads outside."""
    if urlsplit(link).scheme or link.startswith("//"):
        return None
    path = unquote(urlsplit(link).path)
    root = re.match(r"/[^/]+/", path)           # the 404 page names the site's root, /name/
    return (site / path[root.end():] if root else page.parent / path).resolve() if path else page


def test_links_and_anchors_resolve(site, pages):
    broken = []
    for path, soup in pages.items():
        for tag in soup.find_all(["a", "link", "img", "script"]):
            link = tag.get("href") or tag.get("src")
            target = link and local(site, path, link)
            anchor = link and unquote(urldefrag(link).fragment)
            if target and not target.exists():
                broken.append(f"{path.name}: {link}")
            elif target in pages and anchor and not pages[target].find(id=anchor):
                broken.append(f"{path.name}: {link} (no such anchor)")
    assert not broken


def test_nothing_is_loaded_from_elsewhere(site, pages):
    outside = [f"{path.name}: {tag}" for path, soup in pages.items() for tag in soup.find_all(["script", "img", "iframe", "link", "source"])
               if (tag.name != "link" or tag.get("rel") != ["canonical"])
               and re.match(r"(https?:)?//", tag.get("src") or tag.get("href") or "")]
    assert not outside


def test_style_sheets_load_only_what_is_there(site, pages):
    sheets = {path: path.read_text("utf8") for path in site.rglob("*.css")}
    sheets |= {path: "\n".join(map(str, soup.find_all("style"))) for path, soup in pages.items()}
    bad = []
    for path, text in sheets.items():
        for url in re.findall(r"""url\(["']?(?!data:)([^"')]+)""", text) + re.findall(r"""@import\s+["']([^"']+)""", text):
            target = local(site, path, url)
            if not target or not target.exists():
                bad.append(f"{path.name}: {url}")
    assert not bad


def test_no_page_names_a_path_of_this_machine(site, pages):
    text = {path.name: path.read_text("utf8") for path in pages}
    assert not [f"{name}: {found[0]}" for name, page in text.items() if (found := MACHINE_PATH.search(page))]
    assert not [name for name, page in text.items() if str(ROOT) in page or str(site.parent.parent) in page]


@pytest.mark.parametrize(("number", "keyword"), [(1, "for"), (2, "def"), (3, "while")])
def test_bodies_are_highlighted_as_python(page, number, keyword):
    assert keyword in [span.text for span in page.select(f"#cell-{number} pre span.k")]


def test_header_is_folded_and_complete(page):
    cell = page.select_one("#cell-1")
    assert "open" not in cell.select_one("details.bar").attrs
    assert cell.select_one("details.bar + div pre .header").text == FAILING[:FAILING.index("import numpy")]
    assert cell.select_one(".cell_input pre").text.rstrip() == FAILING


def test_line_names_what_matters(page):
    assert page.select_one("#cell-1 .facts").text == "numba 0.65.1 · Python 3.11–3.13 · GPU"
    assert page.select_one("#cell-1 .must").text == "must raise ZeroDivisionError"
    assert page.select_one("#cell-2 .must").text == "must exit with 0"


def test_failing_and_running_cells_are_labelled(page):
    assert [cell.select_one(".verdict").text for cell in page.select(".cell.fails")] == ["Fails"]
    assert [cell.select_one(".verdict").text for cell in page.select(".cell.runs")] == ["Runs"]


def test_solution_is_closed(page):
    fold = page.select_one("#cell-4 > details.fold")
    assert fold.summary.text == "Solution" and "open" not in fold.attrs and "answer = 42" in fold.text


def test_long_output_is_closed(page):
    fold = page.select_one("#cell-3 > details.fold")
    assert fold.summary.text == "Output, 50 lines" and "a line" in fold.text and not page.select_one("#cell-1 > details.fold")


def test_chapter_without_receipt_says_so(page):
    assert "None. The outputs of this chapter" in page.select_one(".receipt").text


def test_receipt_is_shown(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "book/_ext")
    from bookext.receipt import markup
    from bookext.status import standing
    path = tmp_path / "chapter.ipynb"
    path.write_text(writes(new_notebook()))
    chapter = Chapter(path)
    chapter.notebook.metadata["casebook"] = dict.fromkeys(RECEIPT_KEYS, "") | {
        "gpu": "NVIDIA H200", "driver": "580.1", "date": "2026-11-20", "seconds": 99, "environment": chapter.environment(), "cells": {}}
    assert standing(chapter) == "holds"
    assert all(word in markup(chapter) for word in ("NVIDIA H200", "580.1", "2026-11-20", "99 s", "Every output above"))
    chapter.notebook.metadata["casebook"]["cells"] = {"gone": "1 2"}
    assert "Something was edited" in markup(chapter)
    assert standing(chapter) == "stale"


def test_receipts_of_the_chapters_are_shown(site, pages):
    for chapter in load():
        foot = pages[site / f"notebooks/{chapter.name}.html"].select_one(".receipt").text
        assert (chapter.receipt or {"date": "None."})["date"] in foot


def test_first_page_has_a_card_for_each_chapter(site, pages):
    cards = pages[site / "book/index.html"].select("ul.cases > li")
    assert len(cards) == len(list((ROOT / "notebooks").glob("*.ipynb"))) + 1
    assert "Case 98" in cards[-1].text and "Something breaks" in cards[-1].text and cards[-1].dd.code.text.startswith("ZeroDivisionError")


def test_case_card_has_row_headings_and_no_empty_ones(page):
    card = page.select_one("table.case-card")
    assert len(card.select("th")) == 6 and all(th.text.strip() for th in card.select("th"))


def test_pages_have_colours_without_a_script(pages):
    assert all(html["data-theme"] == "light" for soup in pages.values() for html in soup.select("html[data-content_root]"))


def test_fontawesome_script_is_gone(site, pages):
    assert not [path.name for path, soup in pages.items() if "fontawesome.js" in str(soup)]
    assert not list(site.rglob("fontawesome.js*"))


@pytest.mark.parametrize("name", ["index", "contributing"])
def test_example_on_a_page_does_what_it_says(name):
    source = re.search(r"```\{example-cell\}\n%%pinned\n(.*?)```", (ROOT / f"book/{name}.md").read_text(), re.DOTALL)[1]
    header = read(source)
    try:
        outcome = run(source, header, lambda text: None)
    except EnvironmentFailure as error:
        pytest.skip(str(error))
    check(header, outcome)
    shown = re.search(r"```text\n(\[255.*?)```", (ROOT / "book/index.md").read_text(), re.DOTALL)[1]
    assert name != "index" or outcome.output + outcome.words + "\n" == shown


def test_broken_links_fail_the_build(tmp_path):
    folder = copy(tmp_path)
    with (folder / "book/run.md").open("a") as page:
        page.write("\n[lost](lost-page.md) [lost](contributing.md#lost-anchor) {doc}`lost-document`\n")
    built = build(folder)
    assert built.returncode != 0
    assert all(re.search(rf"run\.md.*{lost}", built.stdout) for lost in ("lost-page", "lost-anchor", "lost-document"))


def patterns(pages, site):
    """The patterns of the error index, by the number of their case."""
    page = pages[site / "book/errors.html"]
    return [(page.find(id=name).find_parent("section")["id"].removeprefix("case-"), re.compile(pattern, re.MULTILINE | re.DOTALL))
            for name, pattern in json.loads(page.find(id="patterns").text).items()]


def failures():
    """Every cell of the book that must fail, as (number of the case, Cell)."""
    return [(chapter.name[:2], cell) for chapter in load() for cell in chapter.cells
            if cell.header and (cell.header.raises or cell.header.signal)]


def test_stored_tracebacks_find_their_case_and_no_other(site, pages):
    index = patterns(pages, site)
    for number, cell in failures():
        assert {case for case, pattern in index if pattern.search(cell.text.strip())} == {number}, f"case {number}, cell {cell.number}"


@pytest.mark.parametrize("text", UNRELATED)
def test_unrelated_tracebacks_find_nothing(site, pages, text):
    assert not [case for case, pattern in patterns(pages, site) if pattern.search(text)]


@pytest.mark.parametrize("text", [
    "Signature mismatch: 1 argument types given, but function takes 2 arguments",
    'File "/x/site-packages/numba/cuda/dispatcher.py", line 9, in f\n'
    'TypeError: Signature mismatch: 1 argument types given, but function takes 2 arguments',
    ">>> k[1, 1](x)\n  numba.core.errors.LoweringError: Failed in cuda mode pipeline (step: native lowering)\nNo definition for lowering "
    "(<class 'numba.cuda.types.GridGroup'>, 'sync')(GridGroup,) -> int32",
    "#3 0x00007f nanobind::detail::ndarray_export\nSegmentation fault (core dumped)",
])
def test_what_a_reader_pastes_finds_a_case(site, pages, text):
    assert len({case for case, pattern in patterns(pages, site) if pattern.search(text)}) == 1


def test_error_index_has_every_message(site, pages):
    listed = [code.text for code in pages[site / "book/errors.html"].select("ul.messages code")]
    for chapter in load():
        for message in re.findall(r"`(.+?)`", chapter.card["You see"]):
            assert any(message in text for text in listed), message
    for number, cell in failures():
        assert any(text.startswith(f"{cell.header.raises or 'killed by ' + cell.header.signal}") for text in listed), (number, cell.number)
    assert "ZeroDivisionError: division by zero" in listed


def test_status_has_a_row_for_each_chapter(site, pages):
    rows = [[cell.text for cell in row.select("td")] for row in pages[site / "book/status.html"].select("table.status tbody tr")]
    assert [row[0][:2] for row in rows] == [*(chapter.name[:2] for chapter in load()), "98"]
    assert rows[-1][1:] == ["never", "", "", "3 CPU, 2 GPU", "none"]
    for chapter, row in zip(load(), rows, strict=False):
        assert row[5] == ("none" if not chapter.receipt else "stale" if any(receipt_problems(chapter)) else "holds")


def test_cells_offer_their_file(page, site, pages):
    offered = page.select_one("#cell-1 .export template").text
    assert offered.startswith("# From the GPU Python Casebook, 98-sample, cell [1].") and "print(n / 0)" in offered
    assert not page.select_one("#cell-3 .export")
    for chapter in load():
        for cell in chapter.cells:
            button = pages[site / f"notebooks/{chapter.name}.html"].select_one(f"#cell-{cell.number} .export")
            assert bool(button) == (cell.pinned and not cell.header.build), (chapter.name, cell.number)


def weight(path, soup):
    """Bytes of a page's HTML, style sheets and scripts, each compressed as a server sends it; plots are images and not counted."""
    loaded = [tag.get("src") or tag.get("href") for tag in soup.select("script[src], link[rel=stylesheet]")]
    html = re.sub(r"(?s)<svg.*?</svg>", "", path.read_text("utf8"))
    texts = [html.encode(), *((path.parent / urlsplit(link).path).read_bytes() for link in loaded)]
    return sum(len(gzip.compress(text)) for text in texts)


def test_chapters_are_light(site, pages):
    weights = {path.name: weight(path, soup) for path, soup in pages.items() if path.parent.name == "notebooks"}
    assert max(weights.values()) <= 150_000, weights


def test_every_page_is_described_and_on_the_site_map(site, pages):
    listed = (site / "sitemap.txt").read_text().split()
    for path in (path for path in pages if path.parent.name in ("book", "notebooks")):
        assert len(pages[path].select_one('meta[name="description"]')["content"]) > 10, path.name
        assert any(address.endswith(f"/{path.parent.name}/{path.name}") for address in listed), path.name


def test_every_page_has_a_social_card(site, pages):
    for path in (path for path in pages if path.parent.name in ("book", "notebooks")):
        address = pages[path].select_one('meta[property="og:image"]')["content"]
        with Image.open(site / "_static/cards" / address.rpartition("/")[2]) as card:
            assert card.size == (1200, 630), path.name
        assert pages[path].select_one('meta[property="og:url"]')["content"].endswith(f"/{path.parent.name}/{path.name}")


def test_there_is_a_page_for_what_is_missing(pages, site):
    assert "book/index.html" in pages[site / "404.html"].a["href"]

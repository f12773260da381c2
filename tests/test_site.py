"""The built site: complete, self-contained, and saying what the notebooks say. Without a browser; the build executes nothing."""
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup
from helpers import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, writes

from casebook.chapters import MACHINE_PATH, RECEIPT_KEYS, Chapter
from casebook.errors import EnvironmentFailure
from casebook.header import read
from casebook.run import check, run

SAMPLE = "notebooks/98-sample"
CARD = """# Something breaks

One sentence.

| | |
|---|---|
| **Libraries** | numpy |
| **Affected** | 2.4.6 |
| **Fixed in** | never |
| **You see** | `ZeroDivisionError: division by zero` |
| **Upstream** | [a thread](https://example.org/1) |
| **Needs** | no GPU |
"""
HEADER = """%%pinned
# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["numpy==2.4.6", "llvmlite==0.47.0", "numba==0.65.1"]
# [tool.casebook]
"""
FAILING = HEADER + "# gpu = true\n# raises = 'ZeroDivisionError'\n# ///\nimport numpy\n\nfor n in range(3):\n    print(n / 0)"
FIXED = HEADER + "# timeout = 60\n# ///\ndef half(n):\n    return n / 2"
KERNEL = "%%gpu\nfrom numba import cuda\nwhile True:\n    break"


def sample():
    """A chapter with a cell of each kind."""
    cells = [new_markdown_cell(CARD), new_code_cell(FAILING, outputs=[new_output("stream", text="exit status 1\n")]),
             new_code_cell(FIXED), new_code_cell(KERNEL),
             new_code_cell("answer = 42", metadata={"tags": ["solution"]}), new_code_cell("figure()", metadata={"tags": ["hide-input"]})]
    return new_notebook(cells=cells, metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                               "language_info": {"name": "python"}})


def copy(folder):
    """The sources of the site, with one more chapter."""
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    shutil.copy(ROOT / "_config.yml", folder)
    (folder / f"{SAMPLE}.ipynb").write_text(writes(sample()))
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    toc["parts"][0]["chapters"].append({"file": SAMPLE})
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    return folder


def build(folder):
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "--keep-going", "-n"]
    return subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Folder of the built site."""
    folder = copy(tmp_path_factory.mktemp("site"))
    built = build(folder)
    assert built.returncode == 0, "\n".join(line for line in built.stdout.splitlines() if "WARNING" in line or "ERROR" in line)
    return folder / "_build/html"


@pytest.fixture(scope="session")
def pages(site):
    """All pages, parsed, by their path."""
    return {path: BeautifulSoup(path.read_text("utf8"), "html.parser") for path in site.rglob("*.html")
            if not {"_static", "_templates"} & set(path.parts)}


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


def test_chapter_without_receipt_says_so(page):
    assert "None. The outputs of this chapter" in page.select_one(".receipt").text


def test_receipt_is_shown(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "book/_ext")
    from bookext.receipt import markup
    path = tmp_path / "chapter.ipynb"
    path.write_text(writes(new_notebook()))
    chapter = Chapter(path)
    chapter.notebook.metadata["casebook"] = dict.fromkeys(RECEIPT_KEYS, "") | {
        "gpu": "NVIDIA H200", "driver": "580.1", "date": "2026-11-20", "seconds": 99, "environment": chapter.environment(), "cells": {}}
    assert all(word in markup(chapter) for word in ("NVIDIA H200", "580.1", "2026-11-20", "99 s", "Every output above"))
    chapter.notebook.metadata["casebook"]["cells"] = {"gone": "1 2"}
    assert "Something was edited" in markup(chapter)


def test_receipts_of_the_chapters_are_shown(site, pages):
    for chapter in (Chapter(path) for path in (ROOT / "notebooks").glob("*.ipynb")):
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

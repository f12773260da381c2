"""The chapters as they are stored, and what the files of the book repeat from each other."""

import re
from pathlib import Path

import pytest
import yaml

from casebook import chapters
from casebook.authoring.checks import problems
from casebook.authoring.checks.prose import LINK, thread_problems
from casebook.cells import repository
from casebook.cells.repository import ROOT
from casebook.chapters.exercises import exercises
from casebook.cli import parser

BOOKS = chapters.load()
TEMPLATE = chapters.at(ROOT / "casebook/authoring/template.ipynb")
HEADINGS = [
    "If you have this now",
    "The symptom",
    "Without a GPU",
    "Why it happens",
    "The fix",
    "What it costs",
    "Still biting",
    "What the article said",
    "Exercises",
    "How we know",
    "References",
]
COSTS = {"What it costs"}  # a page may leave it out
SHORT = {*COSTS, "Still biting", "What the article said", "Exercises"}  # a short case, these too

each_chapter = pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
each_notebook = pytest.mark.parametrize("book", [*BOOKS, TEMPLATE], ids=lambda book: book.name)


def markdown(book):
    return "\n\n".join(cell.source for cell in book.notebook.cells if cell.cell_type == "markdown")


@each_chapter
def test_outputs_and_receipt_fit(book):
    if found := problems(book):
        pytest.fail("\n".join(found), pytrace=False)


@each_notebook
def test_form(book):
    """Chapters (01 to 09) have exercises and more sections than short cases need."""
    other = {"Exercise": "Exercises", "What the threads said": "What the article said"}
    found = [
        other.get(heading, heading) for heading in re.findall(r"(?m)^## (.+)$", markdown(book))
    ]
    short = book.name >= "10"
    left_out = SHORT if short else COSTS
    assert found == [name for name in HEADINGS if name in found or name not in left_out]
    cells = [cell for cell in book.cells if not cell.names_environments]
    assert not short or len(cells) <= 20, f"{len(cells)} code cells"
    assert short or exercises(book)


@each_notebook
def test_setup_cell_is_the_same_everywhere_and_names_the_address(book):
    setup = [cell for cell in book.cells if "setup" in cell.tags]
    assert [cell.number for cell in setup] == [1]
    assert setup[0].source == BOOKS[0].cells[0].source
    assert f'"casebook[gpu] @ git+{repository.ADDRESS}"' in setup[0].source


@each_notebook
def test_plain_markdown_only(book):
    assert not re.search(r"(?m)^(```\{|:::|\{[a-z]+\}`)", markdown(book))


@each_chapter
def test_equal_pins_share_one_environment(book):
    """The same pins with another requires-python would make the same environment twice."""
    ranges = {}
    for header in book.headers(gpu=True):
        ranges.setdefault(tuple(sorted(header.dependencies)), set()).add(header.requires_python)
    assert all(len(found) == 1 for found in ranges.values())


PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "book").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_threads_commands_and_counts_that_are_right(page):
    """A wrong one sends readers elsewhere, and nothing else would notice."""
    text = page.read_text("utf-8")
    for words, target in LINK.findall(text):
        assert not list(thread_problems(words, target))
    targets = re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text())
    commands = next(one for one in parser()._actions if one.choices).choices
    for code in re.findall(r"(?s)```.*?```|`[^`]+`|(?m:^    .*$)", re.sub(r" # .*", "", text)):
        named = {*re.findall(r"\bmake ([a-z]+)", code)} - {*targets}
        named |= {*re.findall(r"(?:`|bin/)casebook ([a-z]+)\b", code)} - {*commands}
        assert not named, f"{code}: no such target or command"
    for count in re.findall(r"(\d+) cases", text):
        assert int(count) == len(BOOKS), f"there are {len(BOOKS)} cases, not {count}"


def test_table_of_contents_lists_every_chapter_under_its_kind():
    allowed = {
        "It does not install, import or compile": {"does not start"},
        "An error where the code looks right": {"crash", "does not start"},
        "Crashes, hangs and full memory": {"crash", "hang"},
        "Wrong numbers: CuPy": {"wrong numbers"},
        "Wrong numbers: Numba, CUDA Python, Warp": {"wrong numbers"},
        "Slow, or timed wrongly": {"slow"},
    }
    captions = {
        Path(page["file"]).name: part["caption"]
        for part in yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
        for page in part["chapters"]
        if page["file"].startswith("notebooks/")
    }
    assert sorted(captions) == [book.name for book in BOOKS]
    assert not [
        book.name for book in BOOKS if not allowed[captions[book.name]] & {*book.facts.kind}
    ]

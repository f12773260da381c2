"""The chapters as they are stored, and what the files of the book repeat from each other."""

import re

import pytest

from casebook import chapters
from casebook.authoring.checks import problems
from casebook.authoring.checks.form import form_problems
from casebook.authoring.checks.prose import LINK, thread_problems
from casebook.cells.repository import ADDRESS, ROOT
from casebook.cli import parser

BOOKS = chapters.load()
TEMPLATE = chapters.at(ROOT / "casebook/authoring/template.ipynb")
each_chapter = pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)


@each_chapter
def test_outputs_and_receipt_fit(book):
    if found := problems(book):
        pytest.fail("\n".join(found), pytrace=False)


def test_the_setup_cell_is_the_same_everywhere_and_names_the_address():
    (setup,) = {book.cells[0].source for book in [*BOOKS, TEMPLATE]}
    assert f'"casebook[gpu] @ git+{ADDRESS}"' in setup


def test_the_template_has_the_form_of_a_chapter():
    assert not list(form_problems(TEMPLATE))


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

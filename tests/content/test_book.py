"""The chapters as they are stored, and what the files of the book repeat from each other."""

import re
import shlex

import pytest

from casebook import chapters
from casebook.authoring.checks import problems
from casebook.authoring.checks.form import form_problems
from casebook.authoring.checks.prose import LINK, thread_problems
from casebook.authoring.contents import differences
from casebook.cells.repository import ADDRESS, ROOT
from casebook.chapters.exercises import exercises
from casebook.cli import COMMANDS, parser

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


def test_every_long_chapter_has_an_exercise():
    assert all(exercises(book) for book in BOOKS if book.long)


def test_table_of_contents_lists_every_chapter_under_its_kind():
    assert not [*differences(BOOKS)]


def understood(line):
    """Whether the words behind `casebook` are a command that it takes, about cells that exist."""
    if line.strip() in {command.name for command in COMMANDS}:
        return True
    try:
        arguments = parser().parse_args(shlex.split(line.rstrip(" \\"), comments=True))
    except SystemExit:
        return False
    name, number = getattr(arguments, "name", ""), getattr(arguments, "number", 0)
    books = [book for book in BOOKS if number and book.name.startswith(name)]
    return all(number <= len(book.cells) for book in books)


OTHER_FILES = {  # the reader has them
    "probe.py",
    "program.py",
    "report.py",
    "doctor.py",
    "mine.py",
    "watch.py",
    "my_kernel.py",
}
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "book").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_threads_commands_and_counts_that_are_right(page):
    """A wrong one sends readers elsewhere, and nothing else would notice."""
    text = page.read_text("utf-8")
    for words, target in LINK.findall(text):
        assert not list(thread_problems(words, target))
    for path in re.findall(r"\bpython (\w[\w/.-]+\.py)\b|/(notebooks/[\w.-]+\.ipynb)", text):
        assert (ROOT / "".join(path)).exists() or "".join(path) in OTHER_FILES, path
    targets = re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text())
    for code in re.findall(r"(?s)```.*?```|`[^`]+`|(?m:^    .*$)", re.sub(r"\s+# .*", "", text)):
        named = {*re.findall(r"\bmake ([a-z]+)", code)} - {*targets}
        assert not named, f"{code}: no such target"
        for line in re.findall(r"(?m)(?:^`?|bin/|-m )casebook ([a-z][^`\n|>]*)", code):
            assert understood(line), f"casebook {line}: no such command or argument"
    for count in re.findall(r"(\d+) cases", text):
        assert int(count) == len(BOOKS), f"there are {len(BOOKS)} cases, not {count}"

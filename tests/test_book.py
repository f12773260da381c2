"""The chapters as they are stored, and what the files of the book repeat from each other."""
import re

import pytest

from casebook import chapters
from casebook.chapters import ROOT

BOOKS = chapters.load()
HEADINGS = ["The symptom", "Without a GPU", "Why it happens", "The fix", "What it costs", "Still biting", "What the article said",
            "Exercises", "References"]

each_chapter = pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)


def markdown(book):
    return "\n\n".join(cell.source for cell in book.notebook.cells if cell.cell_type == "markdown")


@each_chapter
def test_outputs_and_receipt_fit(book):
    assert chapters.problems(book) == []


@each_chapter
def test_sections(book):
    assert re.findall(r"(?m)^## (.+)$", markdown(book)) == HEADINGS


@each_chapter
def test_setup_cell_is_the_same_everywhere_and_names_the_address(book):
    setup = [cell for cell in book.cells if "setup" in cell.tags]
    assert [cell.number for cell in setup] == [1]
    assert setup[0].source == BOOKS[0].cells[0].source
    assert f'"casebook[gpu] @ git+{chapters.address()}"' in setup[0].source


@each_chapter
def test_card_counts_the_gpu_cells(book):
    found = re.search(r"a GPU for (\d+) of (\d+) cells", book.card["Needs"])
    assert found and [int(n) for n in found.groups()] == [sum(cell.needs_gpu for cell in book.cells), len(book.cells)]


@each_chapter
def test_plain_markdown_only(book):
    assert not re.search(r"(?m)^(```\{|:::|\{[a-z]+\}`)", markdown(book))


@each_chapter
def test_exercises_are_unsolved_and_solutions_pass(book):
    exercises = len(re.findall(r"(?m)^\*\*\d+\. ", markdown(book).split("## Exercises")[1]))
    solutions = [cell for cell in book.cells if "solution" in cell.tags]
    assert len(solutions) >= exercises >= 3
    assert all("Correct" in cell.text and "Not yet" not in cell.text for cell in solutions)
    assert sum("Not yet" in cell.text for cell in book.cells) == exercises


@each_chapter
def test_equal_pins_share_one_environment(book):
    """Headers with the same pins but another requires-python would make the same environment twice."""
    ranges = {}
    for header in book.headers(gpu=True):
        ranges.setdefault(tuple(sorted(header.dependencies)), set()).add(header.requires_python)
    assert all(len(found) == 1 for found in ranges.values())


def test_table_of_contents_lists_every_chapter():
    listed = re.findall(r"file: (notebooks/\S+)", (ROOT / "_toc.yml").read_text())
    assert listed == [f"notebooks/{book.name}" for book in BOOKS]


def test_gpu_extra_has_the_pins_of_requirements():
    pinned = set(re.findall(r"(?m)^([\w.-]+==[\w.]+)", (ROOT / "requirements.txt").read_text()))
    assert pinned.issuperset(chapters.gpu_pins())


def test_requirements_name_no_host():
    assert "://" not in (ROOT / "requirements.txt").read_text()


def test_requirements_are_locked_from_requirements_in():
    locked = dict(re.findall(r"(?m)^([\w.-]+)==([\w.]+)", (ROOT / "requirements.txt").read_text()))
    for line in re.findall(r"(?m)^([\w-]+)==([\w.]+)", (ROOT / "requirements.in").read_text()):
        assert locked[line[0]].startswith(line[1].removesuffix("."))

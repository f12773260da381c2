"""The copies for a class: all that can be run, no result, and nobody's work overwritten."""

import base64
import copy
import functools
import re
import zlib
from dataclasses import replace

import nbformat
import pytest

from casebook import chapters
from casebook.__main__ import main
from casebook.authoring.checks.give_aways import give_away_problems
from casebook.cells.class_cell import for_class
from casebook.chapters import Chapter
from casebook.chapters.class_copy import GUESS, asked, unsolved
from casebook.chapters.exercises import exercises
from casebook.chapters.questions import ASK, QUESTION
from casebook.errors import CasebookError
from casebook.execution.replay import framed, same
from casebook.teaching.workshop import write

BOOKS = chapters.load()
each_chapter = pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)


@functools.cache
def copied(book):
    return unsolved(book.notebook)


def code(cell):
    return cell.cell_type == "code"


def texts(notebook):
    return [cell.source for cell in notebook.cells if not code(cell)]


@each_chapter
def test_a_copy_has_every_cell_but_solutions_and_no_output(book):
    cells = filter(code, copied(book).cells)
    given = [cell for cell in book.cells if "solution" not in cell.tags]
    for cell, original in zip(cells, given, strict=True):
        assert (cell.id, cell.metadata) == (original.node.id, original.node.metadata)
        assert (cell.outputs, cell.execution_count) == ([], None)
        source = original.source
        if "check" in cell.metadata.get("tags", []):
            assert "Correct" not in cell.source
            lead, _, encoded = cell.source.partition("import base64, zlib\n\nexec(")
            inner = base64.b64decode("".join(re.findall(r'    "(.*)"', encoded)))
            assert lead + zlib.decompress(inner).decode() == source
        else:
            first, *rest = cell.source.splitlines()
            ours = iter(source.splitlines()[1:])  # the copy has them in order, and leaves some out
            assert not [line for line in rest if line.strip() != "pass" and line not in ours]
            assert first == source.splitlines()[0] or "--match" not in first
        if original.header:
            named = replace(original, node=cell).header
            assert named == replace(original.header, match=None)
        if original.node.outputs and original.needs_gpu and not original.tags:
            assert framed(book.path, cell.source), cell.id  # the stored output is still found
    nbformat.validate(copied(book))
    assert "casebook" not in copied(book).metadata


@each_chapter
def test_the_text_of_a_copy_keeps_its_headings_and_no_verdict(book):
    text = "\n".join(texts(copied(book)))
    all_of_it = re.sub(r"(?s)```.*?```", "", "\n".join(texts(book.notebook)))
    headings = re.findall(r"(?m)^#+ .+", all_of_it)
    left_out = "## If you have this now", "## How we know", "## References"
    assert re.findall(r"(?m)^#+ .+", text) == [line for line in headings if line not in left_out]
    assert not re.search(r"(?m)^\|.*\| (true|partly|false|not testable)\b", text)
    assert not re.search(r"<!--|\n{3}| {2}\*\*Before|\.[A-Z]\w+ \w+ \w", text)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("Only the first compiles.", "below an output, and not marked"),
        ("<!-- next -->\nIt takes `1050 characters`.", "'1050 characters' is what a cell shows"),
        ("<!-- next -->\nIt takes 3,736 bytes.", "'3736' is what a cell shows"),
        ("<!-- next -->\nIt takes 4,711 bytes.", None),
    ],
)
def test_what_is_not_marked_is_found(source, found):
    """Each kind of give-away, put below a cell of a chapter whose copy has none."""
    book = copy.copy(BOOKS[0])
    book.notebook = copy.deepcopy(book.notebook)
    next(cell for cell in book.notebook.cells if cell.id == "b1de2c3b-1").source = source
    said = [line.partition("]: ")[2] for line in give_away_problems(book)]
    assert found in said if found else said == []


@each_chapter
def test_every_question_is_asked_once_and_in_front_of_its_cell(book):
    """No question ends a section, where no cell would follow that answers it."""
    questions = [question for text in texts(book.notebook) for question in QUESTION.findall(text)]
    cells = copied(book).cells
    for question in questions:
        (place,) = [number for number, cell in enumerate(cells) if question in cell.source]
        assert code(cells[place + 1]), question
        told = cells[place].source.partition(question)[2]
        assert told.startswith(f"\n\n{GUESS}") and "\n## " not in told, question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"<!-- result -->\nThe first. <!-- next -->The next cell counts.\n\n{ASK} Which?",
            f"The next cell counts.\n\n{ASK} Which?\n\n{GUESS}",
        ),
        (
            f"Look.\n\n{ASK} How many?\n\n<!-- result -->\nSeven.\n\n## Why\n\nSo.",
            f"Look.\n\n{ASK} How many?\n\n{GUESS}\n\n## Why\n\nSo.",
        ),
        (f"<!-- next -->\n{ASK} And then?", f"{ASK} And then?\n\n{GUESS}"),
        ("It is. <!-- result -->It does. <!-- next -->So.", "It is. So."),
        ("It is. <!-- result -->It does.\n\n## Why", "It is.\n\n## Why"),
        ("No mark at all.", "No mark at all."),
    ],
)
def test_a_copy_has_no_result_and_a_place_for_the_guess(text, expected):
    assert asked(text).strip() == expected


def test_the_chapters_in_memory_stay_as_they_are():
    for book in BOOKS:
        copied(book)
        assert book.notebook == Chapter(book.path).notebook, book.name


def test_a_second_call_changes_nothing_and_work_is_not_overwritten(tmp_path):
    first, second = write(BOOKS[:2], tmp_path)
    assert write(BOOKS[:2], tmp_path) == [first, second]
    first.write_text("my answers")
    second.unlink()
    with pytest.raises(CasebookError, match=f"{first.name} exists and differs from this copy"):
        write(BOOKS[:2], tmp_path)
    assert first.read_text() == "my answers"
    assert not second.exists()


def test_the_command(tmp_path, capsys):
    for names, books in ([], BOOKS), (["01", "18"], [chapters.load([n])[0] for n in ("01", "18")]):
        folder = tmp_path / str(len(names))
        assert main(["workshop", *names, "--into", str(folder)]) == 0
        said = capsys.readouterr().out
        assert said.startswith(f"{len(books)} notebooks without solutions")
        assert ("no exercise in" in said) == (not names)
        copies = [book.path.name for book in books]
        assert sorted(path.name for path in folder.iterdir()) == copies


def spaceless(text):
    return " ".join(text.split())


@each_chapter
def test_the_text_of_a_copy_has_no_solution(book):
    """Neither a mark that was lost nor the prose may tell all of a solution's own lines."""
    copy = unsolved(book.notebook)
    text = spaceless("\n".join(cell.source for cell in copy.cells if cell.cell_type == "markdown"))
    for one in exercises(book):
        given = spaceless("\n".join(cell.source for cell in one.exercise))
        for cell in one.solution:
            lines = [spaceless(line) for line in cell.body.splitlines()]
            own = [line for line in lines if len(line) > 14 and line not in given]
            own = [line for line in own if not line.startswith(("#", "import", "from", "print"))]
            told = [line for line in own if line in text]
            assert not told or len(told) < len(own), f"exercise {one.number}: {told}"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("print(x)\nassert x == 3", "print(x)"),
        ("print(x)\nassert np.all(x == (\n    1))\nassert len(x) > 2\n", "print(x)\n"),
        (
            "%%pinned a --raises B --match c\nprint(x)\n\nassert x",
            "%%pinned a --raises B\nprint(x)",
        ),
        # it would show nothing, show something else, or end otherwise
        ("assert x", None),
        ("assert x\nprint('it is so')", None),
        ("for x in y:\n    print(x)\n    assert x", None),
        ("def kernel(x):\n    assert x\nprint(kernel)", None),
        ("print(x)\nassert calls.shown() == 1", None),
        ("%%pinned a --raises AssertionError\nprint(x)\nassert x", None),
        ("x = 1; assert x; print(x)", None),
        ("def build():\n    return 1\nassert build() == 1\nprint(x)", None),
        ("assert (y := x)\nprint(y)", None),
        ("%pip install x\nprint(1", None),
    ],
)
def test_a_class_does_not_read_what_will_come_out(source, shown):
    assert for_class(source) == (source if shown is None else shown)
    assert for_class(for_class(source)) == for_class(source)


def test_a_copy_finds_the_stored_output_of_its_chapter():
    (book,) = chapters.load(["01"])
    cell = next(cell for cell in book.cells if cell.node.id == "e478c891-1")
    assert "assert" in cell.source and "assert" not in for_class(cell.source)
    assert same(cell.source, for_class(cell.source))

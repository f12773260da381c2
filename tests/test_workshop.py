"""The copies for a class: everything of a chapter but its solutions, outputs and receipt, and nobody's work overwritten."""
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from helpers import ROOT

from casebook import chapters
from casebook.chapters import Chapter
from casebook.errors import CasebookError
from casebook.workshop import write

BOOKS = chapters.load()


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    return write(BOOKS, tmp_path_factory.mktemp("workshop") / "copies")


def tagged(cell):
    return "solution" in cell.metadata.get("tags", [])


def test_nothing_is_lost_but_the_solutions(copies):
    for book, path in zip(BOOKS, copies, strict=True):
        kept = [(c.cell_type, c.id, c.source) for c in book.notebook.cells if not tagged(c)]
        assert [(c.cell_type, c.id, c.source) for c in Chapter(path).notebook.cells] == kept
    assert any(tagged(c) for book in BOOKS for c in book.notebook.cells)


def test_the_copies_are_valid_notebooks_without_outputs_and_receipts(copies):
    for path in copies:
        copy = Chapter(path)
        nbformat.validate(copy.notebook)
        assert copy.receipt is None
        assert [c.number for c in copy.cells if c.node.outputs or c.node.execution_count is not None] == []


def test_the_chapters_in_memory_stay_as_they_are(copies):
    for book in BOOKS:
        assert book.notebook == Chapter(book.path).notebook, book.name


def test_a_second_call_changes_nothing_and_work_is_not_overwritten(tmp_path):
    first, *others = write(BOOKS[:2], tmp_path)
    assert write(BOOKS[:2], tmp_path) == [first, *others]
    first.write_text("my answers")
    others[0].unlink()
    with pytest.raises(CasebookError, match=f"{first.name} exists and is not this copy"):
        write(BOOKS[:2], tmp_path)
    assert first.read_text() == "my answers"
    assert not others[0].exists()


def test_the_chapters_themselves_are_refused(tmp_path):
    chapter = Chapter(shutil.copy(BOOKS[0].path, tmp_path))
    with pytest.raises(CasebookError):
        write([chapter], tmp_path)
    assert chapter.path.read_bytes() == BOOKS[0].path.read_bytes()


def test_the_command(tmp_path):
    command = [sys.executable, "-m", "casebook", "workshop", "class"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == f"{len(BOOKS)} chapters without solutions and outputs: class\n"
    assert [p.name for p in sorted((tmp_path / "class").iterdir())] == [book.path.name for book in BOOKS]


def test_the_outline_fills_three_hours_with_every_long_chapter():
    """Short cases, numbered from 10 on, are no part of it."""
    text = (ROOT / "book/workshop.md").read_text()
    parts = [(int(hour) * 60 + int(minute), int(length)) for hour, minute, length in re.findall(r"(?m)^(\d):(\d\d), (\d+) minutes\.", text)]
    begins = [sum(length for _, length in parts[:n]) for n in range(len(parts) + 1)]
    assert [begin for begin, _ in parts] == begins[:-1]
    assert begins[-1] == 180
    assert re.findall(r"\(\.\./notebooks/(\S+)\.ipynb\)", text) == [book.name for book in BOOKS if book.name < "10"]

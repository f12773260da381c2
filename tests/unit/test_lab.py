"""The reader's copies for JupyterLab: made where they are missing, never overwritten."""

import os
from contextlib import contextmanager
from types import SimpleNamespace

import nbformat
import pytest
from example import write_chapter
from jupyter_client.manager import start_new_kernel

from casebook import chapters
from casebook.__main__ import main
from casebook.chapters import Chapter
from casebook.teaching.lab import START, copy


@contextmanager
def kernel_info():
    """The info that a kernel of this Python tells."""
    manager, client = start_new_kernel()
    try:
        yield SimpleNamespace(**client.kernel_info(reply=True, timeout=60)["content"])
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture
def chapter(tmp_path):
    return write_chapter(tmp_path, ["print(1)"])


def test_a_missing_copy_is_made_as_jupyterlab_saves_it(chapter, tmp_path):
    path = tmp_path / "a reader's own" / chapter.path.name
    for _ in range(2):
        assert copy([chapter], path.parent) == {path: "new"}
        made, own = Chapter(path).notebook, chapter.notebook
        assert made.cells == own.cells and made.metadata.get("casebook") == own.metadata.get(
            "casebook"
        )
        with kernel_info() as told:  # what JupyterLab writes into a notebook it opens
            assert made.metadata.language_info == told.language_info
        assert copy([chapter], path.parent) == {}
        path.unlink()


def test_the_first_notebook_lists_the_others_and_keeps_what_is_written_into_it(chapter, tmp_path):
    copy([chapter], tmp_path)
    path = tmp_path / START
    (cell,) = nbformat.read(path, 4).cells
    assert f"| [09]({chapter.path.name}) | A title | crash |" in cell.source
    path.write_text(path.read_text().replace("crash", "slow"))
    before = path.read_bytes()
    copy([chapter], tmp_path)
    assert path.read_bytes() == before


def test_a_copy_is_left_alone_and_a_changed_chapter_is_named(chapter, tmp_path):
    (path,) = copy([chapter], tmp_path / "lab")
    path.write_text("my notes")
    assert copy([chapter], path.parent) == {}
    os.utime(path, (0, 0))
    assert "delete this copy to get the new one" in copy([chapter], path.parent)[path]
    assert path.read_text() == "my notes"


@pytest.mark.parametrize("chosen", ["", "my lab"])
def test_the_command_prints_the_folder_alone(tmp_path, monkeypatch, capsys, chosen):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CASEBOOK_LAB", chosen and str(tmp_path / chosen))
    folder = tmp_path / (chosen or "gpu-python-casebook")
    assert main(["lab"]) == 0
    said, books = capsys.readouterr(), chapters.load()
    assert (said.out, len(said.err.splitlines())) == (f"{folder}\n", len(books))
    assert sorted(path.name for path in folder.glob("*.ipynb")) == [
        START,
        *(book.path.name for book in books),
    ]

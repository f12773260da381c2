"""The reader's copies for JupyterLab: made where they are missing, never overwritten."""

import os

import pytest
from example import write_chapter

from casebook.__main__ import main
from casebook.authoring import chapters
from casebook.authoring.lab import copy


@pytest.fixture
def chapter(tmp_path):
    return write_chapter(tmp_path, ["print(1)"])


def test_a_missing_copy_is_made_byte_by_byte(chapter, tmp_path):
    path = tmp_path / "a reader's own" / chapter.path.name
    for _ in range(2):
        assert copy([chapter], path.parent) == {path: "new"}
        assert path.read_bytes() == chapter.path.read_bytes()
        assert copy([chapter], path.parent) == {}
        path.unlink()


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
        book.path.name for book in books
    ]

"""The reader's copies for JupyterLab: made where they are missing, never overwritten."""

import os
import subprocess
import sys

import pytest
from example import write_chapter
from helpers import ROOT

from casebook.authoring import chapters
from casebook.authoring.chapters import Chapter
from casebook.authoring.lab import RECORD, copy


@pytest.fixture
def chapter(tmp_path):
    (tmp_path / "book").mkdir()
    return write_chapter(tmp_path / "book", ["print(1)"])


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "a reader's own"


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != RECORD)


def test_a_missing_copy_is_made_byte_by_byte(chapter, folder):
    path = folder / chapter.path.name
    for _ in range(2):
        assert copy([chapter], folder) == {path: "new"}
        assert path.read_bytes() == chapter.path.read_bytes()
        assert copy([chapter], folder) == {}
        assert names(folder) == [path.name]
        path.unlink()


def test_a_copy_is_left_alone_and_a_changed_chapter_is_named(chapter, folder):
    (path,) = copy([chapter], folder)
    path.write_text("my notes")
    assert copy([chapter], folder) == {}
    chapter.path.write_text("second edition")
    for _ in range(2):
        (note,) = copy([chapter], folder).values()
        assert note.endswith("delete this copy to get the new one")
    assert path.read_text() == "my notes"
    path.unlink()
    assert copy([chapter], folder) == {path: "new"}
    assert path.read_text() == "second edition"


def test_a_file_of_that_name_stays(chapter, folder):
    folder.mkdir()
    path = folder / chapter.path.name
    path.write_text("mine")
    assert list(copy([chapter], folder)) == [path]
    assert path.read_text() == "mine"


@pytest.mark.parametrize("chosen", [True, False])
def test_the_command_prints_the_folder_alone(tmp_path, chosen):
    variables = {key: value for key, value in os.environ.items() if key != "CASEBOOK_LAB"} | {
        "HOME": str(tmp_path)
    }
    folder = tmp_path / ("my lab" if chosen else "gpu-python-casebook")
    ended = subprocess.run(
        [sys.executable, "-m", "casebook", "lab"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=variables | ({"CASEBOOK_LAB": str(folder)} if chosen else {}),
    )
    assert (ended.returncode, ended.stdout) == (0, f"{folder}\n")
    assert names(folder) == [book.path.name for book in chapters.load()]
    assert len(ended.stderr.splitlines()) == len(names(folder))
    assert Chapter(folder / names(folder)[0]).cells

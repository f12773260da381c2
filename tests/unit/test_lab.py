"""The reader's copies for JupyterLab: as the book's, up to date while untouched, and never overwritten."""

import os
import subprocess
import sys

import pytest
from example import write_chapter
from helpers import ROOT

from casebook.authoring import chapters
from casebook.authoring.chapters import Chapter
from casebook.authoring.lab import KEPT, copy


@pytest.fixture
def chapter(tmp_path):
    """A chapter of a book, with a function that publishes another text of it."""
    (tmp_path / "book").mkdir()
    chapter = write_chapter(tmp_path / "book", ["print(1)"])
    chapter.notebook.metadata["casebook"] = {"date": "2026-11-20"}
    chapter.publish = lambda text: chapter.path.write_text(text)
    return chapter


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "a reader's own"


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != KEPT)


def test_copies_are_the_chapters_byte_by_byte(chapter, folder):
    path = folder / chapter.path.name
    assert copy([chapter], folder) == {path: "new"}
    assert path.read_bytes() == chapter.path.read_bytes()
    assert copy([chapter], folder) == {}
    assert names(folder) == [path.name]


def test_an_untouched_copy_follows_the_book(chapter, folder):
    (path,) = copy([chapter], folder)
    for text in ("second edition", "third edition"):
        chapter.publish(text)
        assert copy([chapter], folder) == {path: "brought up to date"}
        assert path.read_text() == text


def test_an_edited_copy_stays_and_the_new_chapter_comes_beside_it_once(chapter, folder):
    (path,) = copy([chapter], folder)
    path.write_text("my notes")
    assert copy([chapter], folder) == {}
    chapter.publish("second edition")
    beside = folder / "09-example (2026-11-20).ipynb"
    assert copy([chapter], folder) == {beside: "new, beside your 09-example.ipynb"}
    assert copy([chapter], folder) == {}
    assert (path.read_text(), beside.read_text()) == ("my notes", "second edition")
    beside.write_text("more notes")
    chapter.publish("third edition")
    assert list(copy([chapter], folder)) == [folder / "09-example (2026-11-20, 2).ipynb"]
    assert (path.read_text(), beside.read_text()) == ("my notes", "more notes")
    assert len(names(folder)) == 3


def test_an_edit_that_the_book_makes_too_is_no_conflict(chapter, folder):
    (path,) = copy([chapter], folder)
    path.write_text("mended")
    chapter.publish("mended")
    assert copy([chapter], folder) == {}
    chapter.publish("second edition")
    assert copy([chapter], folder) == {path: "brought up to date"}


def test_a_file_of_the_reader_s_with_the_same_name_stays(chapter, folder):
    folder.mkdir()
    (folder / chapter.path.name).write_text("mine")
    assert copy([chapter], folder) == {
        folder / "09-example (2026-11-20).ipynb": "new, beside your 09-example.ipynb"
    }
    assert (folder / chapter.path.name).read_text() == "mine"


def test_a_deleted_copy_comes_anew(chapter, folder):
    (path,) = copy([chapter], folder)
    path.unlink()
    assert copy([chapter], folder) == {path: "new"}


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


def test_make_lab_opens_that_folder(tmp_path):
    """With a JupyterLab that only writes down what it is asked to open."""
    rule = (ROOT / "Makefile").read_text().split("\nlab: ")[1].split("\n\n")[0].split("\n\t@")[1]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text('#!/bin/sh\necho "$PWD/my lab"\n')
    (tmp_path / "bin" / "jupyter").write_text('#!/bin/sh\necho "$1|$2|$3"\n')
    for program in (tmp_path / "bin").iterdir():
        program.chmod(0o755)
    rules = f"BIN := bin\nlab:\n\t@{rule}\n"
    ended = subprocess.run(
        ["make", "--no-print-directory", "-f", "-", "lab"],
        input=rules,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.stdout == f"lab|{tmp_path}/my lab|\n", ended.stderr

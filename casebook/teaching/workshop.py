"""`casebook workshop`: the copies of chapters for a class, in a folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import nbformat

from casebook.cells.repository import ROOT
from casebook.chapters import Chapter, load
from casebook.chapters.class_copy import unsolved
from casebook.chapters.exercises import exercises
from casebook.errors import CasebookError

FOLDER = ROOT / "_build" / "workshop"


def command(names: Sequence[str], into: Path | None) -> int:
    """Write the copies of chapters, and print how many, and which have nothing to grade."""
    folder, books = into or FOLDER, load(names)
    paths = write(books, folder)
    print(f"{len(paths)} notebooks without solutions and outputs: {folder}")
    if without := ", ".join(book.name[:2] for book in books if not exercises(book)):
        print("no exercise in", without)
    return 0


def write(chapters: Iterable[Chapter], folder: str | Path = FOLDER) -> list[Path]:
    """Write the copies; return their paths.

    Raises CasebookError, and writes nothing, where a file differs: it may be somebody's work.
    """
    copies = {chapter.path.name: unsolved(chapter.notebook) for chapter in chapters}
    texts = {Path(folder) / name: nbformat.writes(copy) + "\n" for name, copy in copies.items()}
    for path, text in texts.items():
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise CasebookError(
                f"{path} exists and differs from this copy: move it, or name another folder"
            )
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)

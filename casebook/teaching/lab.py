"""The reader's own copies of the chapters, for JupyterLab: the tracked notebooks stay clean.

Existing copies are never overwritten. 00-start.ipynb lists all of them.
"""

import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

from casebook.cells.hashes import digest
from casebook.chapters import KERNEL, Chapter, load
from casebook.environments.store import write_atomically

START = "00-start.ipynb"
HEAD = """# GPU Python Casebook

Each notebook is one documented problem. Without a GPU, its GPU cells show the stored output.

| Case | You see | Kind | Minutes | GPU cells |
|---|---|---|---|---|
"""


def command() -> int:
    """Make the reader's missing copies and print their folder, for JupyterLab; notes to stderr."""
    for path, note in copy(load(), target := folder()).items():
        print(f"{path}: {note}", file=sys.stderr)
    print(target)
    return 0


def folder() -> Path:
    """Where the copies are: CASEBOOK_LAB, else gpu-python-casebook in the reader's home."""
    return Path(os.environ.get("CASEBOOK_LAB") or Path.home() / "gpu-python-casebook")


def copy(chapters: Iterable[Chapter], target: Path) -> dict[Path, str]:
    """Make the copies that a folder lacks; returns what there is to say: {path: 'new', …}."""
    target.mkdir(parents=True, exist_ok=True)
    books, notes = list(chapters), {}
    for chapter in books:
        path = target / chapter.path.name
        if not path.exists():
            write_atomically(path, written(chapter.notebook))
            notes[path] = "new"
        elif path.stat().st_mtime < chapter.path.stat().st_mtime:
            notes[path] = "the chapter has changed since; delete this copy to get the new one"
    if untouched(target / START):
        write_atomically(target / START, written(start(books)))
    return notes


def written(notebook: Any) -> bytes:
    """A notebook as JupyterLab saves it, so that it does not look unsaved as soon as it is open."""
    copied = nbformat.from_dict(notebook)
    copied.metadata = {**notebook.metadata, "language_info": language()}
    return f"{nbformat.writes(copied).rstrip()}\n".encode()


def language() -> dict[str, Any]:
    """The `language_info` that a kernel of this Python tells."""
    return {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": platform.python_version(),
    }


def start(chapters: Iterable[Chapter]) -> nbformat.NotebookNode:
    """The notebook that lists the others."""
    text = HEAD + "\n".join(map(row, chapters))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text, id="start")])
    notebook.metadata = {
        "kernelspec": dict(KERNEL),
        "casebook": {"start": digest(text)},
    }
    return notebook


def row(chapter: Chapter) -> str:
    """A chapter's line of the table."""
    minutes = max(1, round(chapter.receipt["seconds"] / 60)) if chapter.receipt else ""
    gpu = len(chapter.gpu_cells)
    link = f"[{chapter.name[:2]}]({chapter.path.name})"
    title, kind = chapter.title.replace("|", r"\|"), ", ".join(chapter.facts.kind)
    return f"| {link} | {title} | {kind} | {minutes} | {gpu or 'none'} of {len(chapter.cells)} |"


def untouched(path: Path) -> bool:
    """Whether the list is missing, or as it was written: then nobody's notes are lost."""
    if not path.exists():
        return True
    try:
        notebook = nbformat.read(path, 4)
        (cell,) = notebook.cells
        return notebook.metadata.casebook.start == digest(cell.source)
    except (ValueError, AttributeError, nbformat.reader.NotJSONError):
        return False

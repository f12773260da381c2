"""The reader's own copies of the chapters, for JupyterLab: the tracked notebooks stay clean.

A copy that is missing is made. One that is there is left alone, whatever is in it.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from casebook.authoring.chapters import Chapter
from casebook.environments.store import write_atomically


def folder() -> Path:
    """Where the copies are: CASEBOOK_LAB, else gpu-python-casebook in the reader's home."""
    return Path(os.environ.get("CASEBOOK_LAB") or Path.home() / "gpu-python-casebook")


def copy(chapters: Iterable[Chapter], target: Path) -> dict[Path, str]:
    """Make the copies that a folder lacks; returns what there is to say: {path: 'new', …}."""
    target.mkdir(parents=True, exist_ok=True)
    notes = {}
    for chapter in chapters:
        path = target / chapter.path.name
        if not path.exists():
            write_atomically(path, chapter.path.read_bytes())
            notes[path] = "new"
        elif path.stat().st_mtime < chapter.path.stat().st_mtime:
            notes[path] = "the chapter has changed since; delete this copy to get the new one"
    return notes

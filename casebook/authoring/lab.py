"""The reader's own copies of the chapters, for JupyterLab: the tracked notebooks stay clean.

A copy that is missing is made. One that is there is left alone, whatever is in it.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from casebook.authoring.chapters import Chapter
from casebook.cells.stamp import digest
from casebook.environments.store import write_atomically

RECORD = ".casebook.json"  # {name of a copy: hash of the chapter that it was made from}


def folder() -> Path:
    """Where the copies are: CASEBOOK_LAB, else gpu-python-casebook in the reader's home."""
    return Path(os.environ.get("CASEBOOK_LAB") or Path.home() / "gpu-python-casebook")


def copy(chapters: Iterable[Chapter], target: Path) -> dict[Path, str]:
    """Make the copies that a folder lacks; returns what there is to say: {path: 'new', …}."""
    target.mkdir(parents=True, exist_ok=True)
    record = target / RECORD
    made_from = json.loads(record.read_text()) if record.exists() else {}
    notes = {}
    for chapter in chapters:
        path, text = target / chapter.path.name, chapter.path.read_text("utf-8")
        if not path.exists():
            write_atomically(path, text.encode())
            made_from[path.name] = digest(text)
            notes[path] = "new"
        elif made_from.get(path.name) != digest(text):
            notes[path] = "the chapter has changed since; delete this copy to get the new one"
    write_atomically(record, json.dumps(made_from, indent=1).encode())
    return notes

"""The reader's own copies of the chapters, for JupyterLab: the tracked notebooks stay clean, and nobody's work is overwritten.

A copy that the reader has not touched follows the book. One that was edited or run stays as it is; where the book's chapter has changed
since, the new one is put beside it under a name with its date. Delete a copy to get it anew.
"""

import hashlib
import itertools
import json
import os
from pathlib import Path

from casebook.environments.store import write_whole

KEPT = ".casebook.json"  # {name of a copy: hash of the chapter that it was made from}


def folder():
    """Where the copies are: CASEBOOK_LAB, else gpu-python-casebook in the reader's home."""
    return Path(os.environ.get("CASEBOOK_LAB") or Path.home() / "gpu-python-casebook")


def copy(chapters, target):
    """Bring a folder up to date with the chapters; returns {path of a copy that was written: 'new', 'brought up to date', …}."""
    target.mkdir(parents=True, exist_ok=True)
    known = json.loads((target / KEPT).read_text()) if (target / KEPT).exists() else {}
    written = {}
    for chapter in chapters:
        path, text = target / chapter.path.name, chapter.path.read_bytes()
        there = path.read_bytes() if path.exists() else None
        if there is None or (there != text and digest(there) == known.get(path.name)):
            write_whole(path, text)
            written[path] = "new" if there is None else "brought up to date"
        elif there != text and digest(text) != known.get(path.name):
            beside = free(path, (chapter.receipt or {}).get("date", "new"))
            write_whole(beside, text)
            written[beside] = f"new, beside your {path.name}"
        known[path.name] = digest(text)
    write_whole(target / KEPT, json.dumps(known, indent=1).encode())
    return written


def digest(content):
    return hashlib.sha256(content).hexdigest()


def free(path, date):
    """A name beside a path that nobody has: `01-name (2026-11-20).ipynb`, with a number where that is taken."""
    names = (
        path.with_stem(f"{path.stem} ({date}{f', {n}' if n > 1 else ''})")
        for n in itertools.count(1)
    )
    return next(name for name in names if not name.exists())

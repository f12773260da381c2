"""Hashes that tie a stored output to its run."""

import hashlib
import json
from pathlib import Path
from typing import Any


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_outputs(outputs: Any) -> str:
    """Hash of everything that is stored below a cell; its texts are whole, not lists of lines."""
    return digest(json.dumps(outputs, sort_keys=True, ensure_ascii=False))


def tree(folder: Path) -> str:
    """Hash of a folder's files, names and contents; its texts for readers (.md) do not count."""
    files = sorted(
        p
        for p in folder.rglob("*")
        if p.is_file() and p.suffix != ".md" and "__pycache__" not in p.parts
    )
    state = hashlib.sha256()
    for file in files:
        state.update(
            f"{file.relative_to(folder)}\n".encode() + hashlib.sha256(file.read_bytes()).digest()
        )
    return state.hexdigest()

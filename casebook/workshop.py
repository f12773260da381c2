"""Copies of the chapters for a class: without solutions, outputs and receipts."""
from pathlib import Path

import nbformat

from .chapters import ROOT
from .errors import CasebookError

FOLDER = ROOT / "_build" / "workshop"


def unsolved(notebook):
    """A notebook as a participant gets it: every cell unrun, those tagged `solution` gone, and no receipt."""
    copy = nbformat.from_dict(notebook)
    copy.metadata.pop("casebook", None)
    copy.cells = [cell for cell in copy.cells if "solution" not in cell.metadata.get("tags", [])]
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return copy


def write(chapters, folder=FOLDER):
    """Write the copies and return their paths. A file that is there and differs may be somebody's work: then nothing is written."""
    texts = {Path(folder) / chapter.path.name: nbformat.writes(unsolved(chapter.notebook)) + "\n" for chapter in chapters}
    for path, text in texts.items():
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise CasebookError(f"{path} exists and is not this copy: move it away, or name another folder")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)

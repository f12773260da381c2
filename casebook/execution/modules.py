"""The modules that every cell may import: casebook/helpers, and its folders chapter_NN, each for one chapter."""

import re
from pathlib import Path

HELPERS = Path(__file__).parents[1] / "helpers"
FOLDERS = (
    HELPERS,
    *sorted(HELPERS.glob("chapter_*")),
)  # on the path of a cell's process, in this order


def sources():
    """Text of each module by its name."""
    return {
        path.stem: path.read_text("utf-8")
        for folder in FOLDERS
        for path in sorted(folder.glob("*.py"))
    }


def imported(code, found=()):
    """The modules that code imports, and those that they import: {name: text}; `found` are known already."""
    found = dict(found)
    for name, text in sorted(sources().items()):
        if name not in found and re.search(rf"\b(?:import|from)\b.*\b{name}\b", code):
            found = imported(text, found | {name: text})
    return found

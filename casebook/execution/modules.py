"""The modules that every cell may import: casebook/helpers, and its folders chapter_NN."""

import re
from pathlib import Path

HELPERS = Path(__file__).parents[1] / "helpers"
FOLDERS = (HELPERS, *sorted(HELPERS.glob("chapter_*")))  # on the path of a script, in this order


def sources() -> dict[str, str]:
    """Text of each module by its name."""
    return {
        path.stem: path.read_text("utf-8")
        for folder in FOLDERS
        for path in sorted(folder.glob("*.py"))
    }


def imported(code: str, found: dict[str, str] | None = None) -> dict[str, str]:
    """Text of each module that code imports, and that these import; `found` are known already."""
    found = found or {}
    for name, text in sorted(sources().items()):
        if name not in found and re.search(rf"\b(?:import|from)\b.*\b{name}\b", code):
            found = imported(text, found | {name: text})
    return found

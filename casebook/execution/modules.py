"""The modules that every cell may import: casebook/helpers, and its folders chapter_NN."""

import re
from pathlib import Path

HELPERS = Path(__file__).parents[1] / "helpers"
FOLDERS = (HELPERS, *sorted(HELPERS.glob("chapter_*")))  # on the path of a script, in this order

IMPORT = re.compile(
    r"(?m)(?:^|[;\"'])[ \t]*"
    r"(?:from[ \t]+(?P<module>\w+)[ \t]+import\b|import[ \t]+(?P<modules>[\w., \t]+))"
)


def sources() -> dict[str, str]:
    """Text of each module by its name."""
    return {
        path.stem: path.read_text("utf-8")
        for folder in FOLDERS
        for path in sorted(folder.glob("*.py"))
    }


def imported(code: str, found: dict[str, str] | None = None) -> dict[str, str]:
    """Text of each module that code imports, and that these import; `found` are known already.

    Code in a string counts, since a cell may run it in a process of its own.
    """
    found = found or {}
    texts = sources()
    for match in IMPORT.finditer(code):
        for part in (match["module"] or match["modules"]).split(","):
            name = re.split(r"\W", part.strip())[0]
            if name in texts and name not in found:
                found = imported(texts[name], found | {name: texts[name]})
    return found

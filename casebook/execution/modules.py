"""The modules that cells import: casebook/helpers, and its folders chapter_NN.

On a cell's path are the helpers and the folders of the modules that it imports, no other chapter's.
"""

import re
from collections.abc import Mapping
from pathlib import Path

HELPERS = Path(__file__).parents[1] / "helpers"
FOLDERS = (HELPERS, *sorted(HELPERS.glob("chapter_*")))

IMPORT = re.compile(
    r"(?m)(?:^|[;\"']|\\n)[ \t]*"
    r"(?:from[ \t]+(?P<module>\w+)[ \t]+import\b|import[ \t]+(?P<modules>[\w., \t]+))"
)


def files() -> dict[str, Path]:
    """File of each module by its name, which no two of them share."""
    return {path.stem: path for folder in FOLDERS for path in sorted(folder.glob("*.py"))}


def sources() -> dict[str, str]:
    """Text of each module by its name."""
    return {name: path.read_text("utf-8") for name, path in files().items()}


def imported(code: str, texts: Mapping[str, str] | None = None) -> dict[str, str]:
    """Text of each module that code imports, and that these import; `texts` are those of all.

    Code in a string counts, since a cell may run it in a process of its own.
    """
    texts = sources() if texts is None else texts
    found: dict[str, str] = {}
    waiting = [code]
    while waiting:
        for match in IMPORT.finditer(waiting.pop()):
            for part in (match["module"] or match["modules"]).split(","):
                name = re.split(r"\W", part.strip())[0]
                if name in texts and name not in found:
                    found[name] = texts[name]
                    waiting.append(texts[name])
    return found


def folders(code: str) -> list[Path]:
    """The folders on the path of a cell with this code: the helpers first."""
    places = files()
    return list(dict.fromkeys([HELPERS, *(places[name].parent for name in imported(code))]))

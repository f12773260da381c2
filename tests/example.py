"""A chapter of a few cells that a test writes, executes and changes."""

from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest
from helpers import cell

from casebook.authoring.chapters import CARD_KEYS, Chapter
from casebook.authoring.execute import execute
from casebook.environments import gpu

ROWS = dict.fromkeys(CARD_KEYS, "nothing") | {
    "Libraries": "NumPy",
    "Kind": "crash",
    "You see": "`ValueError: text`",
    "Needs": "no GPU; about 1 minute",
}
CARD = "# A title\n\nA sentence.\n\n| | |\n|---|---|\n" + "\n".join(
    f"| **{key}** | {text} |" for key, text in ROWS.items()
)
SOURCES = [
    "%load_ext casebook\nimport numpy",
    "x = 6\nx * 7",
    "%%pinned\n" + cell("print('before')\nraise ValueError('text')", "raises = 'ValueError'"),
    "import time\nprint(time.time_ns())",
]
H200 = gpu.Gpu("NVIDIA H200", "9.0", "570.86.15")


def write_chapter(folder: Path, sources: Sequence[str], card: str = CARD) -> Chapter:
    """A chapter with these code cells; the output of the last one varies."""
    cells = [
        nbformat.v4.new_markdown_cell(card),
        *(nbformat.v4.new_code_cell(source) for source in sources),
    ]
    for number, node in enumerate(cells):
        node.id = f"cell-{number}"
    cells[-1].metadata.tags = ["nbval-ignore-output"]
    path = folder / "09-example.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return Chapter(path)


def execute_here(chapter: Chapter) -> Chapter:
    """Execute on this machine, whatever GPU it has; returns the chapter as it is stored then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "find", lambda: H200)
        patch.setenv("CASEBOOK_REQUIRE_GPU", "1")
        execute(chapter)
    return Chapter(chapter.path)

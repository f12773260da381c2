"""A chapter of a few cells that a test writes, executes and changes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from helpers import cell

from casebook.authoring.checks.form import HEADINGS
from casebook.authoring.execute import execute
from casebook.authoring.publish import with_card
from casebook.chapters import Chapter
from casebook.environments import gpu

FACTS = {
    "kind": ["crash"],
    "libraries": ["NumPy"],
    "threads": ["numpy/numpy/issues/1"],
    "faults": [
        {
            "id": "example",
            "see": "A number does not fit",
            "messages": ["ValueError: text"],
            "do": "Take a larger type",
            "affected": "any release",
        }
    ],
}
TEXT = "Text.\n\n**Before you run it:** What comes of it?"
NOW = (
    "## If you have this now\n\n```bash\npip install numpy\n```\n\n"
    "See [numpy #1](https://github.com/numpy/numpy/issues/1).\n\n"
    + "\n\n".join(f"## {name}\n\n{TEXT}" for name in HEADINGS if name != "If you have this now")
)
FIRST = "# A title\n\nA sentence.\n\n<!-- card: -->\n\n<!-- end of the card -->"
SOURCES = [
    "%load_ext casebook\nimport numpy",
    "x = 6\nx * 7",
    "%%pinned\n" + cell("print('before')\nraise ValueError('text')", "raises = 'ValueError'"),
    "import time\nprint(time.time_ns())",
]
H200 = gpu.Gpu("NVIDIA H200", "9.0", "570.86.15")


def write_case(path: Path, source: str, versions: dict[str, Any]) -> Chapter:
    """A chapter with one pinned cell, `probe`, to be run over releases."""
    cells = [nbformat.v4.new_code_cell(f"%%pinned\n{source}", id="probe")]
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
    path.with_suffix(".yml").write_text(yaml.safe_dump(FACTS | {"versions": versions}))
    return Chapter(path)


def write_chapter(folder: Path, sources: Sequence[str]) -> Chapter:
    """A chapter with these code cells and its card; the output of the last one varies."""
    cells = [
        nbformat.v4.new_markdown_cell(FIRST),
        *(nbformat.v4.new_code_cell(source) for source in sources),
    ]
    for number, node in enumerate(cells):
        node.id = f"cell-{number}"
    cells.insert(1, nbformat.v4.new_markdown_cell(NOW, id="now"))
    for setup in cells[2:3]:
        setup.metadata.tags = ["setup"]
    cells[-1].metadata.tags = ["nbval-ignore-output"]
    path = folder / "09-example.ipynb"
    path.with_suffix(".yml").write_text(yaml.safe_dump(FACTS))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    chapter = Chapter(path)
    chapter.notebook.cells[0].source = with_card(chapter)
    chapter.write()
    return chapter


def execute_here(chapter: Chapter) -> Chapter:
    """Execute on this machine, whatever GPU it has; returns the chapter as it is stored then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "find", lambda: H200)
        patch.setenv("CASEBOOK_REQUIRE_GPU", "1")
        execute(chapter)
    return Chapter(chapter.path)

"""`python -m casebook new NN-name`: the skeleton of a short case. It runs as it is, with a failure that is to be replaced."""
import re

import nbformat

from .chapters import ROOT, load
from .errors import CasebookError

CARD = """# What a person sees who meets it

One sentence: what was done, and what came of it.

| | |
|---|---|
| **Libraries** | NumPy |
| **Kind** | crash |
| **Affected** | NumPy 2.4.6 |
| **Fixed in** | never; the value must fit |
| **You see** | `OverflowError: Python integer 256 out of bounds for uint8` |
| **Upstream** | [numpy #1](https://github.com/numpy/numpy/issues/1) |
| **Needs** | {needs} |"""

HEADER = """%%pinned
# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["numpy==2.4.6"]
# [tool.casebook]
# timeout = 60
{outcome}# ///
import numpy as np

"""
RAISES = "# raises = 'OverflowError'\n# match = 'out of bounds for uint8'\n"

STORY = (
    "## The symptom\n\nThe failing program, as short as it can be. With `gpu = true` in the header where it needs one.",
    HEADER.format(outcome=RAISES) + "print(np.arange(3, dtype=np.uint8) + 256)",
    "## Without a GPU\n\nThe same cause with the library's own code, on any Linux machine: it compiles, but does not launch.",
    HEADER.format(outcome="") + "print(np.iinfo(np.uint8).max)\nassert np.iinfo(np.uint8).max < 256",
    "## Why it happens\n\nExperiments that change one thing at a time. Which would come out otherwise if the explanation were wrong?",
    HEADER.format(outcome="") + "print(np.arange(3, dtype=np.uint8) + 255)",
    "## The fix\n\nThe way around it on the broken release, then the first release without it. Each is run, each result is asserted.",
    HEADER.format(outcome="") + "result = np.arange(3) + 256\nprint(result)\nassert result.tolist() == [256, 257, 258]",
    "## References\n\n- [numpy #1](https://github.com/numpy/numpy/issues/1): a few words on what is found there.",
)


def skeleton():
    """A notebook with the card, the setup cell that all notebooks share, and the five sections."""
    setup = next(cell for cell in load(["01"])[0].cells if "setup" in cell.tags)
    cells = [nbformat.v4.new_markdown_cell(CARD), nbformat.v4.new_code_cell(setup.source, metadata={"tags": ["setup"]})]
    for text in STORY:
        cells.append((nbformat.v4.new_code_cell if text.startswith("%%") else nbformat.v4.new_markdown_cell)(text))
    codes = sum(cell.cell_type == "code" for cell in cells)
    cells[0].source = CARD.format(needs=f"a GPU for 0 of {codes} cells; about 1 minute")
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def new(name, root=ROOT):
    """Write notebooks/NAME.ipynb and its line in the table of contents; returns the path."""
    if not re.fullmatch(r"[1-9]\d-[a-z0-9][a-z0-9.-]*", name):
        raise CasebookError(f"{name!r} is no name of a short case: a number from 10 on and a few words, such as 23-lost-stream")
    folder, contents = root / "notebooks", root / "_toc.yml"
    if taken := sorted(folder.glob(f"{name[:2]}-*.ipynb")):
        raise CasebookError(f"the number {name[:2]} is taken by {taken[0].name}")
    before, heading, after = contents.read_text().partition("  - caption: Short cases\n    chapters:\n")
    lines = re.match(r"(      - file: \S+\n)*", after)[0]
    grown = "".join(sorted([*lines.splitlines(keepends=True), f"      - file: notebooks/{name}\n"]))
    path = folder / f"{name}.ipynb"
    nbformat.write(skeleton(), path)
    contents.write_text(before + heading + grown + after.removeprefix(lines))
    return path

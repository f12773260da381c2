"""Receipts: which run on which GPU a chapter's outputs come from, and whether they still fit.

A receipt holds GPU, driver, Python, date and seconds of the run, and hashes of everything that made
the outputs: each cell and what it printed (`cells`), each helper module that a cell imports
(`modules`), and the pins of the GPU libraries with the folders that cells build (`environment`).
`confirmed` lists runs on other GPU models, whose outputs are not stored. `pending` lists the cells
that wait for a machine with as many GPUs as they need; `rerun` says when all cells but those ran
again on a machine with fewer.
"""

import functools
import sys
import tomllib
from collections.abc import Iterator

from casebook.cells.hashes import digest, tree
from casebook.cells.repository import ROOT
from casebook.chapters.chapter import Chapter
from casebook.execution.modules import imported, sources

KEYS = (
    "gpu",
    "compute_capability",
    "driver",
    "python",
    "date",
    "seconds",
    "environment",
    "modules",
    "cells",
)
NO_GPU = "no GPU"  # in place of a model's name: a run on a machine without one
EVERY_SCRIPT = "sitecustomize"  # loaded by each %%pinned cell without an import


def environment(chapter: Chapter) -> str:
    """Hash of the pins of the GPU libraries and of the folders that cells build: native/."""
    folders = sorted({c.header.build for c in chapter.cells if c.header and c.header.build})
    return digest("\n".join([*gpu_pins(), *(tree(ROOT / folder) for folder in folders)]))


def modules(chapter: Chapter) -> dict[str, str]:
    """Hash of each helper module that a cell of the chapter imports, by name."""
    found = imported("\n".join(cell.source for cell in chapter.cells))
    if any(cell.pinned for cell in chapter.cells):
        found[EVERY_SCRIPT] = sources()[EVERY_SCRIPT]
    return {name: digest(text) for name, text in sorted(found.items())}


def code(chapter: Chapter) -> str:
    """Hash of all that a run takes: cells, helper modules, pins of the GPU libraries, native/."""
    cells = [cell.stamp().split()[0] for cell in chapter.cells]
    return digest(str([cells, modules(chapter), environment(chapter)]))


def inputs(chapter: Chapter) -> str:
    """Hash of all that decides how the cells end on a machine without a GPU.

    That is what a run takes, what its outputs are compared with, this Python, and the runner.
    """
    stamps = [cell.stamp() for cell in chapter.cells]
    return digest(str([code(chapter), stamps, sys.version, runner()]))


@functools.cache
def runner() -> str:
    """Hash of the tooling that runs and compares cells, and of the packages of the kernel."""
    folders = [tree(ROOT / "casebook" / name) for name in ("cells", "environments", "execution")]
    files = "conftest.py", "requirements.txt", "casebook/magics.py", "casebook/errors.py"
    return digest(str([folders, [(ROOT / name).read_text("utf-8") for name in files]]))


def gpu_pins() -> list[str]:
    """Pins of the libraries that chapters run on: the extra `gpu` of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project["optional-dependencies"]["gpu"]


def receipt_problems(chapter: Chapter) -> Iterator[str]:
    """Differences between receipt and chapter: ends of sentences that begin with its name."""
    receipt = chapter.receipt
    if not receipt:
        yield f": no receipt; `casebook execute {chapter.name[:2]}` makes one"
        return
    if missing := [key for key in KEYS if key not in receipt]:
        yield f": the receipt lacks {', '.join(missing)}"
        return
    yield from machine_problems(chapter)
    stamps, remedy = dict(receipt["cells"]), run_again(chapter)
    for cell in chapter.cells:
        stamp, now = stamps.pop(cell.node.id, None), cell.stamp()
        place = f", cell [{cell.number}]"
        if stamp is None:
            yield (
                f"{place}: not in the receipt: added after the run, "
                "or the receipt is another notebook's"
            )
        elif stamp.split()[0] != now.split()[0]:
            yield f"{place}: edited since the run that the receipt is for; {remedy}"
        elif stamp != now:
            yield f"{place}: its stored output is not the one that the run produced"
    cells = {cell.node.id: cell for cell in chapter.cells}
    for name in receipt.get("pending", []):
        if name not in cells or not cells[name].needs_gpu or cells[name].node.outputs:
            yield f": the receipt calls {name} pending, which is no GPU cell without an output"
        elif cells[name].gpus <= receipt.get("gpus", 1):
            yield f": the receipt calls {name} pending, but the machine of the run had its GPUs"
    for one in receipt.get("confirmed", []):
        if one["code"] != code(chapter):
            yield (
                f": the confirmation on {one['gpu']} is stale; "
                f"run `casebook confirm {chapter.name[:2]}` on that GPU"
            )
    if stamps:
        yield f": the receipt has {len(stamps)} cells that the notebook lacks: {', '.join(stamps)}"


def machine_problems(chapter: Chapter) -> Iterator[str]:
    """What a run took besides the cells, and has changed since: pins, native/, helper modules."""
    receipt = chapter.receipt
    if not receipt:
        return
    if receipt["environment"] != environment(chapter):
        yield (
            ": the receipt is stale, the pins of the GPU libraries or native/ have changed since; "
            + run_again(chapter)
        )
    for problem in module_problems(receipt["modules"], modules(chapter)):
        yield f"{problem}; {run_again(chapter)}"


def module_problems(stored: dict[str, str], now: dict[str, str]) -> Iterator[str]:
    """The helper modules that differ from those of the run."""
    for name in sorted(stored.keys() | now.keys()):
        if stored.get(name) != now.get(name):
            yield f": the receipt is stale, the helper module {name} has changed since"


def run_again(chapter: Chapter) -> str:
    """What to do about a stale receipt."""
    return f"run `casebook execute {chapter.name[:2]}`"

"""Receipts: which run on which GPU a chapter's outputs come from, and whether they still fit.

A receipt holds GPU, driver, Python, date and seconds of the run, and for each cell the hashes of
all that made its output (stamps.py) and of the output. `confirmed` lists runs on other GPU models,
whose outputs are not stored, with the stamps of the GPU cells that ended as expected there.
`pending` lists the cells that wait for a machine with as many GPUs as they need; `rerun` says when
all cells but those ran again on a machine with fewer.
"""

import functools
import sys
from collections.abc import Iterator

from casebook.cells.hashes import digest, tree
from casebook.cells.notebook import Confirmation
from casebook.cells.repository import ROOT
from casebook.chapters.chapter import Chapter
from casebook.chapters.stamps import Stamp, entries, entry, stamps

KEYS = ("gpu", "compute_capability", "driver", "python", "date", "seconds", "cells")
NO_GPU = "no GPU"  # in place of a model's name: a run on a machine without one


def standing_confirmations(chapter: Chapter) -> list[tuple[Confirmation, int]]:
    """The runs on other GPU models, each with how many of the cells it confirmed are as they
    were."""
    now = {name: str(stamp) for name, stamp in stamps(chapter).items()}
    confirmed = chapter.receipt.get("confirmed", []) if chapter.receipt else []
    return [
        (one, sum(now.get(name) == stamp for name, stamp in one["stamps"].items()))
        for one in confirmed
    ]


def inputs(chapter: Chapter) -> str:
    """Hash of all that decides how the cells end on a machine without a GPU.

    That is what a run takes, what its outputs are compared with, this Python, and the runner.
    """
    return digest(str([entries(chapter), sys.version, runner()]))


@functools.cache
def runner() -> str:
    """Hash of the tooling that runs and compares cells, and of the packages of the kernel."""
    folders = [tree(ROOT / "casebook" / name) for name in ("cells", "environments", "execution")]
    files = "conftest.py", "requirements.txt", "casebook/magics.py", "casebook/errors.py"
    return digest(str([folders, [(ROOT / name).read_text("utf-8") for name in files]]))


def receipt_problems(chapter: Chapter) -> Iterator[str]:
    """Differences between receipt and chapter: ends of sentences that begin with its name."""
    receipt = chapter.receipt
    if not receipt:
        yield f": no receipt; `casebook execute {chapter.name[:2]}` makes one"
        return
    if missing := [key for key in KEYS if key not in receipt]:
        yield f": the receipt lacks {', '.join(missing)}"
        return
    stored, made = dict(receipt["cells"]), stamps(chapter)
    changed = {
        cell.number
        for cell in chapter.cells
        if not made[cell.node.id].fits_own(stored.get(cell.node.id, ""))
    }
    for cell in chapter.cells:
        found, stamp = stored.pop(cell.node.id, None), made[cell.node.id]
        place = f", cell [{cell.number}]"
        if found is None:
            yield (
                f"{place}: not in the receipt: added after the run, "
                "or the receipt is another notebook's"
            )
        elif cell.number in changed:
            yield (
                f"{place}: edited since the run that the receipt is for, or something that its "
                f"imports or its environment bring has changed; {run_again(chapter)}"
            )
        elif not stamp.fits(found):
            yield f"{place}: {taken_problem(stamp, changed)}; {run_again(chapter)}"
        elif found != entry(cell, stamp):
            yield f"{place}: its stored output is not the one that the run produced"
    cells = {cell.node.id: cell for cell in chapter.cells}
    for name in receipt.get("pending", []):
        if name not in cells or not cells[name].needs_gpu or cells[name].node.outputs:
            yield f": the receipt calls {name} pending, which is no GPU cell without an output"
        elif cells[name].gpus <= receipt.get("gpus", 1) and "rerun" not in receipt:
            yield f": the receipt calls {name} pending, but the machine of the run had its GPUs"
    for one, standing in standing_confirmations(chapter):
        if standing < len(one["stamps"]):
            yield (
                f": {len(one['stamps']) - standing} cells were edited since they were confirmed on "
                f"{one['gpu']}; {run_again(chapter)}, which drops that"
            )
    if stored:
        yield f": the receipt has {len(stored)} cells that the notebook lacks: {', '.join(stored)}"


def taken_problem(stamp: Stamp, changed: set[int]) -> str:
    """What is wrong with an output whose cell is as it was, but not what it takes."""
    edited = [number for number in sorted(stamp.givers) if number in changed]
    if not edited:
        return "the cells that it takes names from are not those of the run"
    cells = ", ".join(f"[{number}]" for number in edited)
    names = sorted({name for number in edited for name in stamp.givers[number]})
    of_cells = f"{', '.join(names)} of {cells}" if names else f"what {cells} define"
    return f"it takes {of_cells}, edited since the run that the receipt is for"


def run_again(chapter: Chapter) -> str:
    """What to do about a stale receipt."""
    return f"run `casebook execute {chapter.name[:2]}`"

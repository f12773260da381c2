"""`casebook confirm`: chapters on another GPU model than that of their outputs.

No output changes. The receipt gets an entry: GPU, driver, date, and the stamps of the GPU cells,
without those that need more GPUs than there are.
"""

import functools
import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from casebook import chapters
from casebook.authoring.execute import run, this_gpu
from casebook.cells.notebook import Confirmation
from casebook.cells.timed import is_timed
from casebook.chapters import Chapter, evidence, receipts
from casebook.chapters.stamps import stamps
from casebook.environments.gpu import Gpu
from casebook.errors import CasebookError

WORKERS = 8  # chapters that run side by side


def confirm(names: Sequence[str]) -> int:
    """Run chapters and add to their receipts. One that cannot be confirmed stops no other.

    Those that measure nothing run side by side, then each of the others alone. Every receipt is
    written as soon as its chapter is done.
    """
    found = this_gpu()
    without = receipts.NO_GPU  # what was executed without a GPU has nothing to confirm
    books = [b for b in chapters.load(names) if not b.receipt or b.receipt["gpu"] != without]
    alone = [book for book in books if measures(book)]
    together = [book for book in books if book not in alone]
    failed, done = 0, itertools.count(1)

    def show(book: Chapter, ended: Callable[[], Confirmation]) -> int:
        place = f"[{next(done)}/{len(books)}] {book.name}"
        try:
            entry = ended()
            count = len(book.gpu_cells)
            print(f"{place}: {len(entry['stamps'])} of {count} GPU cells ended as expected")
        except CasebookError as error:
            print(f"{place}: NOT confirmed: {error}", flush=True)
            return 1
        return 0

    with ProcessPoolExecutor(min(WORKERS, os.cpu_count() or 1)) as pool:
        running = {pool.submit(confirm_one, book.path, found): book for book in together}
        for future in as_completed(running):
            failed += show(running[future], future.result)
    for book in alone:
        failed += show(book, functools.partial(confirm_one, book.path, found))
    return bool(failed)


def measures(book: Chapter) -> bool:
    """Whether a chapter claims something about time, which a busy GPU would disturb."""
    return any(is_timed(cell.source) for cell in book.gpu_cells)


def confirm_one(path: Path, found: Gpu) -> Confirmation:
    """Run a chapter and store its confirmation. Raises CasebookError, and then stores nothing."""
    book = chapters.at(path)
    if not book.receipt or any(receipts.receipt_problems(book)):
        raise CasebookError("its receipt is stale or missing; `casebook execute` comes first")
    if book.receipt["gpu"] == found.name:
        raise CasebookError(f"its outputs come from an {found.name}; `pytest` compares them")
    _, skipped = run(Chapter(book.path))
    made = stamps(book)
    ended = [cell for cell in book.gpu_cells if cell.number not in skipped]
    entry = Confirmation(
        gpu=found.name,
        compute_capability=found.compute_capability,
        driver=found.driver,
        date=evidence.today(),
        stamps={cell.node.id: str(made[cell.node.id]) for cell in ended},
    )
    stored = Chapter(book.path)
    receipt = stored.notebook.metadata.casebook
    others = [one for one in receipt.get("confirmed", []) if one["gpu"] != found.name]
    receipt["confirmed"] = [*others, entry]
    stored.write()
    return entry

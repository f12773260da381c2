"""`casebook confirm`: chapters on another GPU model than that of their outputs.

No output changes. The receipt gets an entry: GPU, driver, date, and how many cells ended as
expected. Cells that need more GPUs than there are do not run, and are not counted as ended.
"""

from collections.abc import Sequence

from casebook import chapters
from casebook.authoring.execute import run, this_gpu
from casebook.cells.notebook import Confirmation
from casebook.chapters import Chapter, evidence, receipts
from casebook.environments.gpu import Gpu
from casebook.errors import CasebookError


def confirm(names: Sequence[str]) -> int:
    """Run chapters and add to their receipts. One that cannot be confirmed stops no other."""
    found, failed = this_gpu(), 0
    books = chapters.load(names)
    for number, book in enumerate(books, 1):
        place = f"[{number}/{len(books)}] {book.name}"
        try:
            entry = confirm_one(book, found)
            print(f"{place}: {entry['ended']} of {entry['cells']} cells ended as expected")
        except CasebookError as error:
            failed += 1
            print(f"{place}: NOT confirmed: {error}", flush=True)
    return bool(failed)


def confirm_one(book: Chapter, found: Gpu) -> Confirmation:
    """Run a chapter and store its confirmation. Raises CasebookError, and then stores nothing."""
    if not book.receipt or any(receipts.receipt_problems(book)):
        raise CasebookError("its receipt is stale or missing; `make execute` comes first")
    if book.receipt["gpu"] == found.name:
        raise CasebookError(f"its outputs come from an {found.name}; `pytest` compares them")
    _, skipped = run(Chapter(book.path))
    entry = Confirmation(
        gpu=found.name,
        compute_capability=found.compute_capability,
        driver=found.driver,
        date=evidence.today(),
        ended=len(book.cells) - len(skipped),
        cells=len(book.cells),
        code=receipts.code(book),
    )
    stored = Chapter(book.path)
    receipt = stored.notebook.metadata.casebook
    others = [one for one in receipt.get("confirmed", []) if one["gpu"] != found.name]
    receipt["confirmed"] = [*others, entry]
    stored.write()
    return entry

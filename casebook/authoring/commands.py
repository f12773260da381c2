"""The commands on the book's own chapters: what they do is elsewhere, here they say what was done."""

import sys

from casebook.authoring import chapters, lab, parallel, publish, workshop
from casebook.authoring.checks import problems
from casebook.authoring.receipts import receipt_warnings
from casebook.cells.repository import ROOT


def execute(names, cluster=None):
    """Run chapters and store them: here, one after the other until one fails, or spread over the GPUs of a cluster."""
    from casebook.authoring.execute import (
        execute,  # needs Jupyter's client, which `check` does without
    )

    books = {book.name: book for book in chapters.load(names)}
    if cluster is None:
        for book in books.values():
            execute(book)
            print(stored(book))
        return 0
    failed = 0
    for number, (name, trouble) in enumerate(parallel.execute(books.values(), cluster), 1):
        failed += bool(trouble)
        print(
            f"[{number}/{len(books)}] {f'{name}: NOT stored: {trouble}' if trouble else stored(books[name])}",
            flush=True,
        )
    return bool(failed)


def stored(book):
    return f"{book.name}: stored, {len(book.cells)} cells"


def check(names):
    """Print what is wrong with the chapters as they are stored; 1 for any problem, warnings aside."""
    books = chapters.load(names)
    found = [problem for book in books for problem in problems(book)]
    found += publish.table_differences() if not names and not found else []
    warnings = [f"{book.name}{warning}" for book in books for warning in receipt_warnings(book)]
    for warning in warnings:
        print(f"warning: {warning}")
    cells = sum(len(book.cells) for book in books)
    summary = f"{len(books)} chapters, {cells} cells: outputs and receipts fit"
    print("\n".join(found) or summary + (f"; {len(warnings)} warnings" if warnings else ""))
    return bool(found)


def make_workshop(folder):
    folder = folder or workshop.FOLDER
    print(
        f"{len(workshop.write(chapters.load(), folder))} chapters without solutions and outputs: {folder}"
    )
    return 0


def copies_for_lab():
    """Bring the reader's copies up to date and print their folder, for JupyterLab; what was written is said beside."""
    folder = lab.folder()
    for path, what in lab.copy(chapters.load(), folder).items():
        print(f"{path}: {what}", file=sys.stderr)
    print(folder)
    return 0


def publish_facts() -> int:
    """Write the cards and the doctor's table from the facts; prints the files that changed."""
    for path in publish.publish(chapters.load()):
        print(path.relative_to(ROOT))
    return 0

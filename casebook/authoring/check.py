"""`casebook check`: the problems of chapters as they are stored."""

from collections.abc import Sequence

from casebook import chapters
from casebook.authoring import contents, publish
from casebook.authoring.checks import problems
from casebook.cells.repository import notebooks
from casebook.chapters import installs
from casebook.errors import CasebookError


def check(names: Sequence[str]) -> int:
    """Print the problems of chapters as they are stored; returns 1 for any."""
    books = chapters.load(names)
    found = [problem for book in books for problem in problems(book)]
    numbers = [path.name[:2] for path in notebooks()]
    for number in sorted({one for one in numbers if numbers.count(one) > 1}):
        found.append(
            f"{numbers.count(number)} chapters have the number {number}; rename all but one"
        )
    if not any(map(unreadable, books)):
        found += contents.differences(books)
        if not names:
            found += publish.table_differences()
            found += installs.leftovers(books)
    cells = sum(len(book.cells) for book in books)
    pending = sum(len(book.pending) for book in books)
    summary = f"{len(books)} chapters, {cells} cells: outputs match their receipts"
    summary += f"; {pending} cells wait for a GPU" if pending else ""
    print("\n".join(found) or summary)
    return bool(found)


def unreadable(book: chapters.Chapter) -> bool:
    """Whether a chapter has no facts that can be read, which its own problems say."""
    try:
        return not book.facts
    except CasebookError:
        return True

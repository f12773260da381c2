"""The commands on the book's own chapters: what they do is elsewhere, here they say what was done."""
import sys

from . import address, chapters, lab, workshop
from .checks import problems
from .new import new


def execute(names):
    from .execute import execute  # needs Jupyter's client, which `check` does without

    for book in chapters.load(names):
        execute(book)
        print(f"{book.name}: stored, {len(book.cells)} cells")
    return 0


def check(names):
    """Print what is wrong with the chapters as they are stored."""
    books = chapters.load(names)
    found = [problem for book in books for problem in problems(book)]
    print("\n".join(found) or f"{len(books)} chapters, {sum(len(b.cells) for b in books)} cells: outputs and receipts fit")
    return bool(found)


def begin(name):
    path = new(name)
    print(f"{path}\nFill it, then: python -m casebook pin, prepare, execute, check.")
    return 0


def make_workshop(folder):
    folder = folder or workshop.FOLDER
    print(f"{len(workshop.write(chapters.load(), folder))} chapters without solutions and outputs: {folder}")
    return 0


def copies_for_lab():
    """Bring the reader's copies up to date and print their folder, for JupyterLab; what was written is said beside."""
    folder = lab.folder()
    for path, what in lab.copy(chapters.load(), folder).items():
        print(f"{path}: {what}", file=sys.stderr)
    print(folder)
    return 0


def change_address(url):
    changed = address.move(url)
    print(f"{len(changed)} files changed: {', '.join(changed)}")
    return 0

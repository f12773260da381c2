"""The commands on the book's own chapters: what they do is elsewhere, here they say what was done."""
import sys

from . import address, chapters, lab, together, workshop
from .checks import problems
from .new import new


def execute(names, cluster=None):
    """Run chapters and store them: here, one after the other until one fails, or spread over the GPUs of a cluster."""
    from .execute import execute  # needs Jupyter's client, which `check` does without

    books = {book.name: book for book in chapters.load(names)}
    if cluster is None:
        for book in books.values():
            execute(book)
            print(stored(book))
        return 0
    failed = 0
    for number, (name, trouble) in enumerate(together.execute(books.values(), cluster), 1):
        failed += bool(trouble)
        print(f"[{number}/{len(books)}] {f'{name}: NOT stored: {trouble}' if trouble else stored(books[name])}", flush=True)
    return bool(failed)


def stored(book):
    return f"{book.name}: stored, {len(book.cells)} cells"


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

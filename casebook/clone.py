"""The clone of the book that this package lies in; where casebook was installed alone there is none, and what needs it says so."""
from pathlib import Path

from .doctor import BOOK
from .errors import WrongUse

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = BOOK.partition("/blob/")[0]


def need(what):
    """Raise WrongUse where there is no clone."""
    if not there():
        raise WrongUse(f"{what} needs the book, and casebook is installed alone here: git clone {ADDRESS}, and run it there")


def there():
    return (ROOT / "_toc.yml").exists()


def remedy():
    """How to get what a command imports."""
    return "`make environment`, then take .venv/bin/python" if there() else "python -m pip install casebook"


def chapter(name):
    """The chapter of the book with this name or number."""
    need(f"the chapter {name!r}")
    from .chapters import load  # needs more than casebook's own dependencies
    return load([name])[0]

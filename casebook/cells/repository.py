"""The clone of the book that this package is in; without one, what needs it says so."""

from collections.abc import Sequence
from pathlib import Path

from casebook.doctor import BOOK
from casebook.errors import WrongUse

ROOT = Path(__file__).resolve().parents[2]
HUNTS = ROOT / "book" / "hunts.json"  # what was hunted, for the Status page
ADDRESS = BOOK.partition("/blob/")[0]


def need(what: str) -> None:
    """Raise WrongUse if there is no clone."""
    if not there():
        raise WrongUse(
            f"{what} needs a clone of the book; only the package is installed here: "
            f"git clone {ADDRESS}, and run it there"
        )


def there() -> bool:
    return (ROOT / "_toc.yml").exists()


def remedy() -> str:
    """How to get what a command imports."""
    return (
        "`make environment`, then take .venv/bin/python"
        if there()
        else "python -m pip install casebook"
    )


def notebooks(names: Sequence[str] = ()) -> list[Path]:
    """Paths of the chapters with these names (`01-default-arguments`, `01` or `1`), or of all.

    Raises WrongUse for a name that no chapter has.
    """
    names = [f"{name:0>2}-" if name.isdigit() else name for name in names]
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for name in names:
        if not any(path.stem.startswith(name) for path in paths):
            there = ", ".join(path.stem for path in paths)
            raise WrongUse(f"no chapter {name.rstrip('-')!r}; there are {there}")
    return [path for path in paths if not names or path.stem.startswith(tuple(names))]

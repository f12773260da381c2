"""The libraries that a pasted text can come from: how tracebacks and facts show them, where to ask.

`frame`, `mention` and `authored` are JavaScript's patterns for the lines of a paste, in lower case
with slashes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from casebook.chapters import Chapter
from casebook.chapters.facts import Fault, label


@dataclass(frozen=True)
class Library:
    """One library of libraries.yml.

    label      as pages call it
    tracker    address of its issues
    frame      pattern of its frames
    card       pattern of its name among the facts of a case; None for no subject of the book
    mention    pattern of its name in prose
    packages   its packages
    beside     libraries whose tracebacks pass through it, or whose code it shares
    folded     import packages of folded frames
    authored   pattern that says that it compiles what the reader wrote
    """

    label: str
    tracker: str
    frame: str
    card: str | None = None
    mention: str | None = None
    packages: Sequence[str] = ()
    beside: Sequence[str] = ()
    folded: Sequence[str] = ()
    authored: str | None = None


TABLE = yaml.safe_load(Path(__file__).with_name("libraries.yml").read_text("utf8"))
LIBRARIES = {name: Library(**fields) for name, fields in TABLE.items()}


def of_text(text: str) -> list[str]:
    """The libraries that a text names, in its order."""
    found = [
        (place.start(), name)
        for name, library in LIBRARIES.items()
        if library.card and (place := re.search(library.card, text, re.IGNORECASE))
    ]
    return [name for _, name in sorted(found)]


def of_chapter(chapter: Chapter) -> list[str]:
    """The libraries that a chapter is about, in the order of its facts."""
    return of_text(", ".join(chapter.facts.libraries))


def of_fault(fault: Fault) -> list[str]:
    """The libraries whose releases a fault affects."""
    return of_text(f"{', '.join(label(one.package) for one in fault.affected)} {fault.where}")


def of_packages(packages: Iterable[str]) -> list[str]:
    """The libraries that the import packages of folded frames belong to."""
    return [name for name, library in LIBRARIES.items() if {*library.folded} & {*packages}]


def for_page() -> dict[str, dict[str, object]]:
    """What the page needs of them."""
    kept = ("label", "frame", "mention", "tracker", "beside", "authored")
    return {
        name: {key: value for key in kept if (value := getattr(library, key))}
        for name, library in LIBRARIES.items()
    }

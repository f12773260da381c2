"""`casebook new SLUG`: the files of a new case, from the template, with the next free number."""

import re
from pathlib import Path

from casebook.authoring import publish
from casebook.cells.repository import ROOT
from casebook.chapters import load
from casebook.errors import WrongUse

TEMPLATE = Path(__file__).with_name("template.ipynb")


def new(slug: str) -> int:
    """Write notebook and yml, add the case to _toc.yml, and print what to do next.

    Raises WrongUse for a name that is taken or no name for a file; nothing is written then.
    """
    given = re.fullmatch(r"(?:(\d\d)-)?([a-z][a-z0-9.]*(?:-[a-z0-9.]+)*)", slug)
    if not given:
        raise WrongUse(f"{slug!r}: use lower-case letters, digits and hyphens, as in lost-stream")
    folder = ROOT / "notebooks"
    taken = {path.stem[:2]: path.stem for path in folder.glob("*.ipynb")}
    number, name = given[1] or free_number(taken), given[2]
    if number in taken:
        raise WrongUse(f"the number {number} is taken by {taken[number]}")
    if other := next((stem for stem in taken.values() if stem[3:] == name), ""):
        raise WrongUse(f"the name {name} is taken by {other}")
    path = folder / f"{number}-{name}.ipynb"
    path.with_suffix(".yml").write_text(TEMPLATE.with_suffix(".yml").read_text("utf-8"), "utf-8")
    path.write_text(TEMPLATE.read_text("utf-8").replace('"new-', f'"{name}-'), "utf-8")
    list(publish.publish(load()))
    print(
        f"notebooks/{path.name}, its .yml, and a line in _toc.yml.\n"
        f"Next: edit both files, then `casebook pin {number}`, `casebook facts`, "
        f"`casebook execute {number}`, `casebook check {number}`."
    )
    return 0


def free_number(taken: dict[str, str]) -> str:
    """The number after the highest that is taken."""
    highest = max(map(int, taken), default=9)
    if highest == 99:
        raise WrongUse("all numbers to 99 are taken: name a free one, as in 42-lost-stream")
    return f"{highest + 1:02}"

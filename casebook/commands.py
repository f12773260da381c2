"""The commands that work wherever casebook is installed, and what all commands have in common.

In each module of this name, `add` adds the parsers beside the functions that they run. A function
gets the options, returns the exit status, and imports what it needs when it is called: `--help`
stays quick, and a command needs no package that it does not use.
"""

import argparse
from typing import TYPE_CHECKING

from casebook import doctor

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def command(
    commands: "Commands", name: str, text: str, *, chapters: bool = False
) -> argparse.ArgumentParser:
    """Add a command with one line of help; returns its parser. With `chapters` it takes some."""
    added = commands.add_parser(name, help=text, description=text.replace("%%", "%"))
    if chapters:
        added.add_argument("names", nargs="*", metavar="CHAPTER", help="default: all")
    return added


def add(commands: "Commands") -> None:
    """Add the commands `doctor` and `export`."""
    examine = command(commands, "doctor", "find known issues in an environment")
    doctor.add_options(examine)
    examine.set_defaults(run=_doctor, needs_book=False)

    export = command(commands, "export", "print a %%%%pinned cell for `uv run`")
    export.add_argument("name", metavar="NOTEBOOK", help="file, or number of a chapter")
    export.add_argument("number", metavar="CELL", type=int, help="number in the cell's brackets")
    export.set_defaults(run=_export, needs_book=False)


def _doctor(options: argparse.Namespace) -> int:
    return doctor.examine(options.python, options.as_json, options.everything, options.strict)


def _export(options: argparse.Namespace) -> int:
    from casebook.execution.export import command as export

    return export(options.name, options.number)

"""The commands for teachers and learners: their parsers, and what each runs."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.commands import command

if TYPE_CHECKING:
    from casebook.commands import Commands


def add(commands: "Commands") -> None:
    """Add the commands for teachers and learners."""
    workshop = command(commands, "workshop", "copy chapters without solutions", chapters=True)
    workshop.add_argument("--into", metavar="FOLDER", type=Path, help="default: _build/workshop")
    workshop.set_defaults(run=_workshop)

    grade = command(commands, "grade", "run participants' exercises, as you; write a CSV")
    grade.add_argument(
        "folder", metavar="FOLDER", type=Path, help="a folder or notebook for each participant"
    )
    grade.add_argument(
        "--out", metavar="FILE", type=Path, default=Path("grades.csv"), help="default: %(default)s"
    )
    grade.add_argument(
        "--limit",
        metavar="SECONDS",
        type=_seconds,
        default=120,
        help="for each cell; default: %(default)s",
    )
    grade.add_argument(
        "--unprotected", action="store_true", help="as root, run the code without a sandbox"
    )
    grade.set_defaults(run=_grade)

    lab = command(commands, "lab", "copy the chapters to edit; print the folder")
    lab.set_defaults(run=_lab)

    wheelhouse = command(
        commands, "wheelhouse", "download all wheels for offline use", chapters=True
    )
    wheelhouse.set_defaults(run=_wheelhouse)


def _workshop(options: argparse.Namespace) -> int:
    from casebook import chapters
    from casebook.teaching import workshop

    folder = options.into or workshop.FOLDER
    paths = workshop.write(chapters.load(options.names), folder)
    print(
        f"{len(paths)} notebooks without solutions and outputs, 00-first.ipynb to begin: {folder}"
    )
    return 0


def _grade(options: argparse.Namespace) -> int:
    from casebook.teaching.grading.answers import grade

    return grade(options.folder, options.out, options.limit, options.unprotected)


def _seconds(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number of seconds, 1 or more")
    return int(text)


def _lab(options: argparse.Namespace) -> int:
    """Make the reader's missing copies and print their folder, for JupyterLab; notes to stderr."""
    from casebook import chapters
    from casebook.teaching import lab

    folder = lab.folder()
    for path, note in lab.copy(chapters.load(), folder).items():
        print(f"{path}: {note}", file=sys.stderr)
    print(folder)
    return 0


def _wheelhouse(options: argparse.Namespace) -> int:
    from casebook.teaching.wheelhouse import fill

    return fill(options.names)

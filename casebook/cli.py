"""Every command of `casebook`: its name, its arguments, and the function that it calls.

A function gets the arguments by name and returns the exit status. It is imported when it is
called: `--help` stays quick, and a command needs no package that it does not use.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from casebook import doctor
from casebook.cells import repository
from casebook.errors import CasebookError

Argument = Callable[[argparse.ArgumentParser], object]


@dataclass(frozen=True)
class Command:
    """A command of `casebook`."""

    name: str
    text: str
    """Its line of help."""
    function: str
    """Module within casebook, and function."""
    arguments: tuple[Argument, ...] = ()
    needs_book: bool = True
    """Whether it works in a clone of the book only."""


def argument(*names: str, **options: object) -> Argument:
    """An argument of a command, as `add_argument` takes it."""
    return lambda parser: parser.add_argument(*names, **options)  # type: ignore[arg-type]


def seconds(text: str) -> int:
    """A time limit. Raises ArgumentTypeError for anything but a whole number from 1 on."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number of seconds, 1 or more")
    return int(text)


CHAPTERS = argument("names", nargs="*", metavar="CHAPTER", help="default: all")
RELEASE = "another release of a package"
COMMANDS = (
    Command(
        "doctor",
        "find known issues in an environment",
        "doctor:examine",
        (doctor.add_options,),
        needs_book=False,
    ),
    Command(
        "export",
        "print a %%%%pinned cell for `uv run`",
        "execution.export:command",
        (
            argument("name", metavar="NOTEBOOK", help="file, or number of a chapter"),
            argument("number", metavar="CELL", type=int, help="number in the cell's brackets"),
        ),
        needs_book=False,
    ),
    Command(
        "new",
        "begin a case: notebook, yml, table of contents",
        "authoring.new:new",
        (
            argument("slug", metavar="NAME", help="such as lost-stream, or 42-lost-stream"),
            argument("--library", default="", help="whose usual environment it gets, as cupy"),
            argument("--exercise", action="store_true", help="with an exercise"),
        ),
    ),
    Command(
        "pin",
        "complete the pins of a chapter's environments",
        "authoring.pin:pin",
        (
            argument("name", metavar="CHAPTER"),
            argument(
                "--as-of",
                choices=["release"],
                help="with packages of the day of the first one's release",
            ),
        ),
    ),
    Command(
        "prepare",
        "create the chapters' environments",
        "authoring.prepare:prepare",
        (
            CHAPTERS,
            argument(
                "--all",
                dest="every",
                action="store_true",
                help="without a GPU, create those of GPU cells too",
            ),
            argument("--into", metavar="FOLDER", type=Path, help="a folder that all users share"),
        ),
    ),
    Command(
        "execute",
        "run chapters; store outputs and receipts",
        "authoring.execute:command",
        (CHAPTERS,),
    ),
    Command(
        "confirm",
        "run chapters on another GPU model; add to receipts",
        "authoring.confirm:confirm",
        (CHAPTERS,),
    ),
    Command(
        "check",
        "check chapters as stored; runs nothing",
        "authoring.check:check",
        (CHAPTERS,),
    ),
    Command("facts", "write cards and doctor's table", "authoring.publish:command"),
    Command(
        "reports",
        "run the programs of Found here; store how they end",
        "reports.run:reports",
        (
            argument("names", nargs="*", metavar="ENTRY", help="default: all"),
            argument("--pin", default="", metavar="NAME==VERSION", help=RELEASE),
        ),
    ),
    Command(
        "installs",
        "resolve the install lines where readers are",
        "authoring.installs:command",
        (CHAPTERS, argument("--anew", action="store_true", help="the environments and all lines")),
    ),
    Command(
        "versions",
        "run the cases over releases of their libraries",
        "authoring.releases.command:versions",
        (
            CHAPTERS,
            argument(
                "--cluster",
                metavar="ADDRESS",
                help="Dask scheduler; `gpus`: a worker on each GPU of this machine",
            ),
            argument(
                "--release", metavar="VERSION", help="only this one; `newest`: of each library"
            ),
            *(
                argument(
                    f"--as-of-{day}",
                    action="store_const",
                    const=day,
                    dest="as_of",
                    help=f"only with the packages as of {text}",
                )
                for day, text in (("release", "release"), ("today", "today, resolved anew"))
            ),
        ),
    ),
    Command(
        "workshop",
        "copy chapters without solutions",
        "teaching.workshop:command",
        (
            CHAPTERS,
            argument("--into", metavar="FOLDER", type=Path, help="default: _build/workshop"),
        ),
    ),
    Command(
        "grade",
        "run participants' exercises, as you; write a CSV",
        "teaching.grading.answers:grade",
        (
            argument(
                "folder",
                metavar="FOLDER",
                type=Path,
                help="a folder or notebook for each participant",
            ),
            argument(
                "--out",
                metavar="FILE",
                type=Path,
                default=Path("grades.csv"),
                help="default: %(default)s",
            ),
            argument(
                "--limit",
                metavar="SECONDS",
                type=seconds,
                default=120,
                help="for each cell; default: %(default)s",
            ),
            argument(
                "--unprotected",
                action="store_true",
                help="as root, run the code without a sandbox",
            ),
        ),
    ),
    Command(
        "architectures",
        "compile the GPU cells' kernels for readers' GPUs",
        "authoring.architectures:command",
        (CHAPTERS,),
    ),
    Command("lab", "copy the chapters to edit; print the folder", "teaching.lab:command"),
    Command(
        "hunt",
        "search for new faults by generated programs",
        "hunt.command:hunt",
        (
            argument(
                "names",
                nargs="*",
                metavar="TARGET",
                help="default: all that this machine can run",
            ),
            argument("--examples", metavar="N", type=int, help="default: the target's"),
            argument(
                "--pin",
                dest="pins",
                metavar="NAME==VERSION",
                action="append",
                default=[],
                help=RELEASE,
            ),
            argument("--out", dest="folder", metavar="FOLDER", type=Path),
        ),
    ),
)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    whole = argparse.ArgumentParser(
        prog="casebook", description="The tooling of the GPU Python Casebook."
    )
    parsers = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        added = parsers.add_parser(
            command.name, help=command.text, description=command.text.replace("%%", "%")
        )
        for add in command.arguments:
            add(added)
    return whole


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit status: 1 for failures or findings, 2 for wrong use."""
    arguments = vars(parser().parse_args(words))
    name = arguments.pop("command")
    command = next(each for each in COMMANDS if each.name == name)
    module, _, function = command.function.partition(":")
    try:
        if command.needs_book:
            repository.need(f"`{name}`")
        run = getattr(importlib.import_module(f"casebook.{module}"), function)
        status = int(run(**arguments))
        sys.stdout.flush()
        return status
    except CasebookError as error:
        return fail(str(error), error.status)
    except ModuleNotFoundError as error:
        missing = f"`{name}` needs {error.name}, which {sys.executable} lacks"
        return fail(f"{missing}: {repository.remedy()}", 2)
    except BrokenPipeError:  # the reader of the output, such as `head`, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def fail(sentence: str, status: int) -> int:
    """Print why a command ended; returns its exit status."""
    print(f"casebook: {sentence}", file=sys.stderr)
    return status

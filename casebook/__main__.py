"""`python -m casebook COMMAND`: the tooling of the book.

The module of a command is imported when it is called, so that `--help` is quick and a command
needs no package that it does not use.
"""

import os
import sys

if sys.path and os.path.abspath(sys.path[0]) == os.getcwd():
    del sys.path[0]  # `python -m` puts the working folder there: its json.py is not Python's

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from casebook import doctor
from casebook.cells import repository
from casebook.errors import CasebookError

ALONE = {"doctor", "pin", "export"}  # they work without the book's repository


def arguments() -> argparse.ArgumentParser:
    """The parser of all commands; `action` is the "module.function" that a command calls."""
    parser = argparse.ArgumentParser(
        prog="casebook", description="The tooling of the GPU Python Casebook."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chapters = argparse.ArgumentParser(add_help=False)
    chapters.add_argument("names", nargs="*", metavar="CHAPTER", help="default: all")

    def command(
        name: str, action: str, text: str, *parents: argparse.ArgumentParser
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name, help=text, description=text.replace("%%", "%"), parents=parents
        )
        added.set_defaults(action=action)
        return added

    doctor.add_options(command("doctor", "doctor.examine", "find known issues in an environment"))

    new = command("new", "authoring.new.new", "begin a case: notebook, yml, table of contents")
    new.add_argument("slug", metavar="NAME", help="such as lost-stream, or 42-lost-stream")

    pin = command("pin", "authoring.pin.pin", "complete the pins of a chapter's environments")
    pin.add_argument("name", metavar="CHAPTER", help="or a script or cell to print; - for stdin")
    pin.add_argument(
        "--as-of", choices=["release"], help="with packages of the day of the first one's release"
    )

    export = command("export", "execution.export.command", "print a %%%%pinned cell for `uv run`")
    export.add_argument("name", metavar="NOTEBOOK", help="file, or number of a chapter")
    export.add_argument("number", metavar="CELL", type=int, help="number in the cell's brackets")

    prepare = command(
        "prepare", "authoring.prepare.prepare", "create the chapters' environments", chapters
    )
    prepare.add_argument(
        "--all",
        action="store_true",
        dest="every",
        help="without a GPU, create those of GPU cells too",
    )
    prepare.add_argument(
        "--into", metavar="FOLDER", type=Path, help="a folder that all users share"
    )

    command(
        "wheelhouse", "authoring.wheelhouse.fill", "download all wheels for offline use", chapters
    )
    command(
        "execute",
        "authoring.execute.command",
        "run chapters; store outputs and receipts",
        chapters,
    )
    command(
        "confirm",
        "authoring.confirm.confirm",
        "run chapters on another GPU model; add to receipts",
        chapters,
    )
    command("check", "authoring.commands.check", "check chapters as stored; runs nothing", chapters)

    command("facts", "authoring.commands.publish_facts", "write cards and doctor's table")

    versions = command(
        "versions",
        "authoring.releases.command.versions",
        "run the cases over releases of their libraries",
        chapters,
    )
    versions.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="Dask scheduler; `gpus`: a worker on each GPU of this machine",
    )
    versions.add_argument(
        "--release", metavar="VERSION", help="only this one; `newest`: of each library"
    )
    for day, text in (("release", "release"), ("today", "today, resolved anew")):
        versions.add_argument(
            f"--as-of-{day}",
            action="store_const",
            const=day,
            dest="as_of",
            help=f"only with the packages as of {text}",
        )

    hunt = command(
        "hunt", "authoring.hunt.command.hunt", "search for new faults by generated programs"
    )
    hunt.add_argument(
        "names", nargs="*", metavar="TARGET", help="default: all that this machine can run"
    )
    hunt.add_argument("--examples", metavar="N", type=int, help="default: the target's")
    hunt.add_argument(
        "--pin",
        dest="pins",
        metavar="NAME==VERSION",
        action="append",
        default=[],
        help="another release of a package",
    )
    hunt.add_argument("--out", dest="folder", metavar="FOLDER", type=Path)

    workshop = command(
        "workshop", "authoring.commands.make_workshop", "copy the chapters without solutions"
    )
    workshop.add_argument(
        "folder", nargs="?", metavar="FOLDER", type=Path, help="default: _build/workshop"
    )

    grade = command(
        "grade",
        "authoring.grading.answers.grade",
        "run participants' exercises, as you; write a CSV",
    )
    grade.add_argument(
        "folder", metavar="FOLDER", type=Path, help="a folder or notebook for each participant"
    )
    grade.add_argument("--out", metavar="FILE", default="grades.csv", help="default: %(default)s")
    grade.add_argument(
        "--limit",
        metavar="SECONDS",
        type=int,
        default=120,
        help="for each cell; default: %(default)s",
    )

    command(
        "lab", "authoring.commands.copies_for_lab", "copy the chapters to edit; print the folder"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit status: 1 for failures or findings, 2 for wrong use."""
    options = vars(arguments().parse_args(words))
    name, action = options.pop("command"), options.pop("action")
    if name == "pin" and (options["name"] == "-" or Path(options["name"]).is_file()):
        action, options = "environments.pin.pin", {"path": options["name"]}  # without the book
    try:
        if name not in ALONE:
            repository.need(f"`{name}`")
        module, _, function = action.rpartition(".")
        status = getattr(import_module(f".{module}", __package__), function)(**options)
        sys.stdout.flush()
        return int(status)
    except CasebookError as error:
        return fail(str(error), error.status)
    except ModuleNotFoundError as error:
        missing = f"`{name}` needs {error.name}, which {sys.executable} lacks"
        return fail(f"{missing}: {repository.remedy()}", 2)
    except BrokenPipeError:  # the reader of the output, such as `head`, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def fail(sentence: str, status: int) -> int:
    print(f"casebook: {sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())

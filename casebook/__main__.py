"""`python -m casebook COMMAND`: the tooling of the book. `--help` lists the commands.

The module of a command is imported when it is called. So `--help` is quick, and a command needs no more than it uses.
"""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from casebook import doctor
from casebook.cells import repository
from casebook.errors import CasebookError


def arguments():
    parser = argparse.ArgumentParser(prog="python -m casebook", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, action, text, *options, alone=False):
        """Add a command: `action` is "module.function" of this package. `alone`: it works without the book's repository."""
        sub = commands.add_parser(name, help=text, description=text.replace("%%", "%"))
        for option, settings in options:
            sub.add_argument(option, **settings)
        sub.set_defaults(action=action, alone=alone)

    some = (
        "names",
        {"nargs": "*", "metavar": "CHAPTER", "help": "all chapters when none is named"},
    )
    many = (
        "--cluster",
        {
            "metavar": "ADDRESS",
            "help": "of a Dask scheduler; `gpus` for a worker on each GPU of this machine",
        },
    )
    command("doctor", "doctor.examine", doctor.__doc__.splitlines()[0], *doctor.OPTIONS, alone=True)
    command(
        "pin",
        "environments.pin.pin",
        "complete the dependencies of a header",
        ("path", {"metavar": "FILE", "help": "a script or cell; - reads it from standard input"}),
        alone=True,
    )
    command(
        "export",
        "execution.export.command",
        "print a %%%%pinned cell as one file for `uv run`",
        (
            "name",
            {"metavar": "FILE.ipynb", "help": "a notebook, or a chapter of the book by its number"},
        ),
        (
            "number",
            {"metavar": "CELL", "type": int, "help": "the number in the brackets beside the cell"},
        ),
        alone=True,
    )
    command(
        "prepare",
        "authoring.prepare.prepare",
        "make the environments of the chapters",
        some,
        (
            "--all",
            {
                "action": "store_true",
                "dest": "every",
                "help": "those of GPU cells too, on a machine without a GPU",
            },
        ),
        (
            "--into",
            {
                "metavar": "FOLDER",
                "type": Path,
                "help": "a folder for all users of the machine, in place of your own",
            },
        ),
    )
    command(
        "wheelhouse",
        "authoring.wheelhouse.fill",
        "download every wheel that the book needs into wheelhouse/, for a room without network",
        some,
    )
    command(
        "execute",
        "authoring.commands.execute",
        "run chapters on this machine's GPU and store outputs and receipts",
        some,
        many,
    )
    command(
        "check",
        "authoring.commands.check",
        "compare stored outputs with their receipts; runs nothing",
        some,
    )
    command(
        "versions",
        "authoring.releases.command.versions",
        "run the cases over the releases of their libraries and store what each did",
        some,
        (
            "--release",
            {"metavar": "VERSION", "help": "this release alone; `newest`, of each library"},
        ),
        (
            "--as-of-release",
            {
                "action": "store_const",
                "const": "release",
                "dest": "as_of",
                "help": "only with the packages as of release",
            },
        ),
        (
            "--as-of-today",
            {
                "action": "store_const",
                "const": "today",
                "dest": "as_of",
                "help": "only with the packages as of today, resolved anew",
            },
        ),
        many,
    )
    command(
        "workshop",
        "authoring.commands.make_workshop",
        "copy the chapters without solutions and outputs",
        (
            "folder",
            {
                "nargs": "?",
                "metavar": "FOLDER",
                "type": Path,
                "help": "_build/workshop when none is named",
            },
        ),
    )
    command(
        "checked",
        "authoring.grading.check",
        "run the exercises of participants' notebooks and say who solved what; their code is run as you",
        (
            "folder",
            {
                "metavar": "FOLDER",
                "type": Path,
                "help": "a sub-folder or a notebook for each participant",
            },
        ),
        (
            "--out",
            {"metavar": "FILE", "default": "checked.csv", "help": "%(default)s when none is named"},
        ),
        (
            "--limit",
            {
                "metavar": "SECONDS",
                "type": int,
                "default": 120,
                "help": "for each cell; %(default)s when none is named",
            },
        ),
    )
    command(
        "lab",
        "authoring.commands.copies_for_lab",
        "copy the chapters into the reader's own folder (CASEBOOK_LAB) and print its path",
    )
    return parser


def main(words=None):
    """Run a command; returns its exit status. 1 says that it failed or found what it looks for, 2 that it could not begin."""
    options = vars(arguments().parse_args(words))
    name, action, alone = (options.pop(key) for key in ("command", "action", "alone"))
    try:
        if not alone:
            repository.need(f"`{name}`")
        module, _, function = action.rpartition(".")
        status = getattr(import_module(f".{module}", __package__), function)(**options)
        sys.stdout.flush()
        return int(status)
    except CasebookError as error:
        return say(error, error.status)
    except ModuleNotFoundError as error:
        return say(
            f"`{name}` needs {error.name}, which {sys.executable} lacks: {repository.remedy()}", 2
        )
    except BrokenPipeError:  # whoever read the output, such as `head`, has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def say(sentence, status):
    print(f"casebook: {sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())

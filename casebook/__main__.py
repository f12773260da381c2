"""`casebook COMMAND`: the tooling of the book."""

import os
import sys

if sys.path and os.path.abspath(sys.path[0]) == os.getcwd():
    del sys.path[0]  # `python -m` puts the working folder there: its json.py is not Python's

import argparse
from collections.abc import Sequence

from casebook import commands
from casebook.authoring import commands as authoring
from casebook.cells import repository
from casebook.errors import CasebookError
from casebook.hunt import commands as hunting
from casebook.teaching import commands as teaching


def arguments() -> argparse.ArgumentParser:
    """The parser of all commands; each sets `run`, which gets the options."""
    parser = argparse.ArgumentParser(
        prog="casebook", description="The tooling of the GPU Python Casebook."
    )
    parser.set_defaults(needs_book=True)
    found = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for package in (commands, authoring, teaching, hunting):
        package.add(found)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit status: 1 for failures or findings, 2 for wrong use."""
    options = arguments().parse_args(words)
    name = options.command
    try:
        if options.needs_book:
            repository.need(f"`{name}`")
        status = options.run(options)
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

"""The command `hunt`: its parser, and what it runs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.commands import command

if TYPE_CHECKING:
    from casebook.commands import Commands


def add(commands: "Commands") -> None:
    """Add the command `hunt`."""
    hunt = command(commands, "hunt", "search for new faults by generated programs")
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
    hunt.add_argument("--out", metavar="FOLDER", type=Path)
    hunt.set_defaults(run=_hunt)


def _hunt(options: argparse.Namespace) -> int:
    from casebook.hunt.command import hunt

    return hunt(options.names, options.examples, options.pins, options.out)

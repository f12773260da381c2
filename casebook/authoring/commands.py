"""The commands for authors: their parsers, and what each runs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from casebook.cells.repository import ROOT
from casebook.commands import command

if TYPE_CHECKING:
    from casebook.commands import Commands


def add(commands: "Commands") -> None:
    """Add the commands for authors."""
    new = command(commands, "new", "begin a case: notebook, yml, table of contents")
    new.add_argument("slug", metavar="NAME", help="such as lost-stream, or 42-lost-stream")
    new.set_defaults(run=_new)

    pin = command(commands, "pin", "complete the pins of a chapter's environments")
    pin.add_argument("name", metavar="CHAPTER", help="or a script or cell to print; - for stdin")
    pin.add_argument(
        "--as-of", choices=["release"], help="with packages of the day of the first one's release"
    )
    pin.set_defaults(run=_pin, needs_book=False)

    prepare = command(commands, "prepare", "create the chapters' environments", chapters=True)
    prepare.add_argument(
        "--all", action="store_true", help="without a GPU, create those of GPU cells too"
    )
    prepare.add_argument(
        "--into", metavar="FOLDER", type=Path, help="a folder that all users share"
    )
    prepare.set_defaults(run=_prepare)

    execute = command(
        commands, "execute", "run chapters; store outputs and receipts", chapters=True
    )
    execute.set_defaults(run=_execute)

    confirm = command(
        commands, "confirm", "run chapters on another GPU model; add to receipts", chapters=True
    )
    confirm.set_defaults(run=_confirm)

    check = command(commands, "check", "check chapters as stored; runs nothing", chapters=True)
    check.set_defaults(run=_check)

    command(commands, "facts", "write cards and doctor's table").set_defaults(run=_facts)

    reports = command(commands, "reports", "run the programs of Found here; store how they end")
    reports.add_argument("names", nargs="*", metavar="ENTRY", help="default: all")
    reports.add_argument(
        "--pin", default="", metavar="NAME==VERSION", help="another release of a package"
    )
    reports.set_defaults(run=_reports)

    installs = command(
        commands, "installs", "resolve the install lines where readers are", chapters=True
    )
    installs.add_argument("--anew", action="store_true", help="the environments and all lines")
    installs.set_defaults(run=_installs)

    versions = command(
        commands, "versions", "run the cases over releases of their libraries", chapters=True
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
    versions.set_defaults(run=_versions)


def _new(options: argparse.Namespace) -> int:
    from casebook.authoring.new import new

    return new(options.slug)


def _pin(options: argparse.Namespace) -> int:
    if options.name == "-" or Path(options.name).is_file():
        from casebook.environments.pin import pin as pin_text

        return pin_text(options.name)
    from casebook.authoring.pin import pin

    return pin(options.name, options.as_of)


def _prepare(options: argparse.Namespace) -> int:
    from casebook.authoring.prepare import prepare

    return prepare(options.names, options.all, options.into)


def _execute(options: argparse.Namespace) -> int:
    from casebook.authoring.execute import command as execute

    return execute(options.names)


def _confirm(options: argparse.Namespace) -> int:
    from casebook.authoring.confirm import confirm

    return confirm(options.names)


def _check(options: argparse.Namespace) -> int:
    from casebook.authoring.check import check

    return check(options.names)


def _facts(options: argparse.Namespace) -> int:
    from casebook import chapters
    from casebook.authoring.publish import publish

    for path in publish(chapters.load()):
        print(path.relative_to(ROOT))
    return 0


def _reports(options: argparse.Namespace) -> int:
    from casebook.reports.run import reports

    return reports(options.names, options.pin)


def _installs(options: argparse.Namespace) -> int:
    from casebook.authoring.installs import command

    return command(options.names, options.anew)


def _versions(options: argparse.Namespace) -> int:
    from casebook.authoring.releases.command import versions

    return versions(options.names, options.release, options.as_of, options.cluster)

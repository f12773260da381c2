"""From header to interpreter: each distinct environment is created once, with uv, and shared.

It is taken from the first folder that holds it complete: those that CASEBOOK_ENVIRONMENTS names,
then the user's own, where it is created.
"""

import json
import os
import subprocess
from pathlib import Path

from packaging.utils import canonicalize_name

from casebook.cells.header import Header
from casebook.environments import uv
from casebook.environments.bytecode import share
from casebook.environments.store import (
    cache,
    create_atomically,
    explain_disk_errors,
    first_private_parent,
    make_world_readable,
    shared_folders,
)
from casebook.environments.uv import Report, silent
from casebook.environments.venv import Environment
from casebook.errors import EnvironmentFailure

_made: dict[tuple[str, Path | None], Environment] = {}
# Ranges of Pythons of which uv found none: several attempts to download one take half a minute.
_tried: set[str] = set()


def make(header: Header, report: Report = silent, into: Path | None = None) -> Environment:
    """Environment of a header, complete and checked; created when it is not there.

    `into` is a folder that others will share, in place of the user's own. Raises EnvironmentFailure
    where it cannot be created, or where the header's dependencies are incomplete.
    """
    environment = sync(header, report, into)
    check_closure(header, environment)
    return environment


def sync(header: Header, report: Report = silent, into: Path | None = None) -> Environment:
    """Environment of a header, without a look at its closure."""
    known = _made.get((header.environment_key, into))
    if not known or not known.python.exists():
        found, notes = (None, []) if into else find_shared(header)
        known = found or create(header, report, into, notes)
        _made[header.environment_key, into] = known
    return known


def find_shared(header: Header) -> tuple[Environment | None, list[str]]:
    """The environment in the first shared folder that holds it complete, or None.

    With it come sentences that say why it was not taken from others.
    """
    notes: list[str] = []
    for folder in shared_folders():
        found = Environment.at(folder / "environments" / header.environment_key, shared=True)
        if found.root.exists():
            if not (damage := found.damage(header)):
                return found, notes
            notes.append(f"the environment in {folder} is damaged: {damage}")
        elif not os.access(folder / "environments", os.R_OK | os.X_OK):
            notes.append(f"{folder}, which CASEBOOK_ENVIRONMENTS names, cannot be read")
    return None, notes


def create(header: Header, report: Report, into: Path | None, notes: list[str]) -> Environment:
    """The environment in the user's own folder, or `into`; created where it is not complete.

    `notes` are reported only when it is created.
    """
    store = into or cache()
    root = store / "environments" / header.environment_key
    damage = ""

    def complete(root: Path) -> bool:
        nonlocal damage
        damage = Environment.at(root).damage(header) if root.exists() else ""
        return root.exists() and not damage

    def fill(partial: Path) -> None:
        if damage:
            notes.append(f"the environment in {root} was damaged ({damage}) and is created anew")
        for note in notes:
            report(note)
        install(header, partial, report, into)

    with explain_disk_errors(store):
        create_atomically(root, fill, report, complete)
    return Environment.at(root, notes=tuple(notes))


def install(header: Header, partial: Path, report: Report, into: Path | None) -> None:
    """Create the environment of a header in a new folder, which may get another name."""
    extra = variables_for_all(into) if into else {}
    create_venv(header, partial, report, into, extra)
    created = Environment.at(partial)
    if header.dependencies:
        pins = "pip", "install", "--python", created.python, *header.dependencies
        status, text = uv.run(silent, *pins, "--offline", folder=partial, extra=extra)
        damaged = "wheel is invalid" in text if status else created.damage(header)
        if status or damaged:
            again = ["--reinstall"] if damaged else []  # past the files in uv's cache
            status, text = uv.run(report, *pins, *again, folder=partial, extra=extra)
        if status:
            raise uv.failure(text, header, into or cache().parent)
    if into:
        make_world_readable(partial)
    else:
        share(created.site, cache() / "bytecode")


def create_venv(
    header: Header, partial: Path, report: Report, into: Path | None, extra: dict[str, str]
) -> None:
    """An environment without packages; `relocatable` keeps its path out of its scripts."""

    def venv(python: str | Path) -> Path:
        options = "--no-project", "--relocatable", "--clear", "--python", python
        again = header.requires_python in _tried
        offline = {"UV_PYTHON_DOWNLOADS": "never"} if again else {}
        status, text = uv.run(report, "venv", *options, partial, extra=extra | offline)
        if status:
            _tried.add(header.requires_python)
            raise uv.failure(text, header, into or cache().parent)
        return (partial / "bin" / "python").resolve()

    python = venv(header.requires_python)
    if into and first_private_parent(python):
        if python.is_relative_to(into):  # downloaded by uv, maybe just now
            make_world_readable(into / "python")
        else:
            venv(first_public(installed_pythons(header), into))


def first_public(pythons: list[Path], into: Path) -> Path:
    """The first of some interpreters that every user can run."""
    for python in pythons:
        if not first_private_parent(python):
            return python
    raise EnvironmentFailure(
        "other users cannot run any Python that the cells need: install one for all, "
        f"`uv python install --install-dir {into}/python 3.12`, then try again"
    )


def installed_pythons(header: Header) -> list[Path]:
    """The installed interpreters that a header allows, as uv finds them."""
    command = [uv.executable(), "python", "list", "--only-installed", "--output-format=json"]
    found = subprocess.run(
        [*command, header.requires_python], env=uv.variables(), capture_output=True, text=True
    )
    return [Path(python["path"]) for python in json.loads(found.stdout or "[]")]


def check_closure(header: Header, environment: Environment) -> None:
    """Compare the packages that are installed with those that the header declares."""
    declared = {canonicalize_name(r.name) for r in header.requirements}
    undeclared = sorted(
        f"{name}=={version}"
        for name, version in environment.installed().items()
        if name not in declared
    )
    if undeclared:
        raise EnvironmentFailure(
            f"dependencies is incomplete: add {', '.join(undeclared)} "
            "(in a chapter of the book, `casebook pin` writes them); "
            f"if something was installed by hand, remove {environment.root}"
        )


def variables_for_all(folder: Path) -> dict[str, str]:
    """Variables with which uv fills a folder for all users, and uses the Pythons in it."""
    return cache_on_same_filesystem(folder) | {
        "UV_PYTHON_INSTALL_DIR": str(folder / "python"),
        "UV_COMPILE_BYTECODE": "1",
        "UV_LINK_MODE": "hardlink",
    }


def cache_on_same_filesystem(folder: Path) -> dict[str, str]:
    """A variable that gives uv a cache in a folder where its own is on another file system.

    From a cache on the same one, files are linked, not copied.
    """
    usual = Path(os.environ.get("UV_CACHE_DIR") or cache().parent / "uv")
    same = usual.exists() and usual.stat().st_dev == folder.stat().st_dev
    return {} if same else {"UV_CACHE_DIR": str(folder / "uv")}

"""From header to interpreter: each distinct environment is made once, with uv; all cells and chapters share it.

It is taken from the first folder that holds it whole: those that CASEBOOK_ENVIRONMENTS names, then one's own, where it is made.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from packaging.utils import canonicalize_name

from casebook.cells.repository import ROOT
from casebook.environments.bytecode import share
from casebook.environments.store import (
    cache,
    closed_to_some,
    make_once,
    open_to_all,
    shared,
    writing,
)
from casebook.environments.venv import Environment, cannot_start, lost_file
from casebook.errors import EnvironmentFailure

WHEELHOUSE = ROOT / "wheelhouse"  # in a clone, one more place where uv finds packages
FOREIGN = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX")

_made = {}


def make(header, report=lambda line: None, into=None):
    """Environment of a header, complete and checked; made when it is not there. `report` gets lines of progress.

    `into` is a folder that others will share, in place of one's own. Raises EnvironmentFailure where the environment cannot be made,
    or where the header's dependencies are not the complete closure.
    """
    environment = sync(header, report, into)
    check_closure(header, environment)
    return environment


def sync(header, report=lambda line: None, into=None):
    """Environment of a header, without a look at its closure."""
    known = _made.get((header.environment_key, into))
    if known and known.python.exists():
        return known
    found, notes = (None, []) if into else of_others(header)
    _made[header.environment_key, into] = found or own(header, report, into, notes)
    return _made[header.environment_key, into]


def of_others(header):
    """The environment in the first shared folder that holds it whole, or None; and why it was not taken from others, in sentences."""
    notes = []
    for folder in shared():
        found = Environment.at(folder / "environments" / header.environment_key, shared=True)
        if found and not (
            lost := cannot_start(found.python) or lost_file(found.site) or found.lacks(header)
        ):
            return found, notes
        if found:
            notes.append(f"the environment in {folder} is damaged: {lost} is missing")
        elif not os.access(folder / "environments", os.R_OK | os.X_OK):
            notes.append(f"{folder}, which CASEBOOK_ENVIRONMENTS names, cannot be read")
    return None, notes


def own(header, report, into, notes):
    """The environment in one's own folder (or `into`), made where it is not there; then `notes` belong to its progress."""
    store = into or cache()
    root = store / "environments" / header.environment_key

    def whole(root):
        found = Environment.at(root)
        return found is not None and not found.lacks(header)

    def fill(half):
        for note in notes:
            report(note)
        install(header, half, report, into)

    with writing(store):
        make_once(root, fill, report, whole)
    return Environment.at(root)


def install(header, half, report, into):
    """Make the environment of a header in a new folder, which may get another name: `relocatable` keeps its path out of its scripts."""
    create(header, header.requires_python, half, report, into)
    python = half / "bin" / "python"
    if (
        into
        and (readable := readable_python([python.resolve(), *pythons(header)], into))
        != python.resolve()
    ):
        create(header, readable, half, report, into)
    pins = ["pip", "install", "--python", python, *header.dependencies]
    variables = (
        one_disk(into) | {"UV_COMPILE_BYTECODE": "1", "UV_LINK_MODE": "hardlink"} if into else {}
    )
    status, _ = (
        ask(lambda line: None, *pins, "--offline", folder=half, variables=variables)
        if header.dependencies
        else (0, "")
    )
    if status:
        status, said = ask(report, *pins, folder=half, variables=variables)
        if status:
            raise EnvironmentFailure(explain(said, header, into or cache().parent))
    if into:
        open_to_all(half)
    else:
        share(Environment.at(half).site, cache() / "bytecode")


def create(header, python, half, report, into):
    """An environment without packages, for a Python or a range of versions."""
    status, said = ask(
        report, "venv", "--no-project", "--relocatable", "--clear", "--python", python, half
    )
    if status:
        raise EnvironmentFailure(explain(said, header, into or cache().parent))


def readable_python(pythons, into):
    """The first of some interpreters that every user can run."""
    found = next((python for python in pythons if not closed_to_some(python)), None)
    if not found:
        raise EnvironmentFailure(
            f"other users cannot read {pythons[0]}: install a Python for all of them, "
            f"`uv python install --install-dir {into}/python 3.12 && chmod -R a+rX {into}/python`"
        )
    return found


def pythons(header):
    """The installed interpreters that a header allows, as uv finds them."""
    command = [
        uv(),
        "python",
        "list",
        "--only-installed",
        "--output-format",
        "json",
        header.requires_python,
    ]
    listed = subprocess.run(
        command,
        env=uv_variables(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return [Path(python["path"]) for python in json.loads(listed.stdout)]


def check_closure(header, environment):
    """Compare what is installed with what the header declares."""
    declared = {
        canonicalize_name(r.name): next(iter(r.specifier)).version for r in header.requirements
    }
    undeclared = sorted(
        f"{name}=={version}"
        for name, version in environment.installed().items()
        if name not in declared
    )
    if undeclared:
        raise EnvironmentFailure(
            f"dependencies is not the complete closure: add {', '.join(undeclared)} "
            "(`python -m casebook pin` writes them)"
        )


def uv():
    """Path of uv: the one beside this Python, else the one on the PATH."""
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if not found:
        raise EnvironmentFailure("uv is not installed: `pip install uv`, then run the cell again")
    return found


def uv_variables():
    """The environment variables for uv, those of another Python left out."""
    chosen = {key: value for key, value in os.environ.items() if key not in FOREIGN} | {
        "NO_COLOR": "1"
    }
    places = os.environ.get("UV_FIND_LINKS"), WHEELHOUSE.is_dir() and str(WHEELHOUSE)
    return chosen | {"UV_FIND_LINKS": ",".join(filter(None, places))}


def one_disk(folder):
    """Variables for uv that let a folder share its files with uv's cache: one of its own where that is on another file system."""
    usual = Path(os.environ.get("UV_CACHE_DIR") or cache().parent / "uv")
    same = usual.exists() and usual.stat().st_dev == folder.stat().st_dev
    return {} if same else {"UV_CACHE_DIR": str(folder / "uv")}


def ask(report, *arguments, folder=None, variables=()):
    """Run uv, in a folder; `report` gets the lines of its progress. Returns its exit status and what it said."""
    command = [uv(), *map(str, arguments), "--no-progress"]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=uv_variables() | dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        lines = []
        for line in process.stderr:
            lines.append(line)
            report(line.strip())
    if process.returncode == -signal.SIGINT:
        raise KeyboardInterrupt  # Ctrl-C reaches uv, too, and is no answer of its
    return process.returncode, "".join(lines)


def explain(text, header, folder):
    """What uv said about an environment for `folder`, as one sentence for a reader who has never heard of uv."""
    names = [f"{r.name}=={next(iter(r.specifier)).version}" for r in header.requirements]
    if "No space left on device" in text:
        return f"cannot make an environment of {len(names)} packages in {folder}: No space left on device"
    if re.search(
        r"No interpreter found|Failed to inspect Python interpreter|python-build-standalone", text
    ):
        return f"no Python {header.requires_python} on this machine, and uv could not fetch one"
    if re.search(
        r"dns error|Network|network|Failed to fetch|Failed to download|Could not connect|request for url",
        text,
    ):
        named = [n for n in names if re.search(rf"[/`]{n.split('==')[0]}[/`=]", text)] or names
        return f"no network, or no answer: {' or '.join(named)} could not be downloaded"
    if reason := contradiction(text):
        return f"the dependencies cannot be installed together: {reason}"
    return "uv could not make the environment:\n" + text.strip()


def contradiction(text):
    """Why there is no set of packages, as uv said; "" where it said something else."""
    found = re.search(r"(?s)No solution found.*?cause: (.*?)(?:\n\s*\n|$)", text)
    return " ".join(found[1].split()) if found else ""

"""uv: where it is, how it is run, and what its failures mean."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from casebook.cells.header import Header
from casebook.environments.guard import guarded_group
from casebook.errors import DownloadFailure, EnvironmentFailure, MissingPython

FOREIGN = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX")

Report = Callable[[str], object]  # gets lines of progress


def silent(line: str) -> None:
    """A Report that shows nothing."""


def executable() -> str:
    """Path of uv: the one beside this Python, else the one on the PATH."""
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if not found:
        raise EnvironmentFailure("uv is not installed: `pip install uv`, then run the cell again")
    return found


def variables() -> dict[str, str]:
    """The environment variables for uv, those of another Python left out."""
    chosen = {key: value for key, value in os.environ.items() if key not in FOREIGN}
    return chosen | {"NO_COLOR": "1"}


def run(
    report: Report,
    *arguments: object,
    folder: Path | None = None,
    extra: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run uv in a folder; it ends with this process. Returns its exit status and its messages."""
    lines = []
    with (
        guarded_group() as group,
        subprocess.Popen(
            [executable(), *map(str, arguments), "--no-progress"],
            cwd=folder,
            env=variables() | dict(extra or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=group,
        ) as process,
    ):
        try:
            for line in process.stderr or ():
                lines.append(line)
                if not line.startswith("Activate with"):  # of no use: cells do not activate it
                    report(line.strip())
            return process.wait(), "".join(lines)
        finally:
            os.killpg(group, signal.SIGKILL)


def failure(text: str, header: Header, folder: Path) -> EnvironmentFailure:
    """The error for what uv wrote about an environment in `folder`: a sentence without jargon."""
    names = [f"{r.name}=={next(iter(r.specifier)).version}" for r in header.requirements]
    if "No space left on device" in text:
        return EnvironmentFailure(
            f"cannot create an environment of {len(names)} packages in {folder}: "
            "No space left on device"
        )
    if re.search(
        r"No interpreter found|Failed to inspect Python interpreter|python-build-standalone", text
    ):
        return MissingPython(
            f"no Python {header.requires_python} on this machine, and uv could not download one: "
            "install one, then try again; or restart the kernel to try the download again"
        )
    if re.search(
        r"dns error|[Nn]etwork|Failed to (fetch|download)|Could not connect|request for url", text
    ):
        packages = [n for n in names if re.search(rf"[/`]{n.split('==')[0]}[/`=]", text)] or names
        return DownloadFailure(f"cannot download {' or '.join(packages)}: no network, or no answer")
    if reason := conflict(text):
        return EnvironmentFailure(f"the dependencies cannot be installed together: {reason}")
    return EnvironmentFailure("uv could not create the environment:\n" + text.strip())


def conflict(text: str) -> str:
    """Why there is no set of packages, in uv's words; "" where it failed otherwise."""
    found = re.search(r"(?s)No solution found.*?cause: (.*?)(?:\n\s*\n|$)", text)
    return " ".join(found[1].split()) if found else ""

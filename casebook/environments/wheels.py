"""Whether each pin of a header has a wheel for each Python that its requires-python promises."""

import hashlib
import subprocess
import sys
from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from casebook.cells.header import Header
from casebook.environments import uv
from casebook.environments.store import cache
from casebook.errors import DownloadFailure

PYTHONS = "3.11", "3.12", "3.13"
PLATFORM = "x86_64-manylinux_2_28"


def missing_wheels(header: Header) -> Iterator[str]:
    """A sentence for each Python that is promised and for which a pin has no wheel.

    Raises DownloadFailure where the index cannot be asked. Complete sets are remembered.
    """
    allowed = SpecifierSet(header.requires_python)
    for python in PYTHONS:
        if any(allowed.contains(f"{python}.{patch}") for patch in range(100)):
            text = "\n".join([*sorted(header.dependencies), f"# {python} {PLATFORM}"])
            complete = cache() / "wheels" / hashlib.sha256(text.encode()).hexdigest()
            if complete.exists():
                continue
            if reason := refusal(text, python, header):
                yield f"requires-python promises {python}, for which wheels are missing: {reason}"
            else:
                complete.parent.mkdir(parents=True, exist_ok=True)
                complete.touch()


def refusal(pins: str, python: str, header: Header) -> str:
    """Why pins, one a line, cannot be installed from wheels alone; "" where they can."""
    command = [uv.executable(), "pip", "compile", "-", "--no-deps", "--only-binary=:all:"]
    command += ["--python", sys.executable, "--python-version", python, "--no-python-downloads"]
    command += ["--python-platform", PLATFORM]
    answer = subprocess.run(command, input=pins, env=uv.variables(), capture_output=True, text=True)
    if answer.returncode == 0:
        return ""
    error = uv.failure(answer.stderr, header, cache())
    if isinstance(error, DownloadFailure):
        raise error
    return uv.conflict(answer.stderr) or str(error)

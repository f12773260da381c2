"""Whether each pin of a header has a wheel for each Python that its requires-python promises.

Known wheels are remembered in the cache, one `PYTHON PIN` a line, so each is asked for once.
"""

import subprocess
from collections.abc import Iterable
from itertools import groupby, zip_longest
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from casebook.cells.header import Header
from casebook.environments import uv
from casebook.environments.store import cache, write_atomically
from casebook.errors import DownloadFailure

PYTHONS = "3.11", "3.12", "3.13"
PLATFORM = "x86_64-manylinux_2_28"


def promised(header: Header) -> list[str]:
    """Those of PYTHONS that requires-python allows."""
    allowed = SpecifierSet(header.requires_python)
    return [p for p in PYTHONS if any(allowed.contains(f"{p}.{n}") for n in range(100))]


def without_wheel(headers: Iterable[Header]) -> set[tuple[str, str]]:
    """The (Python, pin) of these headers for which there is no wheel.

    Raises DownloadFailure where the index cannot be asked.
    """
    wanted = {(python, pin) for h in headers for python in promised(h) for pin in h.dependencies}
    file = cache() / "wheels.txt"
    known = {tuple(line.split(" ", 1)) for line in lines(file)}
    missing = {
        (python, pin)
        for python in PYTHONS
        for batch in batches(pin for p, pin in wanted - known if p == python)
        for pin in refused(batch, python)
    }
    if found := wanted - known - missing:
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(f"{python} {pin}" for python, pin in sorted(known | found))
        write_atomically(file, text.encode())
    return missing


def lines(file: Path) -> list[str]:
    return file.read_text("utf8").splitlines() if file.exists() else []


def batches(pins: Iterable[str]) -> list[list[str]]:
    """Pins as lists without two versions of one package, which no installer takes in one call."""
    versions = [list(same) for _, same in groupby(sorted(pins), lambda pin: pin.partition("==")[0])]
    return [list(filter(None, batch)) for batch in zip_longest(*versions)]


def refused(pins: list[str], python: str) -> list[str]:
    """The pins for which there is no wheel; uv names one at a time."""
    command = [uv.executable(), "pip", "compile", "-", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", python, "--python-platform", PLATFORM, "--no-python-downloads"]
    asked = subprocess.run(
        command, input="\n".join(pins), env=uv.variables(), capture_output=True, text=True
    )
    if asked.returncode == 0:
        return []
    reason = uv.conflict(asked.stderr)
    named = [
        pin for pin in pins if f"{exact(pin)} has no" in reason or f"of {exact(pin)} " in reason
    ]
    if not named:
        raise DownloadFailure(f"cannot ask for wheels: {' '.join(asked.stderr.split())}")
    return named + refused([pin for pin in pins if pin not in named], python)


def exact(pin: str) -> str:
    """A pin as uv names it: without extras and marker."""
    requirement = Requirement(pin)
    return f"{requirement.name}{requirement.specifier}"

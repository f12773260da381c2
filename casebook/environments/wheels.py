"""Whether each pin of a header has a wheel for each Python that its requires-python promises.

Known wheels are remembered in the cache, one `PYTHON PIN` a line, so each is asked for once.
"""

import re
import subprocess
from collections.abc import Iterable
from itertools import groupby, zip_longest

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
    lines = file.read_text("utf8").splitlines() if file.exists() else []
    known = {tuple(line.split(" ", 1)) for line in lines}
    missing = {
        (python, pin)
        for python in PYTHONS
        for batch in batches(pin for p, pin in wanted - known if p == python)
        for pin in refused(batch, python)
    }
    if found := wanted - known - missing:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, "\n".join(map(" ".join, sorted(known | found))).encode())
    return missing


def batches(pins: Iterable[str]) -> list[list[str]]:
    """Pins as lists without two versions of one package, which no installer takes in one call."""
    versions = [list(same) for _, same in groupby(sorted(pins), lambda pin: pin.partition("==")[0])]
    return [list(filter(None, batch)) for batch in zip_longest(*versions)]


def refused(pins: list[str], python: str) -> list[str]:
    """The pins for which there is no wheel; uv names one at a time."""
    options = f"--python-version {python} --python-platform {PLATFORM} --no-python-downloads"
    command = "pip compile - --no-deps --only-binary=:all: " + options
    answer = subprocess.run(
        [uv.executable(), *command.split()],
        input="\n".join(pins),
        env=uv.variables(),
        capture_output=True,
        text=True,
    )
    if answer.returncode == 0:
        return []
    reason = uv.conflict(answer.stderr)
    told = [re.escape(pin.partition(";")[0]) + " (has no|and you)" for pin in pins]
    named = [pin for pin, text in zip(pins, told, strict=True) if re.search(text, reason)]
    if not named:
        raise DownloadFailure(f"cannot ask for wheels: {' '.join(answer.stderr.split())}")
    return named + refused([pin for pin in pins if pin not in named], python)

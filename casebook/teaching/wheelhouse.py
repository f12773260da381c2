"""`make wheelhouse`: every wheel that the book needs on this machine's Pythons, in one folder.

The wheels of .venv, uv among them, and those of the chapters' environments. A clone whose folder
`wheelhouse` holds them installs from there, without a network.
"""

import re
import subprocess
import sys
from collections.abc import Iterable
from itertools import groupby, zip_longest
from pathlib import Path

from casebook import chapters
from casebook.cells.header import Header
from casebook.cells.repository import ROOT
from casebook.environments import create
from casebook.environments.uv import WHEELHOUSE
from casebook.errors import CasebookError

PIP = Header(">=3.11", ("pip==26.3",))  # uv itself downloads only what it installs


def fill(names: list[str]) -> int:
    """Download what the environments of these chapters, or of all, and .venv need."""
    headers = chapters.distinct(h for book in chapters.load(names) for h in book.headers(gpu=True))
    download(sys.executable, ["--require-hashes", "-r", str(ROOT / "requirements.txt")])
    for python, pins in sorted(pins_by_python(headers).items()):
        for batch in batches(pins):
            download(python, batch)
    sizes = [wheel.stat().st_size for wheel in WHEELHOUSE.glob("*.whl")]
    print(f"{len(sizes)} wheels, {sum(sizes) / 1e9:.2f} GB: {WHEELHOUSE}")
    return 0


def pins_by_python(headers: Iterable[Header]) -> dict[Path, set[str]]:
    """The pins of headers by the interpreter that uv takes for them."""
    found: dict[Path, set[str]] = {}
    for header in headers:
        python = create.sync(Header(header.requires_python, ())).python
        found.setdefault(python.resolve(), set()).update(header.dependencies)
    return found


def batches(pins: Iterable[str]) -> list[list[str]]:
    """Pins as lists without two versions of one package, which no installer takes in one call."""
    versions = [list(same) for _, same in groupby(sorted(pins), lambda pin: pin.partition("==")[0])]
    return [list(filter(None, batch)) for batch in zip_longest(*versions)]


def download(python: str | Path, wanted: list[str]) -> None:
    """Let pip download wheels for an interpreter; prints a line for each new one."""
    pip = create.sync(PIP).python
    command: list[str | Path] = [pip, "-m", "pip", "--python", python, "download"]
    command += ["--only-binary=:all:", "--no-deps", "--dest", WHEELHOUSE]
    command += ["--progress-bar=off", "--disable-pip-version-check", *wanted]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            if new := re.match(r"\s*(?:Downloading|Using cached) (\S+\.whl) \((.+)\)", line):
                print(f"{new[1]}, {new[2]}", flush=True)
    if process.returncode:
        raise CasebookError("cannot download the wheels; pip's messages:\n" + "".join(lines[-5:]))

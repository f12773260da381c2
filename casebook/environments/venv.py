"""One environment on disk, and whether it is complete."""

import csv
import functools
import importlib.metadata
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from casebook.cells.header import Header


@dataclass(frozen=True)
class Environment:
    """One environment on disk: its interpreter, its root folder and its site-packages.

    `shared`: it lies in a folder that is only read. `notes`: why other ones were not taken.
    """

    python: Path
    root: Path
    site: Path
    shared: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def at(cls, root: Path, shared: bool = False, notes: tuple[str, ...] = ()) -> "Environment":
        """The environment in a folder, which may be damaged."""
        site = next(root.glob("lib/python3.*/site-packages"), root)
        return cls(root / "bin" / "python", root, site, shared, notes)

    @property
    def configured(self) -> dict[str, str]:
        """The settings in pyvenv.cfg; none where it cannot be read."""
        path = self.root / "pyvenv.cfg"
        text = path.read_text(errors="replace") if os.access(path, os.R_OK) else ""
        return dict(re.findall(r"(?m)^(\S+) = (.+)$", text))

    @property
    def base(self) -> Path:
        """Folder of the Python installation behind the environment."""
        return Path(self.configured["home"]).parent

    def installed(self) -> dict[str, str]:
        """Versions of the installed packages by canonical name."""
        return {
            canonicalize_name(d.name): d.version
            for d in importlib.metadata.distributions(path=[str(self.site)])
            if d.name
        }

    def damage(self, header: Header) -> str:
        """The first thing that is missing or changed, as a clause; "" for nothing.

        Files are compared by size: that takes about 10 ms for a thousand.
        """
        if not self.root.is_dir():
            return "a file, no folder"
        python = os.path.realpath(self.python)
        if started_as(python) != self.site.parent.name:
            return f"{python} does not start as its Python"
        if not (version := self.configured.get("version_info")):
            return "pyvenv.cfg is missing or cut off"
        if file := missing_file(self.site):
            return f"{file} is missing or changed"
        if file := added_file(self.site):
            return f"{file} belongs to no package"
        try:
            lacking = lacks(header, version, self.installed())
        except (OSError, ValueError):  # bytes that are not UTF-8
            return "the metadata of a package cannot be read"
        return lacking and f"{lacking} is missing"


def lacks(header: Header, python: str, installed: dict[str, str]) -> str:
    """The pins of a header that are not installed; `python` is a full version."""
    names = {
        "python_full_version": python,
        "python_version": ".".join(python.split(".")[:2]),
    }
    return " ".join(
        f"{r.name}{r.specifier}"
        for r in header.requirements
        if (not r.marker or r.marker.evaluate(names))
        and not r.specifier.contains(installed.get(canonicalize_name(r.name), "0.dev0"), True)
    )


def missing_file(site: Path) -> str:
    """The first file of the packages in a folder that is not there with its size; "" for none."""
    for record in site.glob("*.dist-info/RECORD"):
        name = str(record.relative_to(site))
        try:
            with record.open(encoding="utf-8", newline="") as lines:
                for name, _, size in csv.reader(lines):
                    kept = size and not name.endswith(".pyc")
                    if kept and os.stat(f"{site}/{name}").st_size != int(size):
                        return name
        except (OSError, ValueError):  # not there, not readable, or cut off
            return name
    return ""


def added_file(site: Path) -> str:
    """The first file beside the packages that none of them lists, such as a .pth; "" for none."""
    files = {entry.name for entry in os.scandir(site) if entry.is_file()}
    files -= {"_virtualenv.py", "_virtualenv.pth"}  # of older releases of uv
    for record in site.glob("*.dist-info/RECORD") if files else ():
        files -= {line.partition(",")[0] for line in record.read_text("utf-8").splitlines()}
    return min(files, default="")


@functools.cache
def started_as(python: str) -> str:
    """The name of the folder for a Python's packages, such as "python3.12", as it tells itself.

    "" where it does not start. A process asks each interpreter once, which takes about 15 ms.
    """
    code = "import sys; print('python%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run(
            [python, "-BISc", code], capture_output=True, text=True, errors="replace"
        ).stdout.strip()
    except OSError:
        return ""

"""One environment on disk, and whether it is whole."""

import csv
import importlib.metadata
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class Environment:
    """One environment on disk: its interpreter, its root folder and its site-packages; `shared`: in a folder that is only read."""

    python: Path
    root: Path
    site: Path
    shared: bool = False

    @classmethod
    def at(cls, root, shared=False):
        """The environment in a folder, or None."""
        site = next(root.glob("lib/python3.*/site-packages"), None)
        return site and cls(root / "bin" / "python", root, site, shared)

    @property
    def base(self):
        """Folder of the Python installation behind the environment."""
        return Path(self.configured["home"]).parent

    @property
    def configured(self):
        """What pyvenv.cfg says: nothing, where it is not there."""
        path = self.root / "pyvenv.cfg"
        return dict(
            re.findall(r"(?m)^(\S+) = (.+)$", path.read_text() if os.access(path, os.R_OK) else "")
        )

    def installed(self):
        """Versions of the installed packages by canonical name."""
        return {
            canonicalize_name(d.name): d.version
            for d in importlib.metadata.distributions(path=[str(self.site)])
            if d.name
        }

    def lacks(self, header):
        """What is missing for a header, the interpreter or packages; "" for nothing."""
        if not os.access(self.python, os.X_OK):
            return f"its Python {os.path.realpath(self.python)}"
        version = self.configured.get("version_info")
        if not version:
            return "pyvenv.cfg"
        python = {
            "python_full_version": version,
            "python_version": ".".join(version.split(".")[:2]),
        }
        wanted = [r for r in header.requirements if not r.marker or r.marker.evaluate(python)]
        installed = self.installed()
        return " ".join(
            f"{r.name}{r.specifier}"
            for r in wanted
            if not pinned(r, installed.get(canonicalize_name(r.name)))
        )


def pinned(requirement, version):
    """True when an installed version (None for none) is the one that a requirement names."""
    return version is not None and requirement.specifier.contains(version, prereleases=True)


def lost_file(site):
    """The first file of the packages in a folder that is not there with its size: a copy may have stopped half way; "" for none."""
    for record in site.glob("*.dist-info/RECORD"):
        try:
            with record.open(encoding="utf-8", newline="") as lines:
                for name, _, size in csv.reader(lines):
                    if size and not name.endswith(".pyc") and size_of(site / name) != int(size):
                        return name
        except (OSError, ValueError):  # not readable, or cut off
            return str(record.relative_to(site))
    return ""


def size_of(path):
    return path.stat().st_size if path.exists() else None


def cannot_start(python):
    """What a Python that does not start lacks: the folder was moved, or its library may not be read; "" for one that starts."""
    try:
        started = (
            subprocess.run([python, "-I", "-S", "-c", ""], capture_output=True).returncode == 0
        )
    except OSError:
        started = False
    return "" if started else f"its Python {os.path.realpath(python)}"

"""Builds the folder that a header names, with the header's own pins, once for each distinct build.

The pins hold the build tools too (scikit-build-core, cmake, ninja, nanobind), so nothing is fetched. The folder is told its
mode, cuda or host, because a compiler for CUDA on a machine does not mean that it has a GPU.
"""

import hashlib
import os
import re
from pathlib import Path

from casebook.cells.repository import ROOT
from casebook.cells.stamp import tree
from casebook.environments import gpu
from casebook.environments.create import ask
from casebook.environments.store import cache, make_once, open_to_all, shared
from casebook.environments.venv import lost_file
from casebook.errors import EnvironmentFailure

SHOWN = 30  # lines of a failing build that are shown
UNITY = "CMAKE_UNITY_BUILD=ON"  # the same headers are read once
QUICKER = UNITY, "CMAKE_CUDA_COMPILER=NOTFOUND"  # mode host: nor is nvcc tried

HINTS = [  # what a failing build says, and what its reader needs
    (
        r"No CMAKE_CXX_COMPILER could be found|CMAKE_CXX_COMPILER-NOTFOUND",
        "a C++ compiler (Debian, Ubuntu: `apt install g++`)",
    ),
    (
        r"missing:.*Development\.Module|Python\.h: No such file",
        "Python's headers (Debian, Ubuntu: `apt install python3-dev`)",
    ),
    (r"needs nvcc", "nvcc of a CUDA toolkit, 12 or 13; no wheel of the header brings it"),
    (
        r"unsupported GNU version",
        "an older g++: name it in NVCC_CCBIN, or take a newer CUDA toolkit",
    ),
]


def build(header, environment, report=lambda line: None, into=None):
    """Folder with the built modules, to be put on the path of the header's scripts; built when it is not there.

    `into` is a folder that others will share, in place of one's own.
    """
    source, mode = source_of(header), "cuda" if header.gpu else "host"
    name = key(header, environment, source, mode)
    for place in [] if into else shared():
        modules = place / "builds" / name / "site-packages"
        if os.access(modules, os.R_OK) and not lost_file(modules):
            return modules

    def fill(half):
        report(f"compiling {header.build}, mode {mode}")
        install(source, mode, environment, half / "site-packages", report)
        if into:
            open_to_all(half)

    return make_once((into or cache()) / "builds" / name, fill, report) / "site-packages"


def source_of(header):
    """The folder that the header names: of the clone that the notebook lies in, else of the one that holds this package."""
    here = Path.cwd()
    for place in (here, *here.parents, ROOT):
        if (place / header.build / "pyproject.toml").exists():
            return place / header.build
    raise EnvironmentFailure(
        f"this cell builds {header.build}/, which is not installed with casebook: "
        "open the notebook from a clone of the book"
    )


def key(header, environment, source, mode):
    """Name of a build: what it is made of, by what, and for which GPU."""
    target = gpu.find().compute_capability if mode == "cuda" and gpu.find() else ""
    text = "\n".join(
        [
            header.environment_key,
            environment.site.parent.name,
            *settings(mode),
            target,
            tree(source),
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def settings(mode):
    """What CMake is told."""
    return f"MODE={mode}", *(QUICKER if mode == "host" else ())


def install(source, mode, environment, target, report):
    """Build a folder with the tools of an environment. uv's cache is left out: it does not look at what a folder is built from."""
    told = [f"--config-setting=cmake.define.{setting}" for setting in settings(mode)]
    status, said = ask(
        report,
        "pip",
        "install",
        "--python",
        environment.python,
        "--target",
        target,
        "--no-build-isolation",
        "--no-deps",
        "--offline",
        "--no-cache",
        *told,
        source,
    )
    if status:
        raise EnvironmentFailure(explain(said.splitlines(), source.name, mode))


def explain(lines, name, mode):
    """What the compiler said, led by a sentence."""
    text = "\n".join(lines)
    needs = next((f": it needs {what}" for pattern, what in HINTS if re.search(pattern, text)), "")
    ending = [
        line
        for line in lines
        if line.strip() and not re.match(r"hint:|\s*\[(\d+/\d+|stdout|stderr)\]", line)
    ][-SHOWN:]
    return (
        f"{name}/ could not be built in mode {mode}{needs}\nThe end of the compiler's output:\n"
        + "\n".join(ending)
    )

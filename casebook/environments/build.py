"""Builds the folder that a header names, with the header's own pins, once for each distinct build.

The pins hold the build tools too (scikit-build-core, cmake, ninja, nanobind), so nothing is
downloaded. The mode, cuda or host, is passed, because a compiler for CUDA does not mean a GPU.
"""

import hashlib
import os
import re
from pathlib import Path

from casebook.cells.hashes import tree
from casebook.cells.header import Header
from casebook.cells.repository import ROOT
from casebook.environments import gpu, uv
from casebook.environments.store import (
    cache,
    create_atomically,
    make_world_readable,
    shared_folders,
)
from casebook.environments.uv import Report, silent
from casebook.environments.venv import Environment, missing_file
from casebook.errors import EnvironmentFailure

LAST_LINES = 30  # lines of a failing build that are shown
UNITY = "CMAKE_UNITY_BUILD=ON"  # the same headers are read once
QUICKER = UNITY, "CMAKE_CUDA_COMPILER=NOTFOUND"  # mode host: nor is nvcc tried

REQUIRED = [  # patterns in the output of a failing build, and what is required then
    (
        r"No CMAKE_CXX_COMPILER could be found|CMAKE_CXX_COMPILER-NOTFOUND",
        "a C++ compiler is required (Debian, Ubuntu: `apt install g++`)",
    ),
    (
        r"missing:.*Development\.Module|Python\.h: No such file",
        "Python's headers are required (Debian, Ubuntu: `apt install python3-dev`)",
    ),
    (
        r"needs nvcc",
        "nvcc from CUDA Toolkit 12 or 13 is required; no wheel for CUDA 12 has it",
    ),
    (
        r"unsupported GNU version",
        "an older g++ is required: name it in NVCC_CCBIN, or install a newer CUDA Toolkit",
    ),
]


def build(
    header: Header, environment: Environment, report: Report = silent, into: Path | None = None
) -> Path:
    """Folder with the built modules, for the path of the header's scripts; built when needed.

    `into` is a folder that others will share, in place of the user's own.
    """
    source, mode = source_of(header), "cuda" if header.gpu else "host"
    name = key(header, environment, source, mode)
    for folder in [] if into else shared_folders():
        modules = folder / "builds" / name / "site-packages"
        if os.access(modules, os.R_OK) and not missing_file(modules):
            return modules

    def complete(folder: Path) -> bool:
        return folder.exists() and not missing_file(folder / "site-packages")

    def fill(partial: Path) -> None:
        report(f"compiling {header.build}, mode {mode}")
        install(source, mode, environment, partial / "site-packages", report)
        if into:
            make_world_readable(partial)

    folder = (into or cache()) / "builds" / name
    return create_atomically(folder, fill, report, complete) / "site-packages"


def source_of(header: Header) -> Path:
    """The folder to build: of the clone that the notebook lies in, else of this package's clone."""
    here, name = Path.cwd(), str(header.build)
    for folder in (here, *here.parents, ROOT):
        if (folder / name / "pyproject.toml").exists():
            return folder / name
    raise EnvironmentFailure(
        f"this cell builds {name}/, which is not installed with casebook: "
        "open the notebook from a clone of the book"
    )


def key(header: Header, environment: Environment, source: Path, mode: str) -> str:
    """Name of a build: a hash of its sources, its tools, and the GPU that it is for."""
    found = gpu.find() if mode == "cuda" else None
    target = found.compute_capability if found else ""
    python = environment.site.parent.name
    text = "\n".join([header.environment_key, python, *settings(mode), target, tree(source)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def settings(mode: str) -> tuple[str, ...]:
    """CMake's definitions for a mode."""
    return f"MODE={mode}", *(QUICKER if mode == "host" else ())


def install(
    source: Path, mode: str, environment: Environment, target: Path, report: Report
) -> None:
    """Build a folder with the tools of an environment.

    Without uv's cache, which does not look at what a folder is built from.
    """
    defined = [f"--config-setting=cmake.define.{setting}" for setting in settings(mode)]
    options = "--no-build-isolation", "--no-deps", "--offline", "--no-cache", *defined
    command = "pip", "install", "--python", environment.python, "--target", target
    status, text = uv.run(report, *command, *options, source)
    if status:
        raise EnvironmentFailure(explain(text, source.name, mode))


def explain(text: str, name: str, mode: str) -> str:
    """The end of the compiler's output, led by a sentence."""
    needs = next((f": {what}" for pattern, what in REQUIRED if re.search(pattern, text)), "")
    noise = r"\s*$|hint:|\s*\[(\d+/\d+|stdout|stderr)\]"
    end = [line for line in text.splitlines() if not re.match(noise, line)][-LAST_LINES:]
    first = f"{name}/ could not be built in mode {mode}{needs}"
    return "\n".join([first, "The end of the compiler's output:", *end])

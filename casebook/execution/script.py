"""Runs a script in its environment, as a process of its own, and checks how it ended.

The environment's interpreter runs the file directly: `uv run` would turn signals into exit statuses of 128 + n.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from casebook.cells.outcome import describe, matches
from casebook.cells.output import Normalizer, TruncatedOutput
from casebook.environments import create as environments
from casebook.environments.build import UNITY, build, source_of
from casebook.environments.cuda_home import lay_out
from casebook.environments.store import cache, writing
from casebook.errors import UnexpectedOutcome
from casebook.execution.modules import FOLDERS
from casebook.execution.process import follow

PASSED_ON = (
    "HOME",
    "USER",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
)


@dataclass(frozen=True)
class Outcome:
    """How a script ended: exit status (negative: minus the signal), or None after a time-out; its exception; its output."""

    status: int | None
    error: dict | None
    output: str


@writing()
def run(source, header, emit, report=lambda line: None, place=None):
    """Run a cell's source as its header says; `emit` gets the output piece by piece, `report` the progress of a new environment.

    It works in the folder `place`, or in a fresh one. Returns the Outcome; raises EnvironmentFailure where it cannot even start.
    """
    environment = environments.make(header, report)
    built = build(header, environment, report) if header.build else None
    runs = cache() / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=runs, ignore_cleanup_errors=True) as folder:
        folder = Path(folder)
        for name in ("reports", "empty"):
            (folder / name).mkdir()
        if place:
            (folder / "cell").symlink_to(place)
        else:
            (folder / "cell").mkdir()
        script = folder / "cell" / "cell.py"
        script.write_text(
            "\n" + source, encoding="utf-8"
        )  # the magic's line stays line 1, as the notebook counts
        kept = cache() / "output" / f"{hashlib.sha256(source.encode()).hexdigest()[:12]}.txt"
        shown = []

        def show(text):
            shown.append(text)
            emit(text)

        with TruncatedOutput(show, folder / "output", kept) as shortened:
            status, child = follow(
                [environment.python, script],
                script.parent,
                variables(header, environment, folder, built),
                header.timeout,
                Normalizer(environment, folder),
                shortened.add,
            )
        with contextlib.suppress(FileNotFoundError):
            return Outcome(
                status,
                json.loads((folder / "reports" / str(child)).read_text(encoding="utf-8")),
                "".join(shown),
            )
        return Outcome(status, None, "".join(shown))


def variables(header, environment, folder, built=None):
    """The child's environment variables: a short list, so that no toolkit on the machine changes a result silently."""
    chosen = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
    chosen |= {
        "PATH": f"{environment.root / 'bin'}:/usr/bin:/bin",
        "VIRTUAL_ENV": str(environment.root),
        "PYTHONPATH": ":".join(map(str, FOLDERS)),
        "PYTHONUNBUFFERED": "1",
        "PYTHONNODEBUGRANGES": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "CASEBOOK_FOLDER": str(folder / "cell"),
        "CASEBOOK_REPORTS": str(folder / "reports"),
    }
    if built:
        chosen |= {
            "PYTHONPATH": ":".join(map(str, [*FOLDERS, built])),
            "CASEBOOK_SOURCE": str(source_of(header)),
        }
        if not header.gpu:
            chosen["SKBUILD_CMAKE_DEFINE"] = (
                UNITY  # for a script that builds the folder once more, edited
            )
    if environment.shared:
        chosen["PYTHONDONTWRITEBYTECODE"] = "1"
    if header.cuda_home:
        chosen["CUDA_HOME"] = str(lay_out(environment, folder / "cuda-home"))
    for key, value in header.env.items():
        chosen[key] = value.replace("{site}", str(environment.site)).replace(
            "{empty}", str(folder / "empty")
        )
    libraries = [chosen.get("LD_LIBRARY_PATH"), *driver_folders()]
    if any(libraries):
        chosen["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
    return chosen


def driver_folders():
    """Folders of LD_LIBRARY_PATH that hold the NVIDIA driver: on Colab, libcuda.so.1 is found through it alone."""
    return [
        f
        for f in os.environ.get("LD_LIBRARY_PATH", "").split(":")
        if f and Path(f, "libcuda.so.1").exists()
    ]


def check(header, outcome):
    """Raise UnexpectedOutcome unless the script ended as its header says."""
    if matches(header, outcome.status, outcome.error):
        return
    end = "\n".join(outcome.output.splitlines()[-12:]) or "(no output)"
    got = describe(outcome.status, outcome.error, header.timeout)
    raise UnexpectedOutcome(
        f"expected {header.expectation}, but got {got}\nThe end of the output:\n{end}"
    )

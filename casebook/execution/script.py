"""Runs a script in its environment, as a process of its own, and checks how it ended.

The environment's interpreter runs the file directly: `uv run` would turn signals into exit
statuses of 128 + n.
"""

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os.path import expanduser
from pathlib import Path

from casebook.cells.hashes import digest
from casebook.cells.header import Header
from casebook.cells.outcome import Raised, difference, read_report
from casebook.cells.output import Normalizer, TruncatedOutput, pattern_of
from casebook.environments import create as environments
from casebook.environments.build import UNITY, build, source_of
from casebook.environments.cuda_home import lay_out
from casebook.environments.store import cache, explain_disk_errors, file_lock
from casebook.environments.venv import Environment
from casebook.errors import EnvironmentFailure, UnexpectedOutcome
from casebook.execution.modules import folders
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
PICTURE = "picture.svg"  # what a script leaves under this name in its folder is shown
LARGEST_PICTURE = 500_000  # bytes
SETTLED = 60  # seconds after which a run's folder has its lock


@dataclass(frozen=True)
class Outcome:
    """How a script ended: its exit status (negative: minus the signal; None: timed out), its
    exception, its output as shown, and the text of the SVG picture that it left, or ""."""

    status: int | None
    error: Raised | None
    output: str
    picture: str = ""


@explain_disk_errors()
def run(
    source: str,
    header: Header,
    emit: Callable[[str], object],
    report: Callable[[str], object] = lambda line: None,
    place: Path | None = None,
) -> Outcome:
    """Run a cell's source as its header says, in the folder `place` or in a fresh one.

    `emit` gets the output piece by piece, `report` the progress of a new environment. Raises
    EnvironmentFailure if it cannot even start.
    """
    environment = environments.make(header, report)
    built = build(header, environment, report) if header.build else None
    with own_folder(cache() / "runs") as folder:
        for name in ("reports", "empty"):
            (folder / name).mkdir()
        if place:
            (folder / "cell").symlink_to(place)
        else:
            (folder / "cell").mkdir()
        script = folder / "cell" / "cell.py"
        # the magic's line stays line 1, as the notebook counts
        script.write_text("\n" + source, encoding="utf-8")
        picture = script.with_name(PICTURE)
        picture.unlink(missing_ok=True)  # an earlier cell's, in a shared folder
        pieces: list[str] = []

        def show(text: str) -> None:
            pieces.append(text)
            emit(text)

        def add(line: str) -> None:
            whole.write(line)
            output.add(line)

        output = TruncatedOutput(show)
        places = [*folders(source), *([built] if built else [])]
        with (folder / "output").open("w", encoding="utf-8") as whole:
            status, process = follow(
                [environment.python, script],
                script.parent,
                variables(header, environment, folder, places),
                header.timeout,
                normalizer(environment, folder),
                add,
            )
        if output.finish():
            show(keep(folder / "output", source))
        error = read_report(folder / "reports" / str(process))
        return Outcome(status, error, "".join(pieces), read_picture(picture))


def read_picture(file: Path) -> str:
    """The text of an SVG file; empty where there is none. Raises EnvironmentFailure for one that
    is too large to be stored in a notebook."""
    if not file.is_file() or file.is_symlink():
        return ""
    if (size := file.stat().st_size) > LARGEST_PICTURE:
        raise EnvironmentFailure(
            f"{PICTURE} has {size:,} bytes; a notebook keeps at most {LARGEST_PICTURE:,}"
        )
    return file.read_text("utf-8", errors="replace")


@contextmanager
def own_folder(runs: Path) -> Iterator[Path]:
    """A folder for one run, removed after it; what a killed process left there goes before.

    A lock that ends with its process tells the folders apart, across containers too.
    """
    runs.mkdir(parents=True, exist_ok=True)
    for old in runs.iterdir():
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > SETTLED:  # a new one may not be locked yet
                with (old / "lock").open("a") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(old, ignore_errors=True)
    with (
        tempfile.TemporaryDirectory(dir=runs, ignore_cleanup_errors=True) as name,
        file_lock(Path(name) / "lock", lambda line: None),
    ):
        yield Path(name)


def keep(output: Path, source: str) -> str:
    """Keep the whole output of a cell, and say where."""
    kept = cache() / "output" / f"{digest(source)}.txt"
    kept.parent.mkdir(parents=True, exist_ok=True)
    output.replace(kept)
    short = re.sub(pattern_of(expanduser("~")), "~", str(kept))
    return f"… the whole output, {kept.stat().st_size / 1e6:.1f} MB: {short}\n"


def variables(
    header: Header, environment: Environment, folder: Path, places: Sequence[Path]
) -> dict[str, str]:
    """The script's environment variables: few, so that no toolkit of the machine matters.

    `places` are the folders of its modules.
    """
    for path in (*places, environment.root):
        if ":" in str(path):
            raise EnvironmentFailure(
                f"{path}: a colon separates folders in PATH and PYTHONPATH; move the folder to a "
                "path without one"
            )
    chosen = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
    chosen |= {
        "PATH": f"{environment.root / 'bin'}:/usr/bin:/bin",
        "VIRTUAL_ENV": str(environment.root),
        "PYTHONPATH": ":".join(map(str, places)),
        "PYTHONUNBUFFERED": "1",
        "PYTHONNODEBUGRANGES": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "CASEBOOK_FOLDER": str(folder / "cell"),
        "CASEBOOK_REPORTS": str(folder / "reports"),
    }
    if header.build:
        chosen["CASEBOOK_SOURCE"] = str(source_of(header))
        if not header.gpu:  # a script that builds the folder again, edited: fast, without -O
            chosen |= {"SKBUILD_CMAKE_DEFINE": UNITY, "SKBUILD_CMAKE_BUILD_TYPE": "None"}
    elif not header.gpu:
        chosen["CASEBOOK_SKIP_LAST_COLLECTION"] = "1"  # read by helpers/sitecustomize.py
    if environment.shared:
        chosen["PYTHONDONTWRITEBYTECODE"] = "1"
    if header.cuda_home:
        chosen["CUDA_HOME"] = str(lay_out(environment, folder / "cuda-home"))
    words = {"{site}": environment.site, "{empty}": folder / "empty"}
    for key, value in header.env.items():
        for word, path in words.items():
            value = value.replace(word, str(path))
        chosen[key] = value
    if libraries := [*filter(None, [chosen.get("LD_LIBRARY_PATH")]), *driver_folders()]:
        chosen["LD_LIBRARY_PATH"] = ":".join(libraries)
    return chosen


def normalizer(environment: Environment, folder: Path) -> Normalizer:
    """For a script's output. A Python that is reached through a link may show its real path."""
    real = environment.python.resolve().parents[1]
    prefixes = {environment.base, environment.base.resolve(), real}
    return Normalizer(folder, environment.root, environment.site, prefixes)


def driver_folders() -> list[str]:
    """Folders of LD_LIBRARY_PATH with the NVIDIA driver, which Colab finds in no other way."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return [f for f in folders if f and Path(f, "libcuda.so.1").exists()]


def check(header: Header, outcome: Outcome) -> None:
    """Raise UnexpectedOutcome unless the script ended as its header says."""
    if problem := difference(header.expected, outcome.status, outcome.error):
        end = "\n".join(outcome.output.splitlines()[-12:]) or "(no output)"
        raise UnexpectedOutcome(f"{problem}\nThe end of the output:\n{end}")

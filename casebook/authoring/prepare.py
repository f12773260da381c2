"""`python -m casebook prepare`: create the environments of the chapters before they are used."""

import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from casebook.authoring import chapters
from casebook.cells.header import Header
from casebook.environments import create, gpu
from casebook.environments.build import build
from casebook.environments.store import create_shared_folder, explain_disk_errors
from casebook.errors import CasebookError, DownloadFailure, MissingPython

Failures = list[tuple[Header, CasebookError]]


def prepare(names: list[str], every: bool = False, into: Path | None = None) -> int:
    """Create the environments that the chapters need here (or on any machine: `every`).

    With `into` in that folder, for all users of the machine. Running the chapters later needs no
    network. Returns 1 where one failed; one for which there is no Python is skipped.
    """
    if into:
        into = into.resolve()
        with explain_disk_errors(into):
            create_shared_folder(into)
    books = chapters.load(names)
    on_gpu, headers = (
        chapters.distinct(h for book in books for h in book.headers(gpu=which))
        for which in (True, every or bool(gpu.find()))
    )
    failures = create_all(headers, into)
    if again := [head for head, error in failures if isinstance(error, DownloadFailure)]:
        print(f"trying again: {count(len(again))} could not be downloaded")
        failures = [f for f in failures if f[0] not in again] + create_all(again, into)
    skipped = [error for _, error in failures if isinstance(error, MissingPython)]
    for reason, number in Counter(map(str, skipped)).items():
        print(f"skipped {count(number)} ({reason})")
    if left := len(on_gpu) - len(headers):
        print(f"skipped {count(left)} used only by GPU cells (no NVIDIA GPU found)")
    failed = [(h, error) for h, error in failures if not isinstance(error, MissingPython)]
    if failed:
        print(f"{count(len(failed))} could not be created:")
        for header, error in failed:
            print(f"  {label(header)}: {error}")
    elif into:
        print(f"To use these environments, set CASEBOOK_ENVIRONMENTS={into}")
    return bool(failed)


def count(number: int) -> str:
    return f"{number} environment{'s' * (number != 1)}"


def create_all(headers: Iterable[Header], into: Path | None) -> Failures:
    """Create environments side by side, as one downloads while another compiles; who failed."""
    headers = sorted(headers, key=lambda header: not header.build)  # compiling takes longest
    failures = []
    # No thread can be interrupted; what it runs ends with this process.
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    with ThreadPoolExecutor() as pool:
        begun = {pool.submit(create_one, header, into): header for header in headers}
        for number, ended in enumerate(as_completed(begun), 1):
            line, error = ended.result()
            show(f"[{number}/{len(begun)}] {label(begun[ended])}: {line}", "\n")
            if error:
                failures.append((begun[ended], error))
    signal.signal(signal.SIGINT, handler)
    return failures


def create_one(header: Header, into: Path | None) -> tuple[str, CasebookError | None]:
    """Create one environment, with its build. How that ended, and the error where it failed."""
    start = time.monotonic()

    def report(line: str) -> None:
        if sys.stdout.isatty():
            show(f"{label(header)}: {line[:50]} {time.monotonic() - start:.0f} s", "")

    try:
        made = create.make(header, report, into)
        if builds(header):
            build(header, made, report, into)
    except CasebookError as error:
        return str(error), error
    where = f", in {made.root.parents[1]}" if made.shared else ""
    return "; ".join([f"ready, {time.monotonic() - start:.1f} s{where}", *made.notes]), None


def builds(header: Header) -> bool:
    """True where the folder that a header names is built on this machine."""
    return bool(header.build and (gpu.find() or not header.gpu))


def label(header: Header) -> str:
    """The first dependencies of a header, and what is built with them."""
    text = ", ".join(header.dependencies[:2]) or "the standard library"
    text += " …" * (len(header.dependencies) > 2)
    mode = "cuda" if header.gpu else "host"
    return text + f", builds {header.build}/ in mode {mode}" * builds(header)


def show(text: str, end: str) -> None:
    """Print in the place of the progress that a terminal shows."""
    start = "\r\x1b[K" if sys.stdout.isatty() else ""
    print(start + text + end, end="", flush=True)  # in one: several threads print

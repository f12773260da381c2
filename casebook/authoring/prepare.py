"""`casebook prepare`: create the environments of the chapters before they are used."""

import signal
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from casebook import chapters
from casebook.cells.header import Header
from casebook.chapters import Chapter, lessons
from casebook.environments import create, gpu
from casebook.environments.build import build
from casebook.environments.store import create_shared_folder, explain_disk_errors
from casebook.errors import CasebookError, DownloadFailure, MissingPython

LESSONS = "lessons"  # in place of a case's number


def prepare(names: Sequence[str], every: bool = False, into: Path | None = None) -> int:
    """Create the environments that the chapters need here (or on any machine: `every`).

    With `into` in that folder, for all users of the machine. Running the chapters later needs no
    network. Returns 1 where one failed; one for which there is no Python is skipped.
    """
    if into:
        into = into.resolve()
        with explain_disk_errors(into):
            create_shared_folder(into)
    books = named(names)
    on_gpu, headers = (
        chapters.distinct(h for book in books for h in book.headers(gpu=which))
        for which in (True, every or bool(gpu.find()))
    )
    failed = create_all(headers, into)
    if again := [header for header, error in failed if isinstance(error, DownloadFailure)]:
        print(f"trying again: {count(len(again))} could not be downloaded")
        failed = [f for f in failed if f[0] not in again] + create_all(again, into)
    skipped = Counter(str(error) for _, error in failed if isinstance(error, MissingPython))
    if left := len(on_gpu) - len(headers):
        skipped["used only by GPU cells; no NVIDIA GPU found"] = left
    for reason, number in skipped.items():
        print(f"skipped {count(number)} ({reason})")
    failed = [f for f in failed if not isinstance(f[1], MissingPython)]
    if failed:
        print(f"{count(len(failed))} could not be created:")
        print("\n".join(f"  {label(header)}: {error}" for header, error in failed))
    elif into:
        print(f"To use these environments, set CASEBOOK_ENVIRONMENTS={into}")
    return bool(failed)


def named(names: Sequence[str]) -> list[Chapter]:
    """The cases with these names, and the lessons where LESSONS is one; without names, all."""
    cases = [name for name in names if name != LESSONS]
    books = chapters.load(cases) if cases or not names else []
    return [*books, *(lessons.load() if LESSONS in names or not names else ())]


def count(number: int) -> str:
    return f"{number} environment{'s' * (number != 1)}"


def create_all(headers: Iterable[Header], into: Path | None) -> list[tuple[Header, CasebookError]]:
    """Create environments side by side: one downloads while another compiles. Returns failures."""
    headers = sorted(headers, key=lambda header: not header.build)  # compiling takes longest
    failed = []
    # No thread can be interrupted; what it runs ends with this process.
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    with ThreadPoolExecutor() as pool:
        begun = {pool.submit(create_one, header, into): header for header in headers}
        for number, ended in enumerate(as_completed(begun), 1):
            header = begun[ended]
            try:
                line = ended.result()
            except CasebookError as error:
                failed.append((header, error))
                line = str(error)
            print(f"[{number}/{len(begun)}] {label(header)}: {line}", flush=True)
    signal.signal(signal.SIGINT, handler)
    return failed


def create_one(header: Header, into: Path | None) -> str:
    """Create one environment, with its build. Returns the time it took and where it lies."""
    start = time.monotonic()
    made = create.make(header, into=into)
    if builds(header):
        build(header, made, into=into)
    where = f", in {made.root.parents[1]}" if made.shared else ""
    return "; ".join([f"ready, {time.monotonic() - start:.1f} s{where}", *made.notes])


def builds(header: Header) -> bool:
    """True where the folder that a header names is built on this machine."""
    return bool(header.build and (gpu.find() or not header.gpu))


def label(header: Header) -> str:
    """The first dependencies of a header, and what is built with them."""
    text = ", ".join(header.dependencies[:2]) or "the standard library"
    text += " …" * (len(header.dependencies) > 2)
    mode = "cuda" if header.gpu else "host"
    return text + f", builds {header.build}/ in mode {mode}" * builds(header)

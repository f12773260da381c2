"""`python -m casebook execute`: chapters one after the other, or on the GPUs of a cluster."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence

from casebook.authoring import chapters
from casebook.authoring.chapters import Chapter
from casebook.authoring.execute import execute as execute_here
from casebook.authoring.releases.executor import team
from casebook.environments import gpu
from casebook.environments.store import file_lock

COMMAND = [sys.executable, "-m", "casebook", "execute"]


def execute(names: Sequence[str], cluster: str | None = None) -> int:
    """Run chapters and store them. Without a cluster the first that fails ends it."""
    books = {book.name: book for book in chapters.load(names)}
    failed = 0
    for number, (name, trouble) in enumerate(ended(books.values(), cluster), 1):
        failed += bool(trouble)
        what = f"NOT stored: {trouble}" if trouble else f"stored, {len(books[name].cells)} cells"
        print(f"[{number}/{len(books)}] {name}: {what}", flush=True)
    return bool(failed)


def ended(books: Iterable[Chapter], cluster: str | None) -> Iterator[tuple[str, str]]:
    """Execute chapters: (name, why it failed or "") of each, as they end.

    On the workers of a cluster, which share this folder, one that fails stops no other. There each
    GPU runs one chapter at a time; those that need several GPUs follow, with all of them.
    """
    if cluster is None:
        for book in books:
            execute_here(book)
            yield book.name, ""
        return
    several = [book.name for book in books if any(cell.gpus > 1 for cell in book.cells)]
    single = [book.name for book in books if book.name not in several]
    with team(cluster, at_once=1) as each:
        for number, failed, why in each(on_one_gpu, single):
            yield single[number], why or failed
        for name in several:
            for _, failed, why in each(on_all_gpus, [name]):
                yield name, why or failed


def on_one_gpu(name: str) -> str:
    """Several workers, and jobs of one worker, may have the same GPU, so each waits for it."""
    with file_lock(gpu.lock(), lambda line: None):
        return on_all_gpus(name, CUDA_VISIBLE_DEVICES=gpu.visible())


def on_all_gpus(name: str, **variables: str) -> str:
    """Execute a chapter in a process of its own; returns why it failed, or ""."""
    done = subprocess.run(
        [*COMMAND, name],
        env=os.environ | variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if not done.returncode:
        return ""
    error = done.stderr.strip()
    if sentence := re.search(r"(?ms)^casebook: .*", error):  # without warnings of Jupyter
        error = sentence[0]
    return error[-500:] or f"exit status {done.returncode}"

"""`python -m casebook prepare`: the environments of the chapters, made before they are needed."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from casebook.authoring import chapters
from casebook.environments import create, gpu
from casebook.environments.build import build
from casebook.environments.store import open_store, writing
from casebook.errors import CasebookError


def prepare(names, every=False, into=None):
    """Make every environment that the chapters need on this machine (or on any), so that running them later needs no network.

    `into`: in this folder, which all users of the machine may then read, in place of one's own.
    """
    if into:
        into = into.resolve()
        with writing(into):
            open_store(into)
    books = chapters.load(names)
    here = every or bool(gpu.find())
    wanted = chapters.distinct(h for book in books for h in book.headers(gpu=here))
    left_out = len(chapters.distinct(h for book in books for h in book.headers(gpu=True))) - len(
        wanted
    )
    failed = 0
    for number, (line, whole) in enumerate(side_by_side(wanted, into), 1):
        show(f"[{number}/{len(wanted)}] {line}", "\n")
        failed += not whole
    if left_out:
        print(f"{left_out} more are for GPU cells alone: not made, this machine has no NVIDIA GPU")
    if into and not failed:
        print(
            f"Whoever sets CASEBOOK_ENVIRONMENTS={into} runs these cells without making anything."
        )
    return bool(failed)


def side_by_side(heads, into):
    """What became of each environment, as it ends: one waits for the network while another is compiled, which takes longest."""
    pool = ThreadPoolExecutor()
    try:
        begun = [
            pool.submit(prepare_one, head, into)
            for head in sorted(heads, key=lambda head: not head.build)
        ]
        for ended in as_completed(begun):
            yield ended.result()
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C nothing more begins


def prepare_one(head, into):
    """Make one environment; a line that says how that went, and False where it failed."""
    start = time.monotonic()
    label = f"{', '.join(head.dependencies[:2]) or 'the standard library'}{' …' if len(head.dependencies) > 2 else ''}"
    builds = head.build and (gpu.find() or not head.gpu)
    if builds:
        label += f", builds {head.build}/ in mode {'cuda' if head.gpu else 'host'}"

    def report(line):
        if sys.stdout.isatty():
            show(f"{label}: {line[:50]} {time.monotonic() - start:.0f} s", "")

    try:
        made = create.make(head, report, into)
        if builds:
            build(head, made, report, into)
    except CasebookError as error:
        return f"{label}: {error}", False
    return f"{label}: ready, {time.monotonic() - start:.1f} s{origin(head, made)}", True


def show(text, end):
    """Print in the place of the progress that a terminal shows."""
    print(
        (f"\r\x1b[K{text}" if sys.stdout.isatty() else text) + end, end="", flush=True
    )  # in one: several threads show something


def origin(head, made):
    """That an environment comes from a shared folder, or why it does not."""
    if made.shared:
        return f", in {made.root.parents[1]}"
    notes = create.of_others(head)[1]
    return f"; {', '.join(notes)}" if notes else ""

"""`python -m casebook prepare`: the environments of the chapters, made before they are needed."""
import sys
import time

from . import chapters, environment, gpu
from .build import build
from .errors import CasebookError
from .store import open_store, writing


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
    left_out = len(chapters.distinct(h for book in books for h in book.headers(gpu=True))) - len(wanted)
    failed = [h for number, h in enumerate(wanted, 1) if not prepare_one(h, f"[{number}/{len(wanted)}]", into)]
    if left_out:
        print(f"{left_out} more are for GPU cells alone: not made, this machine has no NVIDIA GPU")
    if into and not failed:
        print(f"Whoever sets CASEBOOK_ENVIRONMENTS={into} runs these cells without making anything.")
    return bool(failed)


def prepare_one(head, place, into):
    """Make one environment with a line of progress; False where it failed."""
    start = time.monotonic()
    label = f"{place} {', '.join(head.dependencies[:2]) or 'the standard library'}{' …' if len(head.dependencies) > 2 else ''}"
    builds = head.build and (gpu.find() or not head.gpu)
    if builds:
        label += f", builds {head.build}/ in mode {'cuda' if head.gpu else 'host'}"

    def report(line):
        if sys.stdout.isatty():
            print(f"\r{label}: {line[:50]:50} {time.monotonic() - start:4.0f} s", end="", flush=True)

    try:
        made = environment.make(head, report, into)
        if builds:
            build(head, made, report, into)
    except CasebookError as error:
        print(f"\r{label}: {error}")
        return False
    print(f"\r{label}: ready, {time.monotonic() - start:.1f} s{origin(head, made)}{'':50}".rstrip())
    return True


def origin(head, made):
    """That an environment comes from a shared folder, or why it does not."""
    if made.shared:
        return f", in {made.root.parents[1]}"
    notes = environment.of_others(head)[1]
    return f"; {', '.join(notes)}" if notes else ""

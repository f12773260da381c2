"""Chapters spread over GPUs: one on each at a time, each in a process of its own. What needs several GPUs follows, with all of them."""

import os
import re
import subprocess
import sys

from casebook.authoring.releases.executor import team
from casebook.environments import gpu
from casebook.environments.store import file_lock

COMMAND = [sys.executable, "-m", "casebook", "execute"]


def execute(books, cluster):
    """Execute chapters on the workers of a cluster (that of executor.team), which share this folder.

    Yields (name, why it failed or ""), as they end; one that fails stops no other.
    """
    several = [book.name for book in books if any(cell.gpus > 1 for cell in book.cells)]
    single = [book.name for book in books if book.name not in several]
    with team(cluster, at_once=1) as each:
        for work, names in [(on_one_gpu, single), *((on_all_gpus, [name]) for name in several)]:
            for number, failed, why in each(work, names):
                yield names[number], why or failed


def on_one_gpu(name):
    """A worker may do several jobs at a time, and several workers may have the same GPU, so each waits for it."""
    with file_lock(gpu.lock(), lambda line: None):
        return on_all_gpus(name, CUDA_VISIBLE_DEVICES=gpu.visible())


def on_all_gpus(name, **variables):
    done = subprocess.run(
        [*COMMAND, name],
        env=os.environ | variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = done.stderr.strip()
    if sentence := re.search(r"(?ms)^casebook: .*", said):  # without what Jupyter said before it
        said = sentence[0]
    return (said[-500:] or f"exit status {done.returncode}") if done.returncode else ""

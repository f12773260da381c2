"""What the tests share: short ways to write a cell, to run it, and to look at processes."""
import time
from pathlib import Path

import psutil

from casebook.header import read
from casebook.run import check, run

ROOT = Path(__file__).resolve().parent.parent
SIX = "six==1.17.0"


def cell(body, *options, dependencies=(), python=">=3.11"):
    """Source of a cell; `options` are lines of [tool.casebook]."""
    lines = [f'requires-python = "{python}"', f"dependencies = {list(dependencies)}", "[tool.casebook]", *options]
    return "\n".join(["# /// script", *(f"# {line}" for line in lines), "# ///", body, ""])


def play(body, *options, emit=lambda text: None, **header):
    """Run a cell and check that it ends as its header says; returns the Outcome."""
    source = cell(body, *options, **header)
    outcome = run(source, read(source), emit)
    check(read(source), outcome)
    return outcome


def wait_until(condition, seconds=30):
    """True as soon as the condition holds, False when it never did."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def gone(process_id):
    """True when a process has ended; a zombie has."""
    try:
        return psutil.Process(process_id).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True

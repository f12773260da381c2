"""Runs snippets of Python each in a process of its own, because some of them may not survive."""

import signal as _signal
import subprocess as _subprocess
import sys as _sys


def run_apart(prelude, snippets):
    """Print what each of {name: snippet} says after `prelude`, and how it ends.

    Returns {name: end}: the name of a signal or of an exception, or "" for a snippet that ends well.
    """
    ends, width = {}, max(map(len, snippets))
    for name, snippet in snippets.items():
        run = _subprocess.run(
            [_sys.executable, "-c", prelude + snippet], capture_output=True, text=True
        )
        error = next((line for line in run.stderr.splitlines() if "Error: " in line), "")
        killed = _signal.Signals(-run.returncode).name if run.returncode < 0 else ""
        ends[name] = killed or error.partition(":")[0]
        print(f"{name:{width}} | {' … '.join(filter(None, [run.stdout.strip() or error, killed]))}")
    return ends

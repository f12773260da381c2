"""Runs snippets of Python, each in its own process, because some of them may crash."""

import signal as _signal
import subprocess as _subprocess
import sys as _sys
from collections.abc import Mapping as _Mapping


def run_apart(prelude: str, snippets: _Mapping[str, str]) -> dict[str, str]:
    """Run `prelude` + snippet for each of {name: snippet}; print its output and how it ended.

    Returns {name: end}: the name of a signal or of an exception, or "" for exit status 0.
    """
    ends, width = {}, max(map(len, snippets))
    for name, snippet in snippets.items():
        run = _subprocess.run(
            [_sys.executable, "-c", prelude + snippet], capture_output=True, text=True
        )
        error = next((line for line in run.stderr.splitlines() if "Error: " in line), "")
        killed = _signal.Signals(-run.returncode).name if run.returncode < 0 else ""
        ends[name] = killed or error.partition(":")[0]
        said = " … ".join(filter(None, [run.stdout.strip() or error, killed]))
        print(f"{name:{width}} | {said}")
    return ends

"""Starts a script again for each of some names, in a new process each time.

A CUDA context that an error has corrupted cannot be repaired within its process.

how = each("alone", "with peer access")     # returns in the new processes only, one name each
...
last_words(f"{how}: works")                 # printed; the process ends without cleaning up
"""

import os as _os
import subprocess as _subprocess
import sys as _sys


def each(*names: str) -> str:
    """The name for which this process was started. In the first process: start all, then exit."""
    if len(_sys.argv) > 1:
        return _sys.argv[1]
    ends = [_subprocess.run([_sys.executable, _sys.argv[0], name]).returncode for name in names]
    raise SystemExit(any(ends))


def last_words(text: str) -> None:
    """Print the text and end the process at once, with exit status 0."""
    print(text, flush=True)
    _os._exit(0)

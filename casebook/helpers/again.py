"""Runs a script again for each of some names, every time in a process of its own, because a lost context cannot be tidied up.

how = each("alone", "with peer access")     # the script ends here; its children go on, each with one name
...
last_words(f"{how}: works")                 # printed; the process ends without a look back
"""

import os as _os
import subprocess as _subprocess
import sys as _sys


def each(*names):
    """The name for which this process was started."""
    if len(_sys.argv) > 1:
        return _sys.argv[1]
    ends = [_subprocess.run([_sys.executable, _sys.argv[0], name]).returncode for name in names]
    raise SystemExit(any(ends))


def last_words(text):
    print(text, flush=True)
    _os._exit(0)

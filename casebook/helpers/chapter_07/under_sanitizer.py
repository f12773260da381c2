"""Runs the script that imports it under compute-sanitizer instead, and prints what the tool says, of its backtraces the lines in Python.

The tool comes with the wheel nvidia-cuda-sanitizer-api; before 13.4.92 a helper program is missing, TreeLauncherSubreaper. It watches
each access of each kernel, so the kernels become slow. Errors of driver calls are not reported: cuda.core asks the driver for things
that may fail (https://github.com/NVIDIA/cuda-python/issues/562).
"""

import os as _os
import re as _re
import subprocess as _subprocess
import sys as _sys
from importlib.metadata import distribution as _distribution

if not _os.environ.get("UNDER_SANITIZER"):
    _tool = _distribution("nvidia-cuda-sanitizer-api").locate_file(
        "nvidia/cu13/compute-sanitizer/compute-sanitizer"
    )
    _command = [
        _tool,
        "--track-stream-ordered-races",
        "all",
        "--report-api-errors",
        "no",
        _sys.executable,
        _sys.modules["__main__"].__file__,
    ]
    _variables = _os.environ | {"UNDER_SANITIZER": "1", "PYTHONPATH": _os.pathsep.join(_sys.path)}
    _said = _subprocess.run(
        _command, env=_variables, stdout=_subprocess.PIPE, stderr=_subprocess.STDOUT, text=True
    ).stdout
    print(
        *(
            line
            for line in _said.splitlines()
            if _re.search(r"\.py:\d+$", line) or "Host Frame" not in line
        ),
        sep="\n",
    )
    _sys.exit(None if "ERROR SUMMARY" in _said else "compute-sanitizer did not get to its end")

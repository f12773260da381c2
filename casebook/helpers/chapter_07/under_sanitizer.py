"""Runs the script that imports it under compute-sanitizer, and prints the tool's report.

Of backtraces only the lines in Python are printed. The tool is in the wheel
nvidia-cuda-sanitizer-api; releases before 13.4.92 lack a helper program, TreeLauncherSubreaper. It
checks each access of each kernel, so kernels become slow. Errors of driver calls are not reported,
because cuda.core makes calls that may fail (https://github.com/NVIDIA/cuda-python/issues/562).
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
    _options = ["--track-stream-ordered-races", "all", "--report-api-errors", "no"]
    _command = [_tool, *_options, _sys.executable, _sys.modules["__main__"].__file__]
    _variables = _os.environ | {"UNDER_SANITIZER": "1", "PYTHONPATH": _os.pathsep.join(_sys.path)}
    _said = _subprocess.run(
        _command, env=_variables, stdout=_subprocess.PIPE, stderr=_subprocess.STDOUT, text=True
    ).stdout
    for _line in _said.splitlines():
        if _re.search(r"\.py:\d+$", _line) or "Host Frame" not in _line:
            print(_line)
    _sys.exit(None if "ERROR SUMMARY" in _said else "compute-sanitizer did not get to its end")

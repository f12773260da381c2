"""Runs the script that imports it under compute-sanitizer instead, and prints which one that is and what it says.

The tool of the wheel nvidia-cuda-sanitizer-api comes first (in 13.0.85 and 13.2.87 a helper program is missing, TreeLauncherSubreaper);
where it does not get to its end, the tool of the machine's CUDA toolkit. It watches each access of each kernel, so the kernels become
slow. Errors of driver calls are not reported: cuda.core asks the driver for things that may fail
(https://github.com/NVIDIA/cuda-python/issues/562).
"""
import os as _os
import shutil as _shutil
import subprocess as _subprocess
import sys as _sys
from importlib.metadata import distribution as _distribution

_SECONDS = 60       # for one tool
_OPTIONS = "--track-stream-ordered-races", "all", "--report-api-errors", "no", "--print-limit", "1"


def _tools():
    """Name and file of the tools to try, in this order."""
    wheel = _distribution("nvidia-cuda-sanitizer-api")
    yield f"the wheel's, {wheel.version}", wheel.locate_file("nvidia/cu13/compute-sanitizer/compute-sanitizer")
    if toolkit := _shutil.which("compute-sanitizer", path=f"{_os.environ['PATH']}:/usr/local/cuda/bin"):
        yield f"the toolkit's, {toolkit}", toolkit


def _said(tool):
    """What the tool says about the running script."""
    variables = _os.environ | {"UNDER_SANITIZER": "1", "PYTHONPATH": _os.pathsep.join(_sys.path)}
    command = [tool, *_OPTIONS, _sys.executable, _sys.modules["__main__"].__file__]
    try:
        return _subprocess.run(command, env=variables, stdout=_subprocess.PIPE, stderr=_subprocess.STDOUT, timeout=_SECONDS).stdout.decode()
    except _subprocess.TimeoutExpired as late:
        return f"{(late.stdout or b'').decode()}\n(still running after {_SECONDS} s)"


if not _os.environ.get("UNDER_SANITIZER"):
    for _name, _tool in _tools():
        print("compute-sanitizer:", _name, flush=True)
        _text = _said(_tool)
        print(_text)
        if "ERROR SUMMARY" in _text:
            _sys.exit()
    _sys.exit("compute-sanitizer did not get to its end")

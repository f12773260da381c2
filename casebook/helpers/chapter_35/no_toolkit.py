"""A toolkit of CUDA 12 on this machine stays hidden, so that a cell ends alike on every machine.

Where the loader knows a libnvrtc.so.12, and only there, this module answers in its place that the
library cannot be found, in the loader's words. What LD_LIBRARY_PATH names among packages of pip,
and what the process has loaded already, is found as usual.
"""

import os
import subprocess
import sys

NAME = "libnvrtc.so.12"
FOLDERS = [f for f in os.environ.get("LD_LIBRARY_PATH", "").split(":") if f]


def known() -> bool:
    """Whether the loader finds the library by its name; true where that cannot be told."""
    try:
        cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True)
    except OSError:
        return True
    return NAME in cache.stdout.split() or any(os.path.exists(f"{f}/{NAME}") for f in FOLDERS)


def hide(event, arguments):
    if event == "ctypes.dlopen" and arguments[0] == NAME:
        packages = any("/site-packages/" in f and os.path.exists(f"{f}/{NAME}") for f in FOLDERS)
        with open("/proc/self/maps") as loaded:
            if not packages and f"/{NAME}\n" not in loaded.read():
                raise OSError(f"{NAME}: cannot open shared object file: No such file or directory")


if known():
    sys.addaudithook(hide)

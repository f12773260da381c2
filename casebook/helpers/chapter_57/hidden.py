"""The CUDA toolkit of this machine stays hidden, so that a cell ends alike on every machine.

Where a library of the toolkit is asked for by its bare name, this module answers in the loader's
words that it cannot be found, unless LD_LIBRARY_PATH leads to it or the process has loaded it.
"""

import os
import re
import sys

LIBRARIES = re.compile(r"lib(nvrtc|nvvm|nvJitLink|cudart)\.so(\.\d+)*")
FOLDERS = [f for f in os.environ.get("LD_LIBRARY_PATH", "").split(":") if f]


def hide(event: str, arguments: tuple) -> None:
    if event == "ctypes.dlopen" and LIBRARIES.fullmatch(str(name := arguments[0])):
        if any(os.path.exists(f"{f}/{name}") for f in FOLDERS):
            return
        with open("/proc/self/maps") as loaded:
            if f"/{name}\n" not in loaded.read():
                raise OSError(f"{name}: cannot open shared object file: No such file or directory")


sys.addaudithook(hide)

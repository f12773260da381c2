"""The cuBLAS of this machine stays hidden, so that a cell ends alike on every machine.

Where it is asked for, this module answers in the loader's words that it cannot be found.
It also lets installed packages come before helper modules, because Thinc needs the package
catalogue, and a helper of another chapter has the same name.
"""

import os
import sys


def hide(event: str, arguments: tuple) -> None:
    if event == "ctypes.dlopen":
        name = os.path.basename(str(arguments[0]))
        if name.startswith("libcublas"):
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")


sys.addaudithook(hide)
sys.path.sort(key=lambda folder: "site-packages" not in folder)

"""Hides NVIDIA's driver, also on machines that have one: import this first.

Whoever asks the loader for libcuda.so.1 gets an empty file, which cannot be loaded. Its folder
must be in LD_LIBRARY_PATH when Python starts, so this starts the script once more. Numba also
tries full paths; it is told that there are no such files.
"""

import ctypes as _ctypes
import os as _os
import pathlib as _pathlib
import sys as _sys

_NAMES = ("libcuda.so", "libcuda.so.1")
_PATHS = [_os.path.join(folder, name) for folder in ("/usr/lib", "/usr/lib64") for name in _NAMES]
_folder = _pathlib.Path("without_driver").absolute()
_before = _os.environ.get("LD_LIBRARY_PATH", "")
if _before.split(":")[0] != str(_folder):
    _folder.mkdir(exist_ok=True)
    for _name in _NAMES:
        (_folder / _name).touch()
    _os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [str(_folder), _before]))
    _os.execv(_sys.executable, [_sys.executable, *_sys.orig_argv[1:]])


class _CDLL(_ctypes.CDLL):
    def __init__(self, name, *args, **options):
        if name in _PATHS:
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")
        super().__init__(name, *args, **options)


_ctypes.CDLL = _CDLL
_is_file = _os.path.isfile
_os.path.isfile = lambda path: path not in _PATHS and _is_file(path)

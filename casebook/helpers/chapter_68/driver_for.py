"""A stand-in for NVIDIA's driver that supports a CUDA version of your choice and computes nothing.

    cuda = driver_for.each("none", "12.4", "13.0")      # before any CUDA library

starts the script again for each of these, in a new process that has this stand-in as its driver,
or, for "none", no driver. It needs a C compiler, `cc`. Once the stand-in is loaded, every library
of the process that asks for libcuda.so.1 gets it, whether there is a real driver or not.
"""

import ctypes as _ctypes
import pathlib as _pathlib
import subprocess as _subprocess

import again as _again
import built_driver as _built_driver

_ANSWER = "*v = 13000;"


def build(folder: str, cuda: str) -> str:
    """Build the stand-in in this folder and return the path of the file, libcuda.so.1."""
    major, minor = map(int, cuda.split("."))
    assert _ANSWER in _built_driver._SHARED
    source = _built_driver._SHARED.replace(_ANSWER, f"*v = {1000 * major + 10 * minor};")
    library = _pathlib.Path(folder).absolute() / "libcuda.so.1"
    library.parent.mkdir(exist_ok=True)
    options = "-shared -fPIC -w -pthread -DDEVICES=1 -x c -Wl,-soname,libcuda.so.1"
    _subprocess.run(
        ["cc", *options.split(), "-o", library, "-", "-ldl"], input=source, text=True, check=True
    )
    return str(library)


def each(*versions: str) -> str:
    """The driver's CUDA version in this process, or "none"; the first process only starts them."""
    cuda = _again.each(*versions)
    if cuda == "none":
        import without_driver  # noqa: F401
    else:
        _ctypes.CDLL(build("driver_for_" + cuda, cuda))
    return cuda

"""A stand-in for NVIDIA's driver that supports a CUDA version of your choice and computes nothing.

    cuda = driver_for.each("none", "12.4", "13.0")      # before any CUDA library

starts the script again for each of these, in a new process that has this stand-in as its driver,
or, for "none", no driver. It needs a C compiler, `cc`. Once the stand-in is loaded, every library
of the process that asks for libcuda.so.1 gets it, whether there is a real driver or not.
"""

import ctypes as _ctypes

import again as _again
import built_driver as _built_driver


def build(folder: str, cuda: str) -> str:
    """Build the stand-in in this folder and return the path of the file, libcuda.so.1."""
    major, minor = map(int, cuda.split("."))
    version = 1000 * major + 10 * minor
    return _built_driver.build(
        f"int cuDriverGetVersion(int *v) {{ *v = {version}; return 0; }}", folder
    )


def each(*versions: str) -> str:
    """The driver's CUDA version in this process, or "none"; the first process only starts them."""
    cuda = _again.each(*versions)
    if cuda == "none":
        import without_driver  # noqa: F401
    else:
        _ctypes.CDLL(build("driver_for_" + cuda, cuda))
    return cuda

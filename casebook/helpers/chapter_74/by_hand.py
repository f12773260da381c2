"""NVRTC opened by its path, with no help from cuda-pathfinder.

The import hides the CUDA toolkits that the machine's loader has in its cache, so that a cell ends
alike on every machine.
"""

import ctypes
import os
import sys
from importlib.metadata import files
from pathlib import Path

KERNEL = b'extern "C" __global__ void k(float *x) { x[threadIdx.x] = 1; }'
CACHE = Path("/etc/ld.so.cache")

if CACHE.exists() and b"libnvrtc" in CACHE.read_bytes() and "WITHOUT_CACHE" not in os.environ:
    os.environ["WITHOUT_CACHE"] = "1"
    lines = Path("/proc/self/maps").read_text().splitlines()
    (loader,) = {line.split()[-1] for line in lines if "/ld-linux" in line}
    os.execv(loader, [loader, "--inhibit-cache", sys.executable, *sys.argv])


def paths(package):
    """The libraries of a package: {name: path}."""
    return {file.name: str(file.locate()) for file in files(package) if ".so." in file.name}


def compiled(library):
    """Compile a kernel with an NVRTC that is open; its log becomes a RuntimeError."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), KERNEL, b"k.cu", 0, None, None)
    if library.nvrtcCompileProgram(program, 0, None):
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        raise RuntimeError(log.value.decode())
    return True


def builtins():
    """The builtins that the process has loaded, in alphabetical order."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return sorted({Path(line.split()[-1]).name for line in lines if "nvrtc-builtins" in line})

"""numba-cuda-mlir without a GPU: it compiles for compute capability 9.0, and launches nothing.

Import this before it. Up to 0.4.1 the part that launches kernels looks for the driver when it is
imported. Compiling does not need that part, so without a driver an empty module takes its place.
"""

import ctypes as _ctypes
import gc as _gc
import sys as _sys
from importlib.metadata import version as _version
from types import ModuleType as _ModuleType

if tuple(map(int, _version("numba-cuda-mlir").split(".")[:3])) < (0, 4, 2):
    try:
        _ctypes.CDLL("libcuda.so.1")
    except OSError:
        _launcher = _ModuleType("numba_cuda_mlir._cext")
        _launcher.LaunchConfiguration = _launcher.KernelDispatcher = lambda *what, **how: None
        _sys.modules["numba_cuda_mlir._cext"] = _launcher

from numba_cuda_mlir import tools as _tools

_tools._cached_cc = (9, 0)
_gc.disable()  # a compiler's objects live on: to search them for garbage takes a sixth of the time

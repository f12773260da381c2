"""A fake CUDA driver for cuda.compute: launches nothing, keeps the names of the kernels loaded.

    from compute_driver import OnGPU, pointers      # before cuda.compute
    make_reduce_into(d_in=OnGPU(1000, np.float32), ...)
    pointers()                                      # ("float*", "double*"): reads, writes

cuda.compute compiles a reduction with NVRTC and loads it. Its kernel for few elements is named
after the types of its input and its output, as C++ mangles them.
"""

import ctypes as _ctypes
import re as _re

import built_driver as _built_driver
import numpy as _np

_driver = _built_driver.load(r"""
NO_COPIES
static char tile[1024];
const char *single_tile(void) { return tile; }
int cuLibraryGetKernel(void **k, void *l, const char *name) {
  if (strstr(name, "SingleTileKernel") && !*tile) snprintf(tile, sizeof tile, "%s", name);
  return GIVE(k);
}
void forget(void) { *tile = 0; }
int cuFuncSetAttribute(void *f, int a, int v) { return 0; }
int cuLaunchKernel(void) { return 801; }
int cuLaunchKernelEx(void) { return 801; }
int cuMemcpyAsync(void) { return 801; }
int cuMemsetD8Async(void) { return 801; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n) { *n = 4; return 0; }
""")
_driver.single_tile.restype = _ctypes.c_char_p
_TYPES = {"i": "int", "x": "long long", "f": "float", "d": "double"}


class OnGPU:
    """An array at a made-up address, as CuPy would describe it."""

    def __init__(self, size, dtype):
        self.shape, self.size, self.dtype = (size,), size, _np.dtype(dtype)
        self.__cuda_array_interface__ = {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (0x7F0000000000, False),
            "strides": None,
            "version": 3,
        }


def pointers():
    """What the reduction that was compiled last reads and writes through."""
    name = _driver.single_tile().decode()
    _driver.forget()
    return mangled_pointers(name)


def mangled_pointers(name):
    """Of a kernel's mangled name: the types of its first two pointers, such as `PfPd`."""
    reads, writes = _re.search(r"EEEP([a-z])(?:P([a-z])|S\w*?_)", name).groups()
    return f"{_TYPES[reads]}*", f"{_TYPES[writes or reads]}*"

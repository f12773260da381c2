"""Seven ways to launch the addition of 256 elements, out = 1 + 2. The first four run the extension's kernel."""
import ctypes
import warnings

import cupy as cp
import device_arrays as da
import device_arrays_pybind11 as pb
import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from numba import cuda

warnings.filterwarnings("ignore", message="Grid size")      # 256 elements are meant to be too few

SIZE = 256
SOURCE = r"""
extern "C" __global__ void add(const float *a, const float *b, float *out, size_t size) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < size) out[i] = a[i] + b[i];
}
"""

a, b, out = (cp.asarray(np.full(SIZE, value, "f4")) for value in (1, 2, 0))
addresses = a.data.ptr, b.data.ptr, out.data.ptr, SIZE, 0       # 0: the legacy default stream

from_c = ctypes.CDLL(da.__file__).add_from_c
from_c.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t] * 2

raw, size = cp.RawKernel(SOURCE, "add"), np.uint64(SIZE)

device = Device()
device.set_current()
kernel = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("add")
stream, config = device.default_stream, LaunchConfig(grid=1, block=SIZE)


@cuda.jit
def jitted(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


configured, views = jitted[1, SIZE], [cuda.as_cuda_array(array) for array in (a, b, out)]

ways = {
    "nanobind, addresses": lambda: da.add_addresses(*addresses),
    "pybind11, addresses": lambda: pb.add_addresses(*addresses),
    "ctypes, addresses": lambda: from_c(*addresses),
    "nanobind, CuPy arrays": lambda: da.add_into(a, b, out),
    "cuda.core launch": lambda: launch(stream, config, kernel, *addresses[:3], size),
    "CuPy RawKernel": lambda: raw((1,), (SIZE,), (a, b, out, size)),
    "numba-cuda": lambda: configured(*views),
}

"""Ways to launch the addition of 256 elements, out = 1 + 2. The first six run the extension's kernel."""
import ctypes
import time
import warnings

import cupy as cp
import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from numba import cuda

import device_arrays as da

from . import _ext, _pybind11

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


def from_c(library):
    """The same call through ctypes; a CDLL releases the GIL for each call, a PyDLL does not, and neither do the bindings."""
    function = library(_ext.__file__).add_from_c
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t] * 2
    return function


with_gil, without_gil = from_c(ctypes.PyDLL), from_c(ctypes.CDLL)

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
    "pybind11, addresses": lambda: _pybind11.add_addresses(*addresses),
    "ctypes.PyDLL, addresses": lambda: with_gil(*addresses),
    "ctypes.CDLL, addresses": lambda: without_gil(*addresses),
    "nanobind, CuPy arrays": lambda: da.add_into(a, b, out),
    "nanobind, on a stream": lambda: da.add_into(a, b, out, 1),
    "cuda.core launch": lambda: launch(stream, config, kernel, *addresses[:3], size),
    "CuPy RawKernel": lambda: raw((1,), (SIZE,), (a, b, out, size)),
    "numba-cuda": lambda: configured(*views),
}


def measure(calls=200, rounds=30, warmup=3):
    """{name: [seconds of one call, for each round]}, and the floor: the extension's launches without Python between them.

    A launch is asynchronous: the device is idle at the beginning of each row, and nobody waits at its end.
    """
    def floor():
        da.add_repeatedly(*addresses, calls)

    def seconds_of(row):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        row()
        return (time.perf_counter() - start) / calls

    rows = {"a loop in C++": floor} | {name: lambda way=way: [way() for _ in range(calls)] for name, way in ways.items()}
    taken = [{name: seconds_of(row) for name, row in rows.items()} for _ in range(warmup + rounds)]
    return {name: [one[name] for one in taken[warmup:]] for name in rows}

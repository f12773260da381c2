"""Bytes to fetch, and a kernel that fetches them: to[i] = from[i], 16 bytes a thread and turn. By CuPy."""

import cupy as _cp

_KERNEL = _cp.RawKernel(
    r"""
extern "C" __global__ void fetch(const uint4 *from, uint4 *to, long long size) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < size; i += gridDim.x * (long long)blockDim.x) to[i] = from[i];
}""",
    "fetch",
)


def sevens(size, number):
    """So many bytes in the memory of a device, by its number; each is 7."""
    with _cp.cuda.Device(number) as device:
        array = _cp.empty(size, "u1")
        array.data.memset(7, size)
        device.synchronize()
    return array


def fetch(source, to, each=8):
    """Copy an array whose bytes are a multiple of 16 into one of the current device; `source` may be another device's.

    `each` is the number of blocks for each multiprocessor, 256 threads a block.
    """
    blocks = each * _cp.cuda.Device().attributes["MultiProcessorCount"]
    _KERNEL((blocks,), (256,), (source, to, source.nbytes // 16))

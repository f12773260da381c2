"""With CuPy: bytes to fetch, and a kernel that fetches them, 16 bytes per thread and iteration."""

import cupy as _cp

_KERNEL = _cp.RawKernel(
    r"""
extern "C" __global__ void fetch(const uint4 *from, uint4 *to, long long size) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    for (; i < size; i += gridDim.x * (long long)blockDim.x) to[i] = from[i];
}""",
    "fetch",
)


def sevens(size, number):
    """`size` bytes with the value 7 in the memory of device `number`."""
    with _cp.cuda.Device(number) as device:
        array = _cp.empty(size, "u1")
        array.data.memset(7, size)
        device.synchronize()
    return array


def fetch(source, to, each=8):
    """Copy an array, a multiple of 16 bytes, into one of the current device.

    `source` may be on another device. `each` is the number of blocks of 256 threads per
    multiprocessor.
    """
    blocks = each * _cp.cuda.Device().attributes["MultiProcessorCount"]
    _KERNEL((blocks,), (256,), (source, to, source.nbytes // 16))

"""Five common kernels, for numba-cuda and numba-cuda-mlir alike: `five(cuda)`."""

import numpy as _numpy


def five(cuda):
    """{name: Python function} with either package's `cuda`; blocks of 256 threads.

    Blocks of 16 x 16 for stencil and matmul.
    """
    float32, int32 = _numpy.float32, _numpy.int32

    def copy(a, b):
        i = cuda.grid(1)
        if i < b.size:
            b[i] = a[i]

    def stencil(a, b):
        j, i = cuda.grid(2)
        if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
            b[i, j] = float32(0.25) * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])

    def reduction(a, total):
        part = cuda.shared.array(256, int32)
        t, mine = cuda.threadIdx.x, int32(0)
        for k in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            mine += a[k]
        part[t] = mine
        step = 128
        while step:
            cuda.syncthreads()
            if t < step:
                part[t] += part[t + step]
            step //= 2
        if t == 0:
            cuda.atomic.add(total, 0, part[0])

    def histogram(a, bins):
        # On its own line: numba-cuda-mlir 0.6.0 loses the memory space of a renamed array
        part = cuda.shared.array(256, int32)
        t = cuda.threadIdx.x
        part[t] = 0
        cuda.syncthreads()
        for k in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            cuda.atomic.add(part, int32(a[k]), int32(1))
        cuda.syncthreads()
        cuda.atomic.add(bins, t, part[t])

    def matmul(a, b, c):
        left = cuda.shared.array((16, 16), float32)
        right = cuda.shared.array((16, 16), float32)
        j, i = cuda.grid(2)
        x, y, total = cuda.threadIdx.x, cuda.threadIdx.y, float32(0)
        for k in range(0, a.shape[1], 16):
            left[y, x], right[y, x] = a[i, k + x], b[k + y, j]
            cuda.syncthreads()
            for m in range(16):
                total += left[y, m] * right[m, x]
            cuda.syncthreads()
        c[i, j] = total

    return {
        "copy": copy,
        "stencil": stencil,
        "reduction": reduction,
        "histogram": histogram,
        "matmul": matmul,
    }


SIGNATURES = {
    "copy": "void(float32[::1], float32[::1])",
    "stencil": "void(float32[:, ::1], float32[:, ::1])",
    "reduction": "void(int32[::1], int32[::1])",
    "histogram": "void(uint8[::1], int32[::1])",
    "matmul": "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])",
}

"""Three kernels of two float32 matrices for Numba, from one line to a tiled matrix product."""

import math

from numba import cuda, float32


def one_line(a, b):
    cuda.cg.this_grid().sync()


def stencil(a, b):
    """A thousand times, each inner element becomes the mean of its four neighbours."""
    first, step = cuda.grid(1) + 1, cuda.gridsize(1)
    for _ in range(1000):
        for i in range(first, a.shape[0] - 1, step):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4
        cuda.cg.this_grid().sync()
        for i in range(first, a.shape[0] - 1, step):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = b[i, j]
        cuda.cg.this_grid().sync()


def product(a, b):
    """The square of a in tiles of 16 times 16, and two functions of each element."""
    left = cuda.shared.array((16, 16), float32)
    right = cuda.shared.array((16, 16), float32)
    x, y, (i, j) = cuda.threadIdx.x, cuda.threadIdx.y, cuda.grid(2)
    total = float32(0)
    for k in range(0, a.shape[1], 16):
        left[x, y] = a[i, k + y] if i < a.shape[0] and k + y < a.shape[1] else 0
        right[x, y] = a[k + x, j] if k + x < a.shape[0] and j < a.shape[1] else 0
        cuda.syncthreads()
        for m in range(16):
            total += left[x, m] * right[m, y]
        cuda.syncthreads()
    if i < b.shape[0] and j < b.shape[1]:
        b[i, j] = math.tanh(total) + math.exp(-total)

"""What the launch of one thread takes of the GPU's memory, for numba-cuda.

    kernel_with(size)                   # a kernel with a local array of so many bytes
    taken(kernel, out, 3)               # bytes that are free before the launch, and not after it
    resident_threads()                  # threads that the GPU can hold at once
    sizes()                             # five, each twice the one before; see there

Other processes change the free memory, too. A launch takes milliseconds, so hardly one of several
launches is disturbed: their median can be relied on, a single one cannot.
"""

import numpy as _np
from numba import cuda as _cuda


def kernel_with(size):
    """The array lies in local memory, since the kernel reads it at an index that it is given."""

    @_cuda.jit("void(uint8[::1], int64)")
    def last(out, x):
        mine = _cuda.local.array(size, _np.uint8)
        for k in range(size):
            mine[k] = k
        out[0] = mine[x]

    return last


def resident_threads():
    """As many as fit on all multiprocessors together."""
    gpu = _cuda.get_current_device()
    return gpu.MULTIPROCESSOR_COUNT * gpu.MAX_THREADS_PER_MULTIPROCESSOR


def sizes():
    """Powers of two; the largest needs in all resident threads at most an eighth of the GPU."""
    most = _cuda.current_context().get_memory_info().total // 8 // resident_threads()
    return [1 << (most.bit_length() - shift) for shift in (5, 4, 3, 2, 1)]


def taken(kernel, *arguments):
    """The kernel must be compiled, or its code counts, too."""
    memory = _cuda.current_context().get_memory_info
    _cuda.synchronize()
    free = memory().free
    kernel[1, 1](*arguments)
    _cuda.synchronize()
    return free - memory().free

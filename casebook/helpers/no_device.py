"""CuPy without a GPU: arrays lie at a made-up address, and every call ends before anything would be launched.

Tracing a fused function, inferring types and writing CUDA code are host code. `stopped(fused, x)` lets a call get that far.
"""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # on a machine with a GPU as well

import cupy as _cupy

_memory = _cupy.cuda.UnownedMemory(0x1000, 1 << 40, None, 0)
_cupy.cuda.set_allocator(lambda size: _cupy.cuda.MemoryPointer(_memory, 0))


def stopped(fused, *args):
    """Call a fused function; returns the error that says that there is no device. Any other error is raised."""
    try:
        fused(*args)
    except _cupy.cuda.runtime.CUDARuntimeError as error:
        return error
    raise RuntimeError("the call came back, so nothing stopped it before its launch")

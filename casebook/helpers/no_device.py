"""CuPy without a GPU: arrays have an invented address, and every call stops before its launch.

Tracing a fused function, inferring types and generating CUDA code run on the host;
`stopped(fused, x)` runs a call up to there.
"""

import os
from collections.abc import Callable as _Callable

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # hide a GPU that is there

import cupy as _cupy

_memory = _cupy.cuda.UnownedMemory(0x1000, 1 << 40, None, 0)
_cupy.cuda.set_allocator(lambda size: _cupy.cuda.MemoryPointer(_memory, 0))


def stopped(fused: _Callable, *args: object) -> Exception:
    """Call a fused function; return the error that there is no device. Raises any other error."""
    try:
        fused(*args)
    except _cupy.cuda.runtime.CUDARuntimeError as error:
        return error
    raise RuntimeError("the call came back, so nothing stopped it before its launch")

"""Compiles a NumPy call inside a CUDA kernel and says what comes of it.

    from numpy_calls import outcome, ptx

For numba-cuda and Numba's built-in target. Each call sees `x` and `out`, one-dimensional float64
arrays, and `i`, the number of the thread. Needs no GPU.
"""

import math as _math
import re as _re

import numpy as _np
import sm_90 as _sm_90  # noqa: F401
from numba import cuda as _cuda
from numba import types as _types

_TELLING = [
    "unsupported NumPy function '[\\w.]+'",
    "<ufunc '\\w+'>",
    "No implementation of function Function\\(<(?:built-in )?function [\\w.]+",
    "Unknown attribute '\\w+'",
    "Signature mismatch",
]


def kernel(call):
    """The kernel `out[i] = call`, compiled for float64 arrays; or its exception."""
    names = {"np": _np, "math": _math, "cuda": _cuda}
    exec(f"def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = {call}", names)
    compiled = _cuda.jit(names["kernel"])
    row = _types.float64[::1]
    compiled.compile((row, row))
    return compiled


def outcome(call):
    """'compiles', or the type of the exception and the words of its message that tell why."""
    try:
        kernel(call)
    except Exception as error:
        said = next(filter(None, (_re.search(t, str(error)) for t in _TELLING)), None)
        return f"{type(error).__name__}: {said[0] if said else str(error).splitlines()[0]}"
    return "compiles"


def ptx(call):
    """The PTX of the kernel."""
    return str(next(iter(kernel(call).inspect_asm().values())))

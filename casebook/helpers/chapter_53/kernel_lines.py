"""Compiles a line of Python as the body of a CUDA kernel and says what comes of it.

    from kernel_lines import LINES, outcome

For numba-cuda and Numba's built-in target. Each line sees `x` and `out`, one-dimensional float64
arrays. Needs no GPU.
"""

import re as _re

import numpy as _np
import sm_90 as _sm_90  # noqa: F401
from numba import cuda as _cuda
from numba import types as _types

LINES = {
    "t = [x[0], 2.0]; out[0] = t[0]": "list",
    "t = []; t.append(x[0])": "append",
    "t = np.zeros(4); out[0] = t[0]": "np.zeros",
    "t = np.empty(4); out[0] = t[0]": "np.empty",
    "t = x[1:3].copy(); out[0] = t[0]": "copy",
    "t = x + out; out[0] = t[0]": "array + array",
    "s = 'a'; t = s + 'b'": "string + string",
    "out[:2] = x[2:4]": "array to slice",
    "out[:2] = (x[0], 2.0)": "tuple to slice",
    "out[:2] = 0.0": "number to slice",
    "t = x[1:3]; out[0] = t[0]": "view",
    "t = (x[0], 2.0); out[0] = t[0]": "tuple",
    "t = cuda.local.array(4, np.float64); out[0] = t[0]": "local array, size 4",
    "t = cuda.local.array(x.size, np.float64); out[0] = t[0]": "local array, x.size",
}
_TELLING = [
    "NRT required but not enabled",
    "Signature mismatch: .*",
    "Only accept returning of array passed",
    "Unknown attribute '\\w+'",
    "has no attribute '\\w+'",
    "<ufunc '\\w+'>",
    "No implementation of function Function\\(<(?:built-in )?function [\\w.]+",
]


def kernel(line):
    """The kernel with this line as its body, compiled for float64 arrays; or its exception."""
    names = {"np": _np, "cuda": _cuda}
    exec(f"def kernel(x, out):\n    {line}", names)
    compiled = _cuda.jit(names["kernel"])
    row = _types.float64[::1]
    compiled.compile((row, row))
    return compiled


def outcome(line):
    """'compiles', or the type of the exception and the words of its message that tell why."""
    try:
        kernel(line)
    except Exception as error:
        said = next(filter(None, (_re.search(t, str(error)) for t in _TELLING)), None)
        return f"{type(error).__name__}: {said[0] if said else str(error)}"
    return "compiles"


def ptx(line):
    """The PTX of the kernel."""
    return str(next(iter(kernel(line).inspect_asm().values())))

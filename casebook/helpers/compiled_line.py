"""Compiles a line of Python as the body of a CUDA kernel and says what comes of it.

    from compiled_line import outcome, ptx

For numba-cuda and Numba's built-in target. Each line sees `x` and `out`, one-dimensional float64
arrays, and `np`, `math` and `cuda`. Needs no GPU.
"""

import math as _math
import re as _re
from typing import Any

import numpy as _np
import sm_90 as _sm_90  # noqa: F401
from numba import cuda as _cuda
from numba import types as _types

MISSING = "No implementation of function Function\\(<(?:built-in )?function [\\w.]+"
TELLING = (
    "NRT required but not enabled",
    "unsupported NumPy function '[\\w.]+'",
    "Signature mismatch: .*",
    "Only accept returning of array passed",
    "Unknown attribute '\\w+'",
    "has no attribute '\\w+'",
    "<ufunc '\\w+'>",
    MISSING,
)


def kernel(line: str) -> Any:
    """The kernel with this line as its body, compiled for float64 arrays; or its exception."""
    names: dict[str, Any] = {"np": _np, "math": _math, "cuda": _cuda}
    exec(f"def kernel(x, out):\n    {line}", names)
    compiled = _cuda.jit(names["kernel"])
    row = _types.float64[::1]
    compiled.compile((row, row))
    return compiled


def outcome(line: str, telling: tuple[str, ...] = TELLING) -> str:
    """'compiles', or the type of the exception and the words of its message that tell why.

    `telling` are patterns of such words; the first that the message has counts.
    """
    try:
        kernel(line)
    except Exception as error:
        said = next(filter(None, (_re.search(words, str(error)) for words in telling)), None)
        return f"{type(error).__name__}: {said[0] if said else str(error).splitlines()[0]}"
    return "compiles"


def ptx(line: str) -> str:
    """The PTX of the kernel."""
    return str(next(iter(kernel(line).inspect_asm().values())))

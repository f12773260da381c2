"""Counts the float64 instructions of a kernel that Numba compiles for a GPU; no GPU is needed.

    from float64 import report_float64
    report_float64(kernel, float32[::1], float32[::1])     # types of the kernel's arguments

Needs the compiler, not the simulator: NUMBA_ENABLE_CUDASIM=0. Instructions that only move a number
count, too. The double-precision product in sin, cos and tan of a float32 does not (case 21).
"""
# mypy: allow-untyped-defs

import re as _re

from numba import cuda as _cuda
from numba import void as _void

_LIBRARY = r"cvt\.rn\.f64\.s64.*\n.*mul\.f64.*0d3BF921FB54442D19;\n.*cvt\.rn\.(?:ftz\.)?f32\.f64.*"
_WANTED = r"^\s*\.loc\s+\d+\s+(\d+).*|^\s*(?:@\S+\s+)?(\w+(?:\.\w+)*\.f64(?:\.\w+)*)\s"


def float64_instructions(kernel, *types) -> list[tuple[int, str]]:
    """The line of the source and the name of each one, in the order of the compiled kernel.

    Raises Numba's errors for a kernel that it cannot compile.
    """
    ptx, _ = _cuda.compile_ptx(kernel.py_func, _void(*types), cc=(9, 0), lineinfo=True)
    line, found = 0, []
    for place, name in _re.findall(_WANTED, _re.sub(_LIBRARY, "", ptx), _re.M):
        line = int(place or line)
        found += [(line, name)] * bool(name)
    return found


def told_float64(found: list[tuple[int, str]]) -> str:
    """Such as "2 float64 instructions: cvt.f64.f32, mul.f64"."""
    names = ", ".join(name for _, name in found[:4]) + ", …" * (len(found) > 4)
    many = f"{len(found)} float64 instruction{'s' * (len(found) != 1)}"
    return f"{many}: {names}" if found else "no float64 instruction"


def report_float64(kernel, *types) -> None:
    """Print how many there are, and which."""
    print(f"{kernel.py_func.__name__}: {told_float64(float64_instructions(kernel, *types))}")

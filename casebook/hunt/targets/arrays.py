"""Arrays for programs: every dtype, awkward numbers and layouts, as text."""

import math
from typing import Any

from hypothesis import strategies as st

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"]
CUPY = (
    "cupy-cuda12x==14.2.0",
    "cuda-pathfinder==1.9.0",
    "numpy==2.2.6",
    "nvidia-cuda-nvrtc-cu12==12.9.86",
    "nvidia-cuda-runtime-cu12==12.9.79",
)

FRAME = """import cupy
import numpy


def program(xp):
{{program}}


def seen(array):
    return {seen}


right, got = seen(program(numpy)), seen(program(cupy))
print("NumPy:", right)
print("CuPy: ", got)
assert got == right
"""

shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def numbers(draw: st.DrawFn, dtype: str) -> str:
    """A number of the dtype, edges of its range first."""
    if dtype == "bool":
        return draw(st.sampled_from(["False", "True"]))
    if "int" in dtype:
        bits = int(dtype.strip("uint"))
        low, high = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        return str(draw(st.sampled_from([0, 1, 2, high - 1, low]) | st.integers(low, high - 1)))
    width: Any = {"float16": 16, "float32": 32, "complex64": 32}.get(dtype, 64)
    floats = st.floats(width=width).map(lambda x: repr(x) if math.isfinite(x) else f"float('{x}')")
    if "complex" in dtype:
        return f"complex({draw(floats)}, {draw(floats)})"
    return draw(floats)

"""The module behind case 25: what a fused function computes in."""

import pytest
from helpers import cell, play

from casebook.cells.header import read
from casebook.environments import create
from casebook.errors import EnvironmentFailure

TODAY = {
    "python": ">=3.11,<3.14",
    "dependencies": (
        "cupy-cuda12x==14.2.0",
        "cuda-pathfinder==1.9.0",
        "numpy==2.2.6",
        "nvidia-cuda-nvrtc-cu12==12.9.86",
        "nvidia-cuda-runtime-cu12==12.9.79",
    ),
}

TYPES = """
from no_device import stopped
from narrow import fuse, types, verdict
import cupy as cp

for text in "x * s", "x * (s * s)", "x[...] * s":
    stopped(fused := fuse(text), cp.ndarray((4,), "float32"), 300)
    print(text, types(fused))
for answer in None, "", "x +", "x * n", "x / (n - 1)", "x / (n - cp.float32(1))":
    print(verdict(stopped, "x / (n - 1)", answer))
"""


def test_types_of_a_fused_function():
    try:
        create.make(read(cell("", **TODAY)))
    except EnvironmentFailure as failure:
        pytest.skip(str(failure))
    assert (
        play(TYPES, **TODAY).output
        == """\
x * s ['float']
x * (s * s) ['signed char', 'float']
x[...] * s None
Not yet: write an expression for `x / (n - 1)`, as text.
Not yet: write an expression for `x / (n - 1)`, as text.
Not yet: `x +` raises SyntaxError: invalid syntax (<string>, line 1)
Not yet: `x * n` is something else than `x / (n - 1)`.
Not yet: `x / (n - 1)` is computed in signed char. Which operation there has no array and no NumPy \
scalar of the other's kind? On which side of it?
None
"""
    )

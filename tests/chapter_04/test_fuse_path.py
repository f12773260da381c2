"""The modules behind chapter 4, CuPy without a device and the tracer that cupy.fuse has taken.

In a release of each kind.
"""

import pytest
from helpers import cell, play

from casebook.cells.header import read
from casebook.environments import create
from casebook.errors import EnvironmentFailure

NVIDIA = ("nvidia-cuda-nvrtc-cu12==12.9.86", "nvidia-cuda-runtime-cu12==12.9.79")
BROKEN = ("cupy-cuda12x==13.4.0", "fastrlock==0.8.3", "numpy==2.2.6", *NVIDIA)
TODAY = ("cupy-cuda12x==14.2.0", "cuda-pathfinder==1.9.0", "numpy==2.2.6", *NVIDIA)


def output_of(body, dependencies):
    settings = {"python": ">=3.11,<3.14", "dependencies": dependencies}
    try:
        create.make(read(cell("", **settings)))
    except EnvironmentFailure as failure:
        pytest.skip(str(failure))
    return play(body, **settings).output


PATHS = """
from no_device import stopped
from fuse_path import kernel_of, path, result_type
import cupy as cp

x = cp.ndarray((4,), "float32")
for text in "x * x", "x * x + 1", "x - cp.sum(x)", "cp.sum(x)", "x == 1":
    fused = cp.fuse(kernel_name="k")(eval("lambda x: " + text))
    stopped(fused, x)
    print(text, path(fused), result_type(fused), type(kernel_of(fused)).__name__, sep=", ")
"""


@pytest.mark.parametrize(
    ("dependencies", "with_a_literal"),
    [(BROKEN, "second, float32, FusedKernel"), (TODAY, "first, float32, ElementwiseKernel")],
    ids=["13.4.0", "14.2.0"],
)
def test_path_type_and_kernel(dependencies, with_a_literal):
    assert (
        output_of(PATHS, dependencies)
        == f"""\
x * x, first, float32, ElementwiseKernel
x * x + 1, {with_a_literal}
x - cp.sum(x), second, float32, FusedKernel
cp.sum(x), first, float32, ReductionKernel
x == 1, {with_a_literal.replace("float32", "bool")}
"""
    )


CALLS = """
from no_device import stopped
import cupy as cp

print(type(stopped(cp.fuse(kernel_name="k")(lambda x: x), cp.ndarray((4,), "float32"))).__name__)
for call in lambda: None, lambda: 1 / 0:
    try:
        stopped(call)
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_a_call_that_nothing_stops_and_any_other_error_are_raised():
    assert output_of(CALLS, TODAY).splitlines() == [
        "CUDARuntimeError",
        "RuntimeError the call came back, so nothing stopped it before its launch",
        "ZeroDivisionError division by zero",
    ]

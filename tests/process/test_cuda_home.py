"""The CUDA_HOME layout that old Numba searches, laid out from the wheels of the environment."""

import pytest
from helpers import play

from casebook.cells.header import Header
from casebook.environments import create
from casebook.errors import EnvironmentFailure

NVCC, RUNTIME = "nvidia-cuda-nvcc-cu12==12.4.131", "nvidia-cuda-runtime-cu12==12.9.79"
SHOW = """import ctypes, os, pathlib
home = pathlib.Path(os.environ["CUDA_HOME"])
print(*sorted(str(p.relative_to(home)) for p in home.rglob("*")))
major, minor = ctypes.c_int(), ctypes.c_int()
ctypes.CDLL(home / "nvvm/lib64/libnvvm.so.4").nvvmVersion(ctypes.byref(major), ctypes.byref(minor))
print("NVVM", major.value)
print(*(p.name for p in (home / "nvvm/libdevice").iterdir()))"""
LAYOUT = (
    "lib64 lib64/libcudadevrt.a lib64/libcudart.so.12 "
    "nvvm nvvm/lib64 nvvm/lib64/libnvvm.so.4 nvvm/libdevice"
)


@pytest.fixture
def wheels():
    """Pins of the two wheels."""
    try:
        create.make(Header(">=3.11", (NVCC, RUNTIME)))
    except EnvironmentFailure as error:
        pytest.skip(str(error))
    return [NVCC, RUNTIME]


def test_the_layout(wheels):
    shown = play(SHOW, "cuda-home = true", dependencies=wheels).output.splitlines()
    assert shown == [LAYOUT, "NVVM 2", "libdevice.10.bc"]


@pytest.mark.parametrize("missing", ["nvcc", "runtime"])
def test_a_wheel_that_is_missing_is_named(wheels, missing):
    found = [pin for pin in wheels if f"-{missing}-" not in pin]
    sentence = f"cuda-home needs .* of the wheel nvidia-cuda-{missing}-cu12: add that package"
    with pytest.raises(EnvironmentFailure, match=sentence):
        play("", "cuda-home = true", dependencies=found)

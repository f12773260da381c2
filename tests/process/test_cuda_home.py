"""The CUDA_HOME layout that old Numba searches, laid out from the wheels of the environment."""

import pytest
from helpers import cell, play

from casebook.cells.header import read
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


@pytest.fixture
def wheels():
    try:
        create.make(read(cell("", dependencies=[NVCC, RUNTIME])))
    except EnvironmentFailure as error:
        pytest.skip(str(error))


def test_the_layout(wheels):
    shown = play(SHOW, "cuda-home = true", dependencies=[NVCC, RUNTIME]).output.splitlines()
    assert shown == [
        "lib64 lib64/libcudadevrt.a lib64/libcudart.so.12 nvvm nvvm/lib64 nvvm/lib64/libnvvm.so.4 nvvm/libdevice",
        "NVVM 2",
        "libdevice.10.bc",
    ]


def test_a_wheel_that_is_missing_is_named(wheels):
    root = create.make(read(cell("", dependencies=[NVCC]))).root
    before = set(root.iterdir())
    with pytest.raises(
        EnvironmentFailure,
        match=r"cuda-home needs .* of the wheel nvidia-cuda-nvcc-cu12: add that package",
    ):
        play("", "cuda-home = true")
    with pytest.raises(
        EnvironmentFailure,
        match=r"cuda-home needs .* of the wheel nvidia-cuda-runtime-cu12: add that package",
    ):
        play("", "cuda-home = true", dependencies=[NVCC])
    assert set(root.iterdir()) == before


def test_only_cells_that_ask_get_it(wheels):
    assert (
        play("import os; print('CUDA_HOME' in os.environ)", dependencies=[NVCC, RUNTIME]).output
        == "False\n"
    )

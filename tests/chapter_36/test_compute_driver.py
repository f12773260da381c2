"""The fake driver of case 36: the types in the name of a kernel."""

import shutil
import subprocess
import sys

import pytest

from casebook.execution.modules import FOLDERS

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler, cc")

SCRIPT = """
import ctypes
from compute_driver import pointers
cuda, kernel = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
for types in "PfPdyS9_dd", "PfSF_yS9_ff", "PiPxyS9_xx":
    for name in "DeviceReduceKernel", f"28DeviceReduceSingleTileKernelE1EEE{types}NS7_8identityEEE":
        cuda.cuLibraryGetKernel(ctypes.byref(kernel), None, name.encode())
    print(*pointers())
"""


def test_the_first_two_pointers_of_the_single_tile_kernel():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={"PYTHONPATH": ":".join(map(str, FOLDERS)), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["float* double*", "float* float*", "int* long long*"]

"""The fake driver of case 36: the types in the name of a kernel."""

from helpers import beside_a_built_driver

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
    assert beside_a_built_driver(SCRIPT) == ["float* double*", "float* float*", "int* long long*"]

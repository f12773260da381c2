"""The kernels of the target `kernels`, compiled by numba-cuda."""

from casebook.hunt.targets import Target
from casebook.hunt.targets.kernels import COMMON, FRAME, programs

TARGET = Target(
    "kernels of numba-cuda against Python",
    ("numba-cuda==0.30.4", "numba==0.65.1", "llvmlite==0.47.0", "packaging==26.3", *COMMON),
    programs(),
    FRAME,
    gpu=True,
    examples=3_000,
    seconds=60,
    env=(("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0"),),
    side="kernels",
)

"""The kernels of the target `kernels-by-ptx`, compiled by numba-cuda."""

from dataclasses import replace

from casebook.hunt.targets import kernels_by_ptx, numba_kernels

TARGET = replace(
    numba_kernels.TARGET,
    about="PTX of numba-cuda, run on the CPU, against Python",
    programs=kernels_by_ptx.TARGET.programs,
    gpu=False,
    side="kernels-by-ptx",
)

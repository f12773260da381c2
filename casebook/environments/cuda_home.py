"""The CUDA_HOME layout that Numba's built-in target and numba-cuda before 0.9 search.

They know nothing of wheels and look for CUDA_HOME/nvvm/lib64/libnvvm.so.<digits>; the wheel holds
libnvvm.so. So the files of the environment's wheels are linked into the places where they look.
"""

from pathlib import Path

from casebook.environments.venv import Environment
from casebook.errors import EnvironmentFailure

LINKS = {  # place in CUDA_HOME: (file in site-packages/nvidia, wheel that holds it)
    "nvvm/lib64/libnvvm.so.4": ("cuda_nvcc/nvvm/lib64/libnvvm.so", "nvidia-cuda-nvcc-cu12"),
    "nvvm/libdevice": ("cuda_nvcc/nvvm/libdevice", "nvidia-cuda-nvcc-cu12"),
    "lib64/libcudart.so.12": ("cuda_runtime/lib/libcudart.so.12", "nvidia-cuda-runtime-cu12"),
    "lib64/libcudadevrt.a": ("cuda_runtime/lib/libcudadevrt.a", "nvidia-cuda-runtime-cu12"),
}


def lay_out(environment: Environment, home: Path) -> Path:
    """The layout for an environment, as a new folder `home`: links alone, for one run."""
    for place, (file, wheel) in LINKS.items():
        target = environment.site / "nvidia" / file
        if not target.exists():
            raise EnvironmentFailure(
                f"cuda-home needs {file} of the wheel {wheel}: add that package to dependencies"
            )
        link = home / place
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    return home

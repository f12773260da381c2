"""CuPy compiles a kernel as before a launch, without a GPU and without this machine's toolkit.

Headers of a toolkit on the machine stay hidden, so that a cell ends alike on every machine. Only
the packages of pip count, and a CUDA_PATH that is set after this import.
"""

import os

os.environ.pop("CUDA_PATH", None)
os.environ.pop("CUDA_HOME", None)
os.environ.pop("CONDA_PREFIX", None)

from cupy import _environment
from cupy._core import core
from cupy.cuda import compiler

try:
    from cuda.pathfinder._headers import find_nvidia_headers as _find
except ImportError:  # CuPy 13 searches by itself: CUDA_PATH, then nvcc, then /usr/local/cuda

    def _from_variable():
        path = os.environ.get("CUDA_PATH", "")
        return path if os.path.exists(path) else None

    _environment._cuda_path = ""
    _environment._get_cuda_path = _from_variable
else:
    _find.FIND_STEPS = _find.find_in_site_packages, _find.find_in_cuda_path

SIMPLE = "#include <cupy/complex.cuh>\n#include <cupy/carray.cuh>\n#include <cupy/atomics.cuh>\n"
REDUCTION = SIMPLE + "#include <cub/block/block_reduce.cuh>\n"

compiler._get_arch_for_options_for_nvrtc = lambda arch=None: ("-arch=sm_90", "cubin")  # asks no GPU


def compile_kernel(source: str = SIMPLE) -> bytes:
    """Compile `source`, by default the headers that each of CuPy's own kernels includes."""
    options = core.assemble_cupy_compiler_options(())
    options += getattr(compiler, "_get_extra_include_dir_opts", tuple)()  # CuPy 13's for wheels
    return compiler.compile_using_nvrtc(source, options)[0]


def tried(source: str = SIMPLE) -> str:
    """Whether `source` compiles, or the line that says why not, without folders."""
    try:
        compile_kernel(source)
    except (RuntimeError, compiler.CompileException) as error:
        line = next(line for line in str(error).splitlines() if "Failed" in line or "error" in line)
        return line.split(". ")[0] if "Failed" in line else line.rpartition("/")[2]
    return "compiles"

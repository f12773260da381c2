"""The floating-point instructions in machine code, without a GPU, for compute capability 9.0.

    from machine_code import instructions, loaded_by_cupy
    instructions(cubin)                            # "DMUL DADD"
    loaded_by_cupy(source, ("--fmad=false",))      # the cubin that CuPy's RawKernel would load

A cubin is an ELF file with the machine code of kernels, 16 bytes an instruction.
"""

import os as _os
from types import SimpleNamespace as _Namespace

from cubins import functions as _functions
from cubins import section as _section

# The low 9 bits of an instruction, whatever its operands; the names are nvdisasm's
_NAMES = {0x20: "FMUL", 0x21: "FADD", 0x23: "FFMA", 0x28: "DMUL", 0x29: "DADD", 0x2B: "DFMA"}


def instructions(cubin: bytes) -> str:
    """Names of the multiplications, additions and multiply-adds of the only function, in order."""
    (name,) = _functions(cubin)
    code = _section(cubin, f".text.{name}")
    numbers = (code[at] | code[at + 1] << 8 for at in range(0, len(code), 16))
    return " ".join(_NAMES[n & 0x1FF] for n in numbers if n & 0x1FF in _NAMES)


def loaded_by_cupy(
    source: str, options: tuple[str, ...] = (), form: str = "cubin", log: object = None
) -> bytes:
    """What CuPy's own steps of a RawKernel compile and load; `form` may be "ptx"."""
    _os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # hide a GPU that is there
    _os.environ["CUPY_CACHE_IN_MEMORY"] = "1"  # compile, whatever the cache on disk has
    from cupy.cuda import compiler

    loaded: list[bytes] = []
    target = {"cubin": "-arch=sm_90", "ptx": "-arch=compute_90"}[form]
    module = _Namespace(load=loaded.append, _set_mapping=lambda names: None)
    compiler.function = _Namespace(Module=lambda: module)
    compiler._get_arch_for_options_for_nvrtc = lambda arch=None: (target, form)
    compiler._compile_module_with_cache(source, options, arch="90", log_stream=log)
    return loaded[0]

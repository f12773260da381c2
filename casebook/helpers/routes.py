"""Compiles C++ to PTX, and C++ or PTX to a cubin, with cuda.core: for sm_90 unless given, uncached.

Needs no GPU.
"""

from cuda.core import Program as _Program
from cuda.core import ProgramOptions as _Options


def to_ptx(source: str, arch: str = "90", **options: object) -> str:
    """PTX of a C++ source. Options are those of cuda.core.ProgramOptions."""
    chosen = _Options(arch=f"compute_{arch}", no_cache=True, **options)
    code = _Program(source, "c++", chosen).compile("ptx").code
    return bytes(code).rstrip(b"\0 ").decode()


def build(kind: str, source: str, arch: str = "90", **options: object) -> bytes:
    """Cubin of a source of kind "c++" or "ptx"."""
    chosen = _Options(arch=f"sm_{arch}", no_cache=True, **options)
    return bytes(_Program(source, kind, chosen).compile("cubin").code)

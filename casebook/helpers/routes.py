"""C++ to PTX, and either to a cubin, with cuda.core; for sm_90 unless told otherwise, on any machine, past every cache."""

from cuda.core import Program as _Program
from cuda.core import ProgramOptions as _Options


def to_ptx(source, arch="90", **options):
    """PTX of a C++ source, as text. Options are those of cuda.core.ProgramOptions."""
    code = (
        _Program(source, "c++", _Options(arch=f"compute_{arch}", no_cache=True, **options))
        .compile("ptx")
        .code
    )
    return bytes(code).rstrip(b"\0 ").decode()


def build(kind, source, arch="90", **options):
    """Cubin, as bytes, of a source of kind "c++" or "ptx"."""
    return bytes(
        _Program(source, kind, _Options(arch=f"sm_{arch}", no_cache=True, **options))
        .compile("cubin")
        .code
    )

"""Facts of a cubin's kernel, without a GPU: registers, local memory accesses, bytes of code.

    from cubins import facts, functions, section
    facts(cubin)                        # Facts(registers=24, local=525, in_loops=151, code=36352)

A cubin is an ELF file: `.nv.info` holds the number of registers, `.text.NAME` the instructions of
the kernel NAME, 16 bytes each. Local memory holds spilled registers and arrays that are indexed by
a variable. Only for compute capability 9.0: other GPUs encode the target of a branch differently.
The tests compare these facts with the report of `ptxas -v`.
"""

from struct import iter_unpack as _iter_unpack
from struct import unpack_from as _unpack_from
from typing import NamedTuple as _NamedTuple

# The low 12 bits of an instruction: LDL and STL; BRA
_LOADS_AND_STORES, _BRANCH = (0x983, 0x387), 0x947
_REGISTERS = 0x2F


class Facts(_NamedTuple):
    """Registers per thread, local memory accesses (all, and those in loops), bytes of code."""

    registers: int
    local: int
    in_loops: int
    code: int


def functions(cubin: bytes) -> list[str]:
    """Names of the functions that have machine code, including the kernel."""
    return sorted(
        name.removeprefix(".text.") for name in _sections(cubin) if name.startswith(".text.")
    )


def section(cubin: bytes, name: str) -> bytes:
    """Content of an ELF section. Raises KeyError."""
    return _sections(cubin)[name]


def facts(cubin: bytes) -> Facts:
    """Facts of the only kernel. Raises ValueError for no or several kernels, or another GPU."""
    parts = _sections(cubin)
    (flags,) = _unpack_from("<I", cubin, 0x30)
    if 90 not in (flags & 0xFF, flags >> 8 & 0xFF):
        raise ValueError("not code for compute capability 9.0")
    constants = ".nv.constant0."  # a kernel's arguments are in .nv.constant0.NAME
    kernels = [name.removeprefix(constants) for name in parts if name.startswith(constants)]
    if len(kernels) != 1:
        raise ValueError(f"a cubin with one kernel is needed, not {len(kernels)}")
    code = parts[f".text.{kernels[0]}"]
    accesses, loops = _accesses_and_loops(code)
    looped = [at for at in accesses if any(start <= at <= end for start, end in loops)]
    return Facts(_registers(parts, kernels[0]), len(accesses), len(looped), len(code))


def _sections(cubin: bytes) -> dict[str, bytes]:
    if cubin[:4] != b"\x7fELF":
        raise ValueError("not a cubin: it does not begin like an ELF file")
    (start,) = _unpack_from("<Q", cubin, 0x28)
    size, count, names = _unpack_from("<HHH", cubin, 0x3A)
    rows = [_unpack_from("<IIQQQQ", cubin, start + i * size) for i in range(count)]
    return {_text(cubin, rows[names][4] + row[0]): cubin[row[4] : row[4] + row[5]] for row in rows}


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _registers(parts: dict[str, bytes], kernel: str) -> int:
    symbols = [_text(parts[".strtab"], row[0]) for row in _iter_unpack("<IBBHQQ", parts[".symtab"])]
    info, at = parts[".nv.info"], 0
    while at < len(info):
        form, kind, size = _unpack_from("<BBH", info, at)
        if form == 4 and kind == _REGISTERS:
            symbol, number = _unpack_from("<II", info, at + 4)
            if symbols[symbol] == kernel:
                return number
        at += 4 + (size if form == 4 else 0)
    raise ValueError(f"the cubin does not say how many registers {kernel} uses")


def _accesses_and_loops(code: bytes) -> tuple[list[int], list[tuple[int, int]]]:
    """Offsets of the local memory accesses; (target, branch) offsets of each backward branch."""
    accesses, loops = [], []
    for number, (low, high) in enumerate(_iter_unpack("<QQ", code)):
        at = 16 * number
        if low & 0xFFF in _LOADS_AND_STORES:
            accesses.append(at)
        elif low & 0xFFF == _BRANCH:
            words = (high & 0x3FFFF) << 38 | low >> 34 << 8 | low >> 16 & 0xFF
            target = at + 16 + 4 * _signed(words, 56)
            if target < at:
                loops.append((target, at))
    return accesses, loops


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) else number

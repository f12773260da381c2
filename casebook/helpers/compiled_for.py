"""Numba's kernels compiled for another GPU, without one: see `casebook architectures`.

Imported first in a cell, where CASEBOOK_CAPABILITY names a compute capability such as 12.0. Kernels
are compiled down to machine code and bound to nothing; a launch does nothing, and arrays on the
device are NumPy's. At the end, one line of JSON says what each kernel takes.
"""

import atexit as _atexit
import json as _json
import os as _os
from collections.abc import Iterator as _Iterator
from struct import iter_unpack as _iter_unpack
from struct import unpack_from as _unpack_from
from types import SimpleNamespace as _Namespace
from typing import Any as _Any

import numpy as _np
from cubins import _sections, _text
from numba import cuda as _cuda
from numba.cuda import codegen as _codegen
from numba.cuda import dispatcher as _dispatcher
from numba.cuda.cudadrv import devices as _devices

MARK = "KERNELS "
_REGISTERS, _FRAME = 0x2F, 0x11  # entries of .nv.info
_REGISTERS_OF_SM, _MOST_THREADS = 65_536, 1024
_capability = tuple(map(int, _os.environ["CASEBOOK_CAPABILITY"].split(".")))
_found: list[dict[str, _Any]] = []
_device = _Namespace(
    compute_capability=_capability,
    name=b"a GPU to compile for",
    MULTIPROCESSOR_COUNT=40,
    MAX_THREADS_PER_BLOCK=_MOST_THREADS,
    MAX_SHARED_MEMORY_PER_BLOCK=49_152,
    WARP_SIZE=32,
)


def _facts(cubin: bytes) -> dict[str, dict[str, int]]:
    """Registers, bytes of local and of static shared memory of each function."""
    parts = _sections(cubin)
    names = [_text(parts[".strtab"], row[0]) for row in _iter_unpack("<IBBHQQ", parts[".symtab"])]
    facts: dict[str, dict[str, int]] = {}
    for kind, symbol, number in _entries(parts[".nv.info"]):
        key = {_REGISTERS: "registers", _FRAME: "local"}.get(kind)
        if key:
            facts.setdefault(names[symbol], {"registers": 0, "local": 0, "shared": 0})[key] = number
    for name, content in parts.items():
        if (kernel := name.removeprefix(".nv.shared.")) in facts:
            facts[kernel]["shared"] = len(content)
    return facts


def _entries(info: bytes) -> _Iterator[tuple[int, int, int]]:
    at = 0
    while at < len(info):
        form, kind, size = _unpack_from("<BBH", info, at)
        if form == 4 and size >= 8:
            symbol, number = _unpack_from("<II", info, at + 4)
            yield kind, symbol, number
        at += 4 + (size if form == 4 else 0)


def _largest_block(registers: int) -> int:
    """Threads of the largest block: registers are given to warps in steps of 256."""
    of_warp = -(-max(registers, 1) * 32 // 256) * 256
    return min(_MOST_THREADS, _REGISTERS_OF_SM // of_warp // 4 * 4 * 32)


def _compile(library: _Any) -> _Any:
    name = library.name.partition("[")[0][:40]
    try:
        facts = _facts(bytes(library.get_cubin(cc=_capability).code))
    except Exception as error:
        _found.append({"kernel": name, "error": f"{type(error).__name__}: {str(error)[:80]}"})
        raise
    registers = max(one["registers"] for one in facts.values())
    attrs = _Namespace(
        regs=registers,
        local=max(one["local"] for one in facts.values()),
        shared=max(one["shared"] for one in facts.values()),
        const=0,
        maxthreads=_largest_block(registers),
    )
    row = {"kernel": name, "registers": attrs.regs}
    row |= {"local": attrs.local, "shared": attrs.shared, "threads": attrs.maxthreads}
    if row not in _found:
        _found.append(row)
    return _Namespace(attrs=attrs, name=library.name, module=None)


class _Array(_np.ndarray):
    """An array on the device."""

    def copy_to_host(self, *given: _Any, **named: _Any) -> _np.ndarray:
        return _np.asarray(self)

    def copy_to_device(self, *given: _Any, **named: _Any) -> None:
        pass


def _empty(shape: _Any, dtype: _Any = _np.float64, *given: _Any, **named: _Any) -> _np.ndarray:
    return _np.zeros(shape, dtype).view(_Array)


_dispatcher.get_current_device = _cuda.get_current_device = lambda *which: _device
_devices.get_context = lambda *which: _Namespace(device=_device)
_codegen.CUDACodeLibrary.get_cufunc = _compile
_dispatcher._Kernel.bind = lambda kernel: _compile(kernel._codelibrary) and None
_dispatcher._Kernel.launch = lambda *given, **named: None
_cuda.to_device = lambda array, *given, **named: _np.array(array).view(_Array)
_cuda.device_array = _empty
_cuda.device_array_like = lambda array, *given, **named: _np.zeros_like(array).view(_Array)
_cuda.synchronize = lambda *given: None
_atexit.register(lambda: print(MARK + _json.dumps(_found), flush=True))

"""Kernels of one expression against Python, by the harness of chapter 6, without a GPU: what the
compilers write, PTX, runs on the CPU."""

import differential
import numpy as np

try:
    import compile_90  # noqa: F401
    from numba_cuda_mlir import types
except ModuleNotFoundError:
    import sm_90  # noqa: F401
    from numba import types

import ptx

differential.TABLES = 1


def results(entry, columns):
    """Takes the place of differential.results: each row is a thread of one block."""
    arrays = [*columns, np.zeros(len(columns[0]), entry.result)]
    kinds = [
        types.Array(getattr(types, a.dtype.name.replace("bool", "boolean")), 1, "C") for a in arrays
    ]
    text, _ = differential.cuda.compile_ptx(entry.function, types.void(*kinds), cc=(9, 0))
    memory, starts = bytearray(), []
    for array in arrays:
        fence = b"\1" * differential.ROWS * array.itemsize
        starts.append(len(memory) + len(fence))
        memory += fence + array.tobytes() + fence + bytes(-array.nbytes % 16)
    kernel = ptx.Kernel(text, memory)
    given = [
        number
        for array, start in zip(arrays, starts, strict=True)
        for number in described(array, ptx.BASE + start, len(kernel.parameters) // len(arrays))
    ]
    with np.errstate(all="ignore"):
        for row in range(len(arrays[0])):
            special = {f"%{name}.{axis}": 0 for name in ("tid", "ctaid") for axis in "xyz"}
            special |= {f"%{name}.{axis}": 1 for name in ("ntid", "nctaid") for axis in "xyz"}
            kernel.run(given, special | {"%tid.x": row, "%ntid.x": len(arrays[0])})
    return np.frombuffer(memory, entry.result, len(arrays[0]), starts[-1])


def described(array, address, numbers):
    """An array as a kernel's parameters: those of numba-cuda-mlir (5) or of numba-cuda (7)."""
    size = len(array)
    if numbers == 5:
        return address, address, 0, size, 1
    return 0, 0, size, array.itemsize, address, size, array.itemsize


differential.results = results
RIGHT = {"op": lambda *entry, **judge: "right"}
ASKED = {"op": lambda *entry, **judge: said(differential.op(*entry, **judge))}
UNABLE = ("NotUnderstood",)


def said(entry):
    answer = differential.outcome(entry).partition(", bits")[0]
    if answer.startswith("NotUnderstood"):
        raise ptx.NotUnderstood(answer)
    return answer.partition(", ")[0] if answer.startswith("right") else answer


def seen(value, names):
    return value


def difference(right, got):
    return "" if right == got else got.partition(" ")[0].rstrip(":")

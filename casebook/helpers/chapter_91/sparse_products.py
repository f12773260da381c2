"""Sparse matrices with a known number of products, and the calls that CuPy makes for them.

x = table(50_000)                    # SciPy; x.T @ x adds 50,000 * 250 * 250 products
need_gpu_memory(gib=12)              # or raises MemoryError; CuPy then takes no more
with watched() as calls:             # one line for each call to cuSPARSE
    product = gpu_x.T @ gpu_x
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse

PER_ROW = 250
INSUFFICIENT_RESOURCES = 11
ESTIMATE_TYPES = [ctypes.c_void_p] + [ctypes.c_int] * 2 + [ctypes.c_void_p] * 5
ESTIMATE_TYPES += [ctypes.c_int] * 2 + [ctypes.c_void_p, ctypes.c_float] + [ctypes.c_void_p] * 3


def table(rows: int) -> Any:
    """A SciPy CSR matrix of float32, rows x 5,000, with 250 ones in each row.

    Each stretch of 20 columns has one of them, at random but the same each time.
    """
    place = np.random.default_rng(0).integers(0, 20, (rows, PER_ROW), dtype=np.int32)
    columns = place + 20 * np.arange(PER_ROW, dtype=np.int32)
    ends = np.arange(rows + 1, dtype=np.int32) * PER_ROW
    ones = np.ones(columns.size, np.float32)
    return scipy.sparse.csr_matrix((ones, columns.ravel(), ends), (rows, 20 * PER_ROW))


def need_gpu_memory(gib: int) -> None:
    """Limit CuPy's pool to that much memory. Raises MemoryError if less is free."""
    import cupy as cp

    free = cp.cuda.Device().mem_info[0] / 2**30
    if free < gib:
        raise MemoryError(f"this cell needs {gib} GiB of free GPU memory, and {free:.1f} are free")
    cp.get_default_memory_pool().set_limit(size=gib * 2**30)


@contextmanager
def watched(fall_back: bool = False, estimate: bool = False) -> Iterator[list[str]]:
    """The calls to cuSPARSE's SpGEMM, one line each, while the block runs.

    With fall_back, the default algorithm is refused, as cuSPARSE does for large products. With
    estimate, cusparseSpGEMM_estimateMemory is called for ALG2, and its answer is the buffer's size.
    """
    from cupy_backends.cuda.libs import cusparse

    names = {cusparse.CUSPARSE_SPGEMM_DEFAULT: "default", cusparse.CUSPARSE_SPGEMM_ALG2: "ALG2"}
    steps = ["spGEMM_workEstimation", "spGEMM_compute", "spMatGetSize"]
    real = {step: getattr(cusparse, step) for step in steps}
    calls: list[str] = []

    def call(step: str, *args: Any) -> Any:
        algorithm, asks = names[args[9]], not args[12]
        try:
            if fall_back and algorithm == "default":
                raise cusparse.CuSparseError(INSUFFICIENT_RESOURCES)
            if estimate and algorithm == "ALG2" and step == "spGEMM_compute" and asks:
                size = estimate_memory(args)
                calls.append(f"  estimateMemory, ALG2: a buffer of {size:,} bytes")
                return size
            size = real[step](*args)
        except cusparse.CuSparseError as error:
            calls.append(f"  {step}, {algorithm}: {error}")
            raise
        done = f"asks for {size:,} bytes" if asks else "done"
        calls.append(f"  {step}, {algorithm}, {'no' if asks else 'with'} buffer: {done}")
        return size

    def size_of(*args: Any) -> None:
        real["spMatGetSize"](*args)
        calls.append(f"  non-zeros reported: {ctypes.c_int64.from_address(args[3]).value:,}")

    cusparse.spGEMM_workEstimation = lambda *args: call(steps[0], *args)
    cusparse.spGEMM_compute = lambda *args: call(steps[1], *args)
    cusparse.spMatGetSize = size_of
    try:
        yield calls
    finally:
        for step in steps:
            setattr(cusparse, step, real[step])


def estimate_memory(args: tuple[Any, ...]) -> int:
    """Bytes of the second buffer, by the call that CuPy has no binding for."""
    import cupy as cp
    from cupy_backends.cuda.libs import cusparse

    function = ctypes.CDLL("libcusparse.so.12").cusparseSpGEMM_estimateMemory
    function.argtypes = ESTIMATE_TYPES
    own, second = ctypes.c_size_t(), ctypes.c_size_t()
    for ask in True, False:
        buffer = None if ask else cp.empty(own.value, cp.int8)
        pointer = buffer.data.ptr if buffer is not None else None
        status = function(
            *args[:11], 1.0, ctypes.byref(own), pointer, None if ask else ctypes.byref(second)
        )
        if status:
            raise cusparse.CuSparseError(status)
    cp.cuda.Device().synchronize()
    return second.value

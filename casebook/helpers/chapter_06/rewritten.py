"""Other ways to write what numba-cuda-mlir 0.6.0 cannot compile, or computes differently.

Entries for `differential`; right with numba-cuda too.
"""

import numpy as np
from differential import cuda, kernel, op


@kernel("int64 uint8 -> int64", lambda a, b: 3 * b.astype(np.int64))
def look_up_by_a_byte(a, b, out):
    i, wide = cuda.threadIdx.x, cuda.shared.array(384, np.int64)
    for k in range(i, 384, 64):
        wide[k] = 3 * (k - 128)
    cuda.syncthreads()
    table = wide[128:]
    out[i] = table[np.int64(b[i])]


@kernel("int64 -> int64", lambda a: np.r_[a[:-1], 0])
def all_but_the_last(a, out):
    i, rest = cuda.threadIdx.x, a[: max(a.shape[0] - 1, 0)]
    if i < rest.size:
        out[i] = rest[i]


@kernel("int64 -> int64", lambda a: np.r_[a[10:100], np.zeros(10, int)])
def to_the_end_at_most(a, out):
    i, rest = cuda.threadIdx.x, a[min(10, a.shape[0]) : min(100, a.shape[0])]
    if i < rest.size:
        out[i] = rest[i]


@kernel("int64 -> int64", lambda a: np.array([0, 0, 2, 0, 0]), rows=5)
def lengths_of_slices_of_five_and_of_no_elements(a, out):
    i, n, empty = cuda.threadIdx.x, a.shape[0], a[: min(0, a.shape[0])]
    if i == 0:
        out[i] = a[min(10, n) : min(100, n)].size
    elif i == 1:
        out[i] = a[min(10, n) :].size
    elif i == 2:
        out[i] = a[max(n - 2, 0) :].size
    elif i == 3:
        out[i] = empty[: max(empty.shape[0] - 1, 0)].size
    else:
        out[i] = empty[max(empty.shape[0] - 3, 0) :].size


@kernel("int32 int32 -> int64", lambda a, b: np.full(64, (a[:40].astype("int64") * b[:40]).sum()))
def zip_of_unequal_lengths(a, b, out):
    short, total = b[: min(40, b.shape[0])], 0
    for k in range(min(np.int64(a.shape[0]), np.int64(short.shape[0]))):
        total += np.int64(a[k]) * short[k]
    out[cuda.threadIdx.x] = total


@kernel("int64 -> int64", lambda a: 12 * a)
def rows_of_an_array_of_two_dimensions(a, out):
    i, table, total = cuda.threadIdx.x, cuda.local.array((3, 4), np.int64), 0
    for k in range(12):
        table[k // 4, k % 4] = k * a[i]
    for k in range(table.shape[0]):
        total += table[k, 0]
    out[i] = total


@kernel("int64 -> int64", lambda a: a[::-1])
def from_the_end(a, out):
    i = cuda.threadIdx.x
    out[i] = a[a.size - 1 - i]


@kernel("uint8 -> int64", lambda a: np.array([sum(range(v)) for v in a.tolist()]))
def range_of_a_byte(a, out):
    i, total = cuda.threadIdx.x, 0
    for k in range(np.int64(a[i])):
        total += k
    out[i] = total


@kernel("int32 -> int64", lambda a: np.r_[np.zeros(63, int), a.sum(dtype=np.int64)])
def atomic_add_of_int32_to_the_last_int64(a, out):
    cuda.atomic.add(out, out.size - 1, np.int64(a[cuda.threadIdx.x]))


@kernel("uint8 -> int32", lambda a: np.bincount(a % 64, minlength=64))
def atomic_add_at_a_byte(a, out):
    cuda.atomic.add(out, np.int64(a[cuda.threadIdx.x]) % 64, 1)


@kernel("uint32 -> int64", lambda a: np.r_[a.max(), np.zeros(63, int)])
def atomic_max_of_uint32_in_an_int64(a, out):
    cuda.atomic.max(out, 0, np.int64(a[cuda.threadIdx.x]))


@kernel("int32 -> int32", lambda a: np.where(np.arange(64) == 0, 1, 0))
def atomic_cas_of_int32(a, out):
    cuda.atomic.cas(out, 0, np.int32(0), np.int32(1))


@kernel("int64 -> int64", lambda a: np.repeat(a.reshape(2, 32).sum(axis=1), 32))
def sum_of_each_warp_by_shared_memory(a, out):
    i = cuda.threadIdx.x
    places = cuda.shared.array(64, np.int64)  # one for each thread of the block
    total, step = a[i], 16
    while step > 0:
        places[i] = total
        cuda.syncwarp()
        total += places[i ^ step]
        cuda.syncwarp()
        step //= 2
    out[i] = total


ENTRIES = [
    op("math.isnan(a)", "float64 -> bool"),
    op("not a == b", "float32 float32 -> bool"),
    op("b if b > a else a", "uint32 uint32 -> uint32"),
    op("np.float64(a) <= b", "uint64 float64 -> bool", judge="float(a) <= b"),
    op("np.float64(a) == b", "int32 float32 -> bool", judge="a == b"),
    op("min(np.float64(a), b)", "int32 float32 -> float64", "b == b", judge="min(a, b)"),
    op("max(np.float64(a), b)", "uint32 float64 -> float64", "b == b", judge="max(a, b)"),
    op("math.pow(a, float(b))", "float64 int64 -> float64", "a in (0.5, 1) and b >= 0"),
    op("math.pow(a, float(b))", "float64 uint32 -> float64", "a in (0.5, 1)"),
    op(
        "np.float64(a) ** b",
        "int64 float32 -> float64",
        "0 < a < 1000 and abs(b) < 20",
        judge="a ** b",
        ulp=3,
    ),
    op("np.int64(a) ** 3", "int8 -> int64"),
    op("np.int64(a) | b", "int8 uint8 -> int64"),
    op("-np.int64(a)", "uint32 -> int64"),
    op("math.sqrt(float(a))", "uint32 -> float64"),
    op("cuda.libdevice.llrint(a)", "float64 -> int64", "abs(a) < 10**9", judge="round(a)"),
    op("math.sin(float(a))", "int32 -> float64", "abs(a) < 10**5", ulp=3),
    op(
        "a // b * 100 + a % b",
        "int32 int32 -> int64",
        "b != 0",
        judge="divmod(a, b)[0] * 100 + divmod(a, b)[1]",
    ),
    op("min(min(a, b), 3)", "int32 int32 -> int64"),
    op("a.real == b.real and a.imag == b.imag", "complex128 complex128 -> bool"),
    op("-int(a)", "bool -> int64"),
    op("not (a.real == 0 and a.imag == 0)", "complex128 -> bool"),
    look_up_by_a_byte,
    all_but_the_last,
    to_the_end_at_most,
    lengths_of_slices_of_five_and_of_no_elements,
    zip_of_unequal_lengths,
    rows_of_an_array_of_two_dimensions,
    from_the_end,
    range_of_a_byte,
    atomic_add_at_a_byte,
    atomic_add_of_int32_to_the_last_int64,
    atomic_max_of_uint32_in_an_int64,
    atomic_cas_of_int32,
    sum_of_each_warp_by_shared_memory,
]

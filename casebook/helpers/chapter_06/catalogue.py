"""What a migration depends on, as entries for `differential`: 13 groups, integers to records.

Left out is what neither NumPy nor Python defines, or CUDA leaves undefined: division by zero,
shifts by more than the width, conversions of floats that do not fit. Error bounds: + - * / and
square roots are rounded correctly, so 0 units in the last place. For other functions those of the
CUDA programming guide (mathematical functions, maximum error); in float64 one more, because the
reference rounds as well.
"""

import numpy as np
from differential import compiled, cuda, kernel, op

INTEGERS = [
    op("a + b", "int32 int32 -> int32"),
    op("a + b", "uint8 uint8 -> int64"),
    op("a - b", "uint32 uint32 -> int64"),
    op("a * b", "int64 int64 -> int64"),
    op("a * b", "uint32 int32 -> int64"),
    op("-a", "int8 -> int8"),
    op("abs(a)", "int32 -> int32"),
    op("a // b", "int32 int32 -> int32", "b != 0"),
    op("a % b", "int32 int32 -> int32", "b != 0"),
    op("a // b", "int64 int64 -> int64", "b not in (0, -1)"),
    op("a % b", "int64 int64 -> int64", "b not in (0, -1)"),
    op("a // b", "uint32 uint32 -> uint32", "b != 0"),
    op("a % b", "uint64 uint64 -> uint64", "b != 0"),
    op("a % b", "int8 int8 -> int8", "b != 0"),
    op("a // b", "uint8 int32 -> int64", "b != 0"),
    op("a % 7", "int32 -> int32"),
    op("a // 7", "int64 -> int64"),
    op("divmod(a, b)[0]", "int32 int32 -> int64", "b != 0"),
    op("a / b", "int32 int32 -> float64", "b != 0"),
    op("a ** 3", "int64 -> int64"),
    op("a ** b", "int32 uint8 -> int64", "b < 30"),
    op("a * 2", "uint64 -> uint64"),
    op("a + 1", "uint8 -> uint8"),
    op("a // b", "int32 uint32 -> int64", "b != 0"),
    op("a % b", "int8 uint8 -> int64", "b != 0"),
    op("-a", "uint32 -> int64"),
    op("abs(a)", "int8 -> int8"),
    op("a / b", "uint64 uint64 -> float64", "b != 0", judge="float(a) / float(b)"),
    op("a / b", "uint8 uint8 -> float64", "b != 0"),
    op("a + 3_000_000_000", "int32 -> int64"),
    op("a - 1", "uint8 -> int64"),
    op("a * b", "int8 uint16 -> int64"),
    op("a ** 2", "int32 -> int64", "abs(a) < 2**15"),
    op("a ** 3", "int8 -> int64"),
    op("a ** b", "uint8 uint8 -> uint8", "b < 8"),
    op("divmod(a, b)[1]", "int64 int64 -> int64", "b not in (0, -1)"),
    op("-a", "bool -> int64"),
]
BITS = [
    op("a & b", "int32 int32 -> int32"),
    op("a | b", "uint8 int32 -> int64"),
    op("a ^ b", "uint64 uint64 -> uint64"),
    op("~a", "int16 -> int64"),
    op("~a", "uint32 -> uint32"),
    op("~a", "bool -> bool", judge="not a"),
    op("a ^ b", "bool bool -> bool"),
    op("a << b", "int32 uint8 -> int64", "b < 32"),
    op("a >> b", "int32 uint8 -> int64", "b < 32"),
    op("a >> b", "uint32 uint8 -> int64", "b < 32"),
    op("a >> 1", "int8 -> int8"),
    op("a >> 63", "uint64 -> uint64"),
    op("cuda.popc(a)", "uint32 -> int32", judge="a.bit_count()"),
    op("cuda.popc(a)", "uint64 -> int32", judge="a.bit_count()"),
    op("cuda.clz(a)", "uint32 -> int32", judge="32 - a.bit_length()"),
    op("cuda.ffs(a)", "uint32 -> int32", judge="(a & -a).bit_length()"),
    op("cuda.brev(a)", "uint32 -> uint32", judge="int(f'{a:032b}'[::-1], 2)"),
    op("a >> b", "int64 int64 -> int64", "0 <= b < 64"),
    op("a << 3", "uint8 -> int64"),
    op("~a", "uint8 -> int64"),
    op("a | b", "int8 uint8 -> int64"),
    op("cuda.clz(a)", "int64 -> int32", judge="64 - (a % 2**64).bit_length()"),
    op("cuda.ffs(a)", "uint64 -> int32", judge="(a & -a).bit_length()"),
    op("a & b", "bool bool -> bool"),
    op("a | b", "bool int32 -> int64"),
]
COMPARISONS = [
    op("a < b", "int32 int32 -> bool"),
    op("a < b", "uint8 uint8 -> bool"),
    op("a < b", "uint64 uint64 -> bool"),
    op("a < b", "int32 uint32 -> bool"),
    op("a > b", "int64 uint32 -> bool"),
    op("a < b", "int64 uint64 -> bool"),
    op("a >= b", "int8 uint8 -> bool"),
    op("a == b", "int32 uint32 -> bool"),
    op("a > 0", "uint32 -> bool"),
    op("a > 0", "int8 -> bool"),
    op("a > 3_000_000_000", "uint32 -> bool"),
    op("0 <= a < b", "int32 int32 -> bool"),
    op("a < b", "bool bool -> bool"),
    op("a < b", "float64 float64 -> bool"),
    op("a != b", "float32 float32 -> bool"),
    op("a < b", "int32 float32 -> bool"),
    op("a <= b", "uint64 float64 -> bool", judge="float(a) <= b"),
    op("a == b", "complex128 complex128 -> bool"),
    op("min(a, b)", "int32 int32 -> int32"),
    op("max(a, b)", "uint32 uint32 -> uint32"),
    op("max(a, b)", "int32 uint8 -> int64"),
    op("min(a, b)", "float64 float64 -> float64", "a == a and b == b"),
    op("a and b", "int32 int32 -> int32"),
    op("a or b", "uint8 uint8 -> int64"),
    op("not a", "int32 -> bool"),
    op("a if a > b else b", "int8 uint8 -> int64"),
    op("bool(a)", "float32 -> bool"),
    op("a != a", "float64 -> bool"),
    op("not a == b", "float32 float32 -> bool"),
    op("a != 0", "float64 -> bool"),
    op("min(a, b)", "uint32 uint32 -> uint32"),
    op("max(a, b)", "uint8 uint8 -> uint8"),
    op("max(a, b)", "uint64 uint64 -> uint64"),
    op("min(a, b)", "int8 int64 -> int64"),
    op("max(a, 7)", "uint32 -> int64"),
    op("max(a, b)", "int32 float64 -> float64", "b == b"),
    op("min(a, b, 3)", "int32 int32 -> int64"),
    op("a > b", "uint64 float64 -> bool", judge="float(a) > b"),
    op("a < b", "uint8 float32 -> bool"),
    op("a == -1", "int32 -> bool"),
    op("a == b", "uint8 int8 -> bool"),
    op("a == b", "bool int32 -> bool"),
    op("a > 0 and b > 0", "int32 uint8 -> bool"),
    op("a if b else 0.5", "int32 bool -> float64"),
    op("a if b else -1", "uint32 bool -> int64"),
    op("bool(a)", "uint8 -> bool"),
    op("a == b", "int32 float32 -> bool"),
    op("min(a, b)", "int32 float32 -> float64", "b == b"),
    op("max(a, b)", "uint32 float64 -> float64", "b == b"),
]
CONVERSIONS = [
    *(
        op("a", f"{one} -> {other}")
        for one, other in (
            ("int32", "int64"),
            ("int8", "int64"),
            ("uint8", "int64"),
            ("uint32", "int64"),
            ("int64", "int8"),
            ("int64", "uint32"),
            ("uint64", "int64"),
            ("int32", "uint64"),
            ("bool", "int64"),
            ("bool", "float64"),
            ("int8", "float64"),
            ("uint8", "float64"),
            ("uint16", "float32"),
            ("uint32", "float32"),
            ("uint64", "float64"),
            ("float32", "float64"),
            ("float64", "float32"),
            ("float16", "float32"),
        )
    ),
    op("a", "int64 -> float32", judge="np.float32(np.int64(a))"),
    op("a", "float64 -> int8", "-129 < a < 128"),
    op("a", "float64 -> uint8", "-1 < a < 256"),
    op("a", "float32 -> int64", "abs(a) < 2**62"),
    op("a", "float64 -> uint32", "-1 < a < 2**32"),
    op("a", "float64 -> uint64", "-1 < a < 2**64"),
    op("int(a)", "bool -> int64"),
    op("int(a)", "uint8 -> int64"),
    op("int(a)", "float64 -> int64", "abs(a) < 2**62"),
    op("float(a)", "uint8 -> float64"),
    op("float(a)", "bool -> float64"),
    op("np.int64(a)", "bool -> int64", judge="int(a)"),
    op("np.float64(a)", "uint32 -> float64", judge="float(a)"),
    op("np.uint8(a)", "int32 -> int64", judge="a % 256"),
    op("np.int8(a)", "uint8 -> int64", judge="(a + 128) % 256 - 128"),
    op("np.float32(a)", "int32 -> float32", judge="float(a)"),
    op("np.int32(a)", "uint32 -> int64", judge="(a + 2**31) % 2**32 - 2**31"),
    op("round(a)", "float64 -> int64", "abs(a) < 2**62"),
    op("a + 0.5", "uint8 -> float64"),
    op("a * b", "bool float64 -> float64"),
    op("a + b", "bool bool -> int64"),
    op("int(a)", "uint64 -> int64"),
    op("float(a)", "int64 -> float64"),
    op("float(a)", "uint64 -> float64"),
    op("np.uint32(a) >> 1", "int32 -> int64", judge="a % 2**32 >> 1"),
    op("np.float32(a)", "uint8 -> float32", judge="float(a)"),
    op("np.float64(a)", "uint64 -> float64", judge="float(a)"),
    op("np.uint16(a)", "int8 -> int64", judge="a % 2**16"),
    op("round(a)", "float32 -> int64", "abs(a) < 2**62"),
    op("a + 1.5", "uint64 -> float64", judge="float(a) + 1.5"),
    op("a * b", "uint32 float32 -> float64", "abs(b) < 1e30"),
    op("a", "float32 -> uint8", "-1 < a < 256"),
    op("a", "float32 -> bool"),
    op("a", "int8 -> bool"),
    op("a", "float64 -> float16", "abs(a) < 6e4"),
]
FLOATS = [
    op("a + b", "float32 float32 -> float32"),
    op("a - b", "float64 float64 -> float64"),
    op("a * b", "float32 float32 -> float32"),
    op("a / b", "float32 float32 -> float32", "b != 0"),
    op("a / b", "float64 float64 -> float64", "b != 0"),
    op("a // b", "float64 float64 -> float64", "abs(a) < 2**52 and 1e-3 < abs(b) < 2**52"),
    op("a % b", "float64 float64 -> float64", "abs(a) < 2**52 and 1e-3 < abs(b) < 2**52"),
    op("a % b", "float32 float32 -> float32", "abs(a) < 2**23 and 1e-3 < abs(b) < 2**23"),
    op("-a", "float64 -> float64"),
    op("abs(a)", "float32 -> float32"),
    op("a * 0.5", "float32 -> float32"),
    op("a ** 2", "float64 -> float64", "abs(a) < 1e150", ulp=1),
    op("a ** b", "float64 float64 -> float64", "1e-3 < a < 1e3 and abs(b) < 40", ulp=3),
    op(
        "cuda.fma(a, b, b)",
        "float64 float64 -> float64",
        "abs(a) < 2**20 and a == int(a) and abs(b) < 2**20 and b == int(b)",
        judge="a * b + b",
    ),
    op("a + b", "float16 float16 -> float32", judge="float(np.float16(a) + np.float16(b))"),
    op("a * a", "float64 -> float64"),
    op("a ** 2", "float32 -> float32", "abs(a) < 1e18", ulp=1),
    op("a ** 0.5", "float64 -> float64", "0 <= a < 1e300", ulp=3),
    op("a // b", "float32 float32 -> float32", "abs(a) < 2**20 and 1e-1 < abs(b) < 2**20"),
    op("+a", "float32 -> float32"),
    op("a ** b", "float64 int64 -> float64", "a in (0.5, 1) and b >= 0"),
    op("a ** b", "float64 uint32 -> float64", "a in (0.5, 1)"),
    op("a ** b", "int64 float32 -> float64", "0 < a < 1000 and abs(b) < 20", ulp=3),
]
MATHEMATICS = [
    *(
        op(f"math.{name}(a)", f"float{bits} -> float{bits}", where, ulp=ulp)
        for name, where, *both in (
            ("sqrt", "0 <= a < math.inf", 0, 0),
            ("floor", "abs(a) < 2**62", 0, 0),
            ("ceil", "abs(a) < 2**62", 0, 0),
            ("sin", "abs(a) < 1e5", 2, 3),
            ("cos", "abs(a) < 1e5", 2, 3),
            ("tan", "abs(a) < 1e5", 4, 3),
            ("exp", "abs(a) < 80", 2, 2),
            ("log", "1e-30 < a < 1e30", 1, 2),
            ("atan", "a == a", 2, 3),
            ("tanh", "a == a", 2, 2),
            ("erf", "a == a", 2, 3),
        )
        for bits, ulp in zip((32, 64), both, strict=True)
    ),
    op("math.expm1(a)", "float64 -> float64", "abs(a) < 80", ulp=2),
    op("math.log1p(a)", "float64 -> float64", "-0.99 < a < 1e30", ulp=2),
    op("math.trunc(a)", "float64 -> int64", "abs(a) < 2**62"),
    op("math.fabs(a)", "int32 -> float64"),
    op("math.sqrt(a)", "uint32 -> float64"),
    op("math.isnan(a)", "float32 -> bool"),
    op("math.isinf(a)", "float64 -> bool"),
    op("math.isfinite(a)", "float64 -> bool"),
    op("math.copysign(a, b)", "float64 float64 -> float64"),
    op("math.fmod(a, b)", "float64 float64 -> float64", "abs(a) < 2**52 and 1e-3 < abs(b) < 2**52"),
    op("math.atan2(a, b)", "float64 float64 -> float64", "a == a and b == b", ulp=3),
    op(
        "math.hypot(a, b)", "float64 float64 -> float64", "abs(a) < 1e150 and abs(b) < 1e150", ulp=3
    ),
    op("math.pow(a, b)", "float64 float64 -> float64", "1e-3 < a < 1e3 and abs(b) < 40", ulp=3),
    op("math.gamma(a)", "float64 -> float64", "0.1 < a < 100", ulp=11),
    op("math.lgamma(a)", "float64 -> float64", "3 < a < 1e10", ulp=5),
    op("math.sin(a)", "int32 -> float64", "abs(a) < 10**5", ulp=3),
    *(
        op(f"math.{name}(a)", "float64 -> float64", where, ulp=ulp)
        for name, where, ulp in (
            ("asin", "abs(a) <= 1", 3),
            ("acos", "abs(a) <= 1", 3),
            ("sinh", "abs(a) < 80", 3),
            ("cosh", "abs(a) < 80", 2),
            ("asinh", "abs(a) < 1e100", 4),
            ("acosh", "1 <= a < 1e100", 4),
            ("atanh", "abs(a) < 1", 3),
            ("log2", "1e-30 < a < 1e30", 2),
            ("log10", "1e-30 < a < 1e30", 2),
            ("erfc", "abs(a) < 20", 6),
            ("degrees", "abs(a) < 1e300", 1),
            ("radians", "abs(a) < 1e300", 1),
        )
    ),
    *(
        op(f"math.{name}(a)", f"{t} -> float64", where, ulp=3)
        for name, t, where in (
            ("exp", "int64", "abs(a) < 80"),
            ("log", "uint8", "a > 0"),
            ("cos", "uint32", "a < 10**5"),
            ("sqrt", "int64", "a >= 0"),
        )
    ),
    op("math.floor(a)", "float32 -> int64", "abs(a) < 2**62"),
    op("math.ceil(a)", "float64 -> int64", "abs(a) < 2**62"),
    op("math.pow(a, b)", "int32 int32 -> float64", "0 < a < 100 and abs(b) < 20", ulp=3),
    op("math.ldexp(a, b)", "float64 int32 -> float64", "abs(a) < 1e100 and abs(b) < 200"),
    op("math.frexp(a)[1]", "float64 -> int64", "abs(a) < 1e300"),
    op("math.modf(a)[0]", "float64 -> float64", "abs(a) < 1e300"),
    op("np.sin(a)", "float64 -> float64", "abs(a) < 1e5", judge="math.sin(a)", ulp=3),
    op("np.sqrt(a)", "float32 -> float32", "0 <= a < math.inf", judge="math.sqrt(a)"),
    op("np.floor(a)", "float64 -> float64", "abs(a) < 2**62", judge="float(math.floor(a))"),
    op("np.abs(a)", "int32 -> int32", judge="abs(a)"),
]
COMPLEX = [
    op("a + b", "complex128 complex128 -> complex128"),
    op("a.real", "complex64 -> float32"),
    op("a.imag", "complex128 -> float64"),
    op("a.conjugate()", "complex128 -> complex128"),
    op("abs(a)", "complex128 -> float64", "1e-100 < abs(a) < 1e100", ulp=3),
    op("complex(a, b)", "float64 float64 -> complex128"),
    op(
        "a * b",
        "complex128 complex128 -> complex128",
        "all(abs(x) < 2**20 and x == int(x) for z in (a, b) for x in (z.real, z.imag))",
    ),
    op(
        "a / b",
        "complex128 complex128 -> complex128",  # by a real or an imaginary number: nothing cancels
        "(b.real == 0) != (b.imag == 0)"
        " and all(abs(x) < 2**10 for z in (a, b) for x in (z.real, z.imag))",
        ulp=2,
    ),
    op("a != b", "complex64 complex64 -> bool"),
    op("a + 1", "complex64 -> complex64"),
    op("-a", "complex128 -> complex128"),
    op("a * 2.0", "complex128 -> complex128", "all(abs(x) < 1e300 for x in (a.real, a.imag))"),
    op("bool(a)", "complex128 -> bool"),
]


@kernel("int64 -> int64", lambda a: a[::-1])
def last_first(a, out):
    i = cuda.threadIdx.x
    out[i] = a[-1 - i]


@kernel("int32 -> int32", lambda a: np.full(64, a[-1]))
def minus_one(a, out):
    out[cuda.threadIdx.x] = a[-1]


@kernel("int64 int8 -> int64", lambda a, b: a[b], where=lambda a, b: -64 <= b < 64)
def index_int8(a, b, out):
    i = cuda.threadIdx.x
    out[i] = a[b[i]]


@kernel("int64 uint8 -> int64", lambda a, b: a[b % 64])
def index_uint8(a, b, out):
    i = cuda.threadIdx.x
    out[i] = a[b[i] % 64]


@kernel("int64 uint8 -> int64", lambda a, b: a)
def index_beyond_127(a, b, out):
    i = cuda.threadIdx.x
    wide = cuda.shared.array(320, np.int64)
    for k in range(i, 320, 64):
        wide[k] = -1
    cuda.syncthreads()
    wide[b[i] | 128] = 0
    cuda.syncthreads()
    out[i] = a[i] if wide[int(b[i]) | 128] == 0 else -2


@kernel("int64 uint8 -> int64", lambda a, b: 3 * b.astype(np.int64))
def look_up_by_a_byte(a, b, out):
    i, wide = cuda.threadIdx.x, cuda.shared.array(384, np.int64)
    for k in range(i, 384, 64):
        wide[k] = 3 * (k - 128)
    cuda.syncthreads()
    table = wide[128:]
    out[i] = table[b[i]]


@kernel("int64 -> int64", lambda a: np.r_[a[1:], 0])
def slice_from_one(a, out):
    i, rest = cuda.threadIdx.x, a[1:]
    if i < rest.size:
        out[i] = rest[i]


@kernel("int64 -> int64", lambda a: np.r_[a[:-1], 0])
def slice_to_minus_one(a, out):
    i, rest = cuda.threadIdx.x, a[:-1]
    if i < rest.size:
        out[i] = rest[i]


@kernel("int64 -> int64", lambda a: np.r_[a[-3:], np.zeros(61, int)])
def slice_last_three(a, out):
    i, rest = cuda.threadIdx.x, a[-3:]
    if i < rest.size:
        out[i] = rest[i]


@kernel("int64 -> int64", lambda a: np.r_[a[::2], np.zeros(32, int)])
def slice_every_second(a, out):
    i, rest = cuda.threadIdx.x, a[::2]
    if i < rest.size:
        out[i] = rest[i]


@kernel("int64 -> int64", lambda a: a[::-1])
def slice_reversed(a, out):
    i, rest = cuda.threadIdx.x, a[::-1]
    if i < rest.size:
        out[i] = rest[i]


@kernel("int64 -> int64", lambda a: np.r_[a[10:100], np.zeros(10, int)])
def slice_beyond_the_end(a, out):
    i, rest = cuda.threadIdx.x, a[10:100]
    if i < rest.size:
        out[i] = rest[i]


@kernel("int64 -> int64", lambda a: np.repeat(a[7::8], 8))
def row_then_minus_one(a, out):
    i = cuda.threadIdx.x
    row = a.reshape((8, 8))[i // 8]
    out[i] = row[-1]


@kernel("int64 -> int64", lambda a: a.reshape(8, 8).T.ravel())
def transposed(a, out):
    i = cuda.threadIdx.x
    out[i] = a.reshape((8, 8)).T[i // 8, i % 8]


@kernel("int64 -> int64", lambda a: a[63 - np.arange(64)])
def counting_down(a, out):
    i, last = cuda.threadIdx.x, 0
    for k in range(63, 63 - i - 1, -1):
        last = a[k]
    out[i] = last


@kernel("int64 -> int64", lambda a: a // 2 % 5 - 3)
def written_by_minus_one(a, out):
    i = cuda.threadIdx.x
    out[i - 64] = a[i] // 2 % 5 - 3


INDEXING = [
    last_first,
    minus_one,
    index_int8,
    index_uint8,
    index_beyond_127,
    look_up_by_a_byte,
    slice_from_one,
    slice_to_minus_one,
    slice_last_three,
    slice_every_second,
    slice_reversed,
    slice_beyond_the_end,
    row_then_minus_one,
    transposed,
    counting_down,
    written_by_minus_one,
]


def atomic(name, signature, judge, where=lambda *row: True):
    """64 threads: the first stores its number in out[0], the others apply cuda.atomic.NAME."""
    threads = compiled(
        f"def atomic_{name}(a, out):\n"
        "    i = cuda.threadIdx.x\n"
        "    if i == 0:\n"
        "        out[0] = a[0]\n"
        "    cuda.syncthreads()\n"
        "    if i > 0:\n"
        f"        cuda.atomic.{name}(out, 0, a[i])\n"
    )
    first, result = np.arange(64) == 0, signature.split()[-1]
    return kernel(signature, lambda a: np.where(first, judge(a), 0).astype(result), where=where)(
        threads
    )


def small(a):
    return -1e3 < a < 1e3 and a == int(a)  # whole: sums are exact in any order


ATOMICS = [
    *(
        atomic("add", f"{t} -> {t}", lambda a: a.sum(dtype=a.dtype))
        for t in ("int32", "uint32", "int64", "uint64")
    ),
    *(atomic("add", f"{t} -> {t}", lambda a: a.sum(), where=small) for t in ("float32", "float64")),
    *(
        atomic("add", f"{t} -> {result}", lambda a, result=result: a.sum(dtype=result))
        for t, result in (("int32", "int64"), ("uint8", "int64"), ("uint8", "float64"))
    ),
    atomic("sub", "int32 -> int32", lambda a: a[0] - a[1:].sum(dtype=a.dtype)),
    *(
        atomic(name, f"{t} -> {t}", judge)
        for name, judge in (("max", np.max), ("min", np.min))
        for t in ("int32", "uint32", "int64", "uint64")
    ),
    *(
        atomic(name, f"{t} -> {t}", judge, where=lambda a: a == a)
        for name, judge in (("max", np.max), ("min", np.min))
        for t in ("float32", "float64")
    ),
    *(
        atomic(name, f"{t} -> {t}", judge.reduce)
        for name, judge, t in (
            ("or_", np.bitwise_or, "uint32"),
            ("xor", np.bitwise_xor, "int64"),
            ("and_", np.bitwise_and, "int32"),
        )
    ),
]


@kernel("int64 -> int64", lambda a: np.bincount(a % 64, minlength=64))
def histogram(a, out):
    cuda.atomic.add(out, a[cuda.threadIdx.x] % 64, 1)


@kernel("uint8 -> int64", lambda a: (a[:, None] == a).sum(0))
def histogram_of_bytes(a, out):
    i, wide = cuda.threadIdx.x, cuda.shared.array(384, np.int64)
    for k in range(i, 384, 64):
        wide[k] = 0
    cuda.syncthreads()
    counts = wide[128:]
    cuda.atomic.add(counts, a[i], 1)
    cuda.syncthreads()
    out[i] = counts[np.int64(a[i])]


@kernel("uint8 -> int32", lambda a: np.bincount(a % 64, minlength=64))
def histogram_in_a_renamed_array(a, out):
    part, i = cuda.shared.array(64, np.int32), cuda.threadIdx.x
    part[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(part, np.int64(a[i]) % 64, 1)
    cuda.syncthreads()
    out[i] = part[i]


@cuda.jit(device=True)
def count(where, k):
    cuda.atomic.add(where, k, 1)


@kernel("uint8 -> int32", lambda a: np.bincount(a % 64, minlength=64))
def histogram_by_a_function(a, out):
    i = cuda.threadIdx.x
    part = cuda.shared.array(64, np.int32)
    part[i] = 0
    cuda.syncthreads()
    count(part, np.int64(a[i]) % 64)
    cuda.syncthreads()
    out[i] = part[i]


@kernel("int64 -> int64", lambda a: np.r_[np.zeros(63, int), a.sum()])
def atomic_add_at_minus_one(a, out):
    cuda.atomic.add(out, -1, a[cuda.threadIdx.x])


@kernel("int32 -> int32", lambda a: np.where(np.arange(64) == 0, 1, 0))
def atomic_cas(a, out):
    cuda.atomic.cas(out, 0, 0, 1)


@kernel("float32 -> float32", lambda a: np.cumsum(a, dtype=np.float32), where=small)
def shared_scan(a, out):
    i = cuda.threadIdx.x
    part = cuda.shared.array(64, np.float32)
    part[i] = a[i]
    cuda.syncthreads()
    for step in (1, 2, 4, 8, 16, 32):
        add = part[i - step] if i >= step else np.float32(0)
        cuda.syncthreads()
        part[i] += add
        cuda.syncthreads()
    out[i] = part[i]


@kernel("int16 -> int64", lambda a: a[::-1].astype(np.int64))
def shared_reversed(a, out):
    i = cuda.threadIdx.x
    part = cuda.shared.array(64, np.int16)
    part[i] = a[i]
    cuda.syncthreads()
    out[i] = part[63 - i]


@kernel("int64 -> int64", lambda a: a.reshape(8, 8).T.ravel())
def shared_two_dimensions(a, out):
    i = cuda.threadIdx.x
    tile = cuda.shared.array((8, 9), np.int64)
    tile[i // 8, i % 8] = a[i]
    cuda.syncthreads()
    out[i] = tile[i % 8, i // 8]


@kernel("uint8 -> int64", lambda a: 4 * a.astype(np.int64))
def local_array(a, out):
    i = cuda.threadIdx.x
    part = cuda.local.array(4, np.uint8)
    for k in range(4):
        part[k] = a[i]
    total = 0
    for k in range(4):
        total += part[k]
    out[i] = total


@kernel("int32 -> int32", lambda a: np.full(64, (a > 0).sum()))
def syncthreads_count(a, out):
    i = cuda.threadIdx.x
    out[i] = cuda.syncthreads_count(1 if a[i] > 0 else 0)


SHARED = [
    histogram,
    histogram_of_bytes,
    histogram_in_a_renamed_array,
    histogram_by_a_function,
    atomic_add_at_minus_one,
    atomic_cas,
    shared_scan,
    shared_reversed,
    shared_two_dimensions,
    local_array,
    syncthreads_count,
]


def shuffled(name, argument, signature, source):
    """Every lane i of a warp gets the value of lane source(i)."""
    lanes = compiled(
        f"def {name}(a, out):\n"
        "    i = cuda.threadIdx.x\n"
        f"    out[i] = cuda.{name}(0xffffffff, a[i], {argument})\n"
    )
    return kernel(signature, lambda a: a[[source(i) for i in range(32)]], rows=32)(lanes)


SHUFFLES = [
    *(
        shuffled("shfl_sync", 5, f"{t} -> {t}", lambda i: 5)
        for t in ("int32", "uint32", "int64", "float32", "float64")
    ),
    shuffled("shfl_up_sync", 3, "int32 -> int32", lambda i: i - 3 if i >= 3 else i),
    shuffled("shfl_down_sync", 4, "float64 -> float64", lambda i: i + 4 if i + 4 < 32 else i),
    shuffled("shfl_xor_sync", 16, "int64 -> int64", lambda i: i ^ 16),
]


@kernel(
    "int32 -> int64",
    lambda a: np.full(32, int(sum((int(v) > 0) << i for i, v in enumerate(a)))),
    rows=32,
)
def ballot(a, out):
    i = cuda.threadIdx.x
    out[i] = cuda.ballot_sync(0xFFFFFFFF, a[i] > 0)


@kernel("int32 -> bool", lambda a: np.full(32, (a > 0).any()), rows=32)
def any_of_a_warp(a, out):
    i = cuda.threadIdx.x
    out[i] = cuda.any_sync(0xFFFFFFFF, a[i] > 0)


@kernel("int32 -> bool", lambda a: np.full(32, (a > 0).all()), rows=32)
def all_of_a_warp(a, out):
    i = cuda.threadIdx.x
    out[i] = cuda.all_sync(0xFFFFFFFF, a[i] > 0)


WARPS = [*SHUFFLES, ballot, any_of_a_warp, all_of_a_warp]

RECORD = "int8,float64,uint16"


@kernel(f"{RECORD} -> float64", lambda a: a["f1"])
def read_a_field(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i].f1


@kernel(f"{RECORD} -> int64", lambda a: a["f0"].astype(np.int64) + a["f2"])
def add_two_fields(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i].f0 + a[i].f2


@kernel(
    f"int64 -> {RECORD}",
    lambda a: np.array([(v % 100 - 50, v % 7, v % 60_000) for v in a.tolist()], RECORD),
)
def write_a_record(a, out):
    i = cuda.threadIdx.x
    out[i].f0 = a[i] % 100 - 50
    out[i].f1 = a[i] % 7
    out[i].f2 = a[i] % 60_000


@kernel(f"{RECORD} -> {RECORD}", lambda a: a)
def copy_a_record(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i]


@kernel(f"{RECORD} -> float64", lambda a: a["f1"] + a["f2"])
def fields_by_name(a, out):
    i = cuda.threadIdx.x
    out[i] = a["f1"][i] + a[i]["f2"]


RECORDS = [read_a_field, add_two_fields, write_a_record, copy_a_record, fields_by_name]


@kernel(
    "int64 -> int64",
    lambda a: np.array([divmod(v, 3)[0] + 10 * divmod(v, 3)[1] for v in a.tolist()]),
)
def a_tuple_from_a_function(a, out):
    i = cuda.threadIdx.x
    quotient, rest = divmod(a[i], 3)
    out[i] = quotient + 10 * rest


@kernel("int64 -> int64", lambda a: np.array([bin(v & 0xFFFF).count("1") for v in a.tolist()]))
def loop_with_break(a, out):
    i, left, count = cuda.threadIdx.x, a[cuda.threadIdx.x] & 0xFFFF, 0
    while True:
        if left == 0:
            break
        count += left & 1
        left >>= 1
    out[i] = count


@kernel("float32 -> float64", lambda a: a.astype(np.float64) + 1.0 + np.arange(64), where=small)
def enumerate_and_zip(a, out):
    i, total = cuda.threadIdx.x, 0.0
    for k, (one, two) in enumerate(zip((1.0, 0.0), (0.0, 0.0))):  # noqa: B905
        total += k * 0.0 + one + two
    out[i] = a[i] + total + i


@kernel("int32 -> int64", lambda a: np.array([sum(range(v % 7, -(v % 5), -1)) for v in a.tolist()]))
def range_downwards(a, out):
    i, total = cuda.threadIdx.x, 0
    for k in range(a[i] % 7, -(a[i] % 5), -1):
        total += k
    out[i] = total


@kernel("uint8 -> int64", lambda a: np.array([sum(range(v)) for v in a.tolist()]))
def range_of_uint8(a, out):
    i, total = cuda.threadIdx.x, 0
    for k in range(a[i]):
        total += k
    out[i] = total


@kernel("int32 -> float64", lambda a: np.where(a > 0, a, 0.5))
def integer_or_float(a, out):
    i, x = cuda.threadIdx.x, 0.5
    if a[i] > 0:
        x = a[i]
    out[i] = x


@kernel("uint32 -> float64", lambda a: np.where(a > 9, a, 0.5))
def unsigned_or_float(a, out):
    i, x = cuda.threadIdx.x, 0.5
    if a[i] > 9:
        x = a[i]
    out[i] = x


@kernel("int8 -> int8", lambda a: (3 * a.astype(np.int64) - 1).astype(np.int8))
def in_place(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i]
    out[i] *= 3
    out[i] -= 1


@kernel("uint8 -> float32", lambda a: a.astype(np.float32) * 2)
def in_place_float(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i]
    out[i] += a[i]


@kernel("int64 -> int64", lambda a: np.arange(64) + 64)
def shape_and_len(a, out):
    i = cuda.threadIdx.x
    out[i] = i + len(a) * a.shape[0] // a.size


@kernel("int64 -> int64", lambda a: a * np.arange(64))
def enumerate_an_array(a, out):
    for k, x in enumerate(a):
        if k == cuda.threadIdx.x:
            out[k] = k * x


CONTROL = [
    enumerate_an_array,
    range_downwards,
    range_of_uint8,
    integer_or_float,
    unsigned_or_float,
    in_place,
    in_place_float,
    shape_and_len,
    a_tuple_from_a_function,
    loop_with_break,
    enumerate_and_zip,
]

GROUPS = {
    "integers": INTEGERS,
    "bits": BITS,
    "comparisons": COMPARISONS,
    "conversions": CONVERSIONS,
    "floats": FLOATS,
    "mathematics": MATHEMATICS,
    "complex": COMPLEX,
    "indexing": INDEXING,
    "atomics": ATOMICS,
    "shared memory": SHARED,
    "warps": WARPS,
    "records": RECORDS,
    "control flow": CONTROL,
}
ENTRIES = [entry for group in GROUPS.values() for entry in group]

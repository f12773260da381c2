"""For small kernels, the PTX instruction that decides between right and wrong: of numba-cuda-mlir, or else numba-cuda. Needs no GPU.

    import deciding
    deciding.show("a % b")              # all that the kernel computes
    deciding.line(deciding.MENDED)      # 0.4.1 | rem.u32 | div.u32 | …
"""
import math
import re as _re
from importlib.metadata import version as _version

try:
    import compile_90  # noqa: F401
    from numba_cuda_mlir import cuda, types
    _release = _version("numba-cuda-mlir")
except ImportError:
    from numba import cuda, types
    _release = "numba-cuda " + _version("numba-cuda")


def _remainder(a, b, out):
    out[0] = a[0] % b[0]


def _quotient(a, b, out):
    out[0] = a[0] // b[0]


def _integer(a, out):
    out[0] = int(a[0])


def _store(a, out):
    out[0] = a[0]


def _last(a, out):
    out[0] = a[-1]


def _less(a, b, out):
    out[0] = a[0] < b[0]


def _grid(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 1


def _unequal(a, b, out):
    out[0] = a[0] != b[0]


def _larger(a, b, out):
    out[0] = max(a[0], b[0])


def _rounded(a, out):
    out[0] = round(a[0])


def _root(a, out):
    out[0] = math.sqrt(a[0])


def _cube(a, out):
    out[0] = a[0] ** 3


def _shuffled(a, out):
    out[0] = cuda.shfl_sync(0xffffffff, a[0], 5)


def _largest(a, out):
    cuda.atomic.max(out, 0, a[0])


def _looked_up(a, out):
    out[0] = out[a[0]]


def _added(a, out):
    cuda.atomic.add(out, 0, a[0])


# what is asked: the kernel, the types of its arrays, and the instructions that decide: first the right one
MENDED = {
    "a % b": (_remainder, "int32 int32 int32", r"rem\.s64|rem\.u32"),
    "a // b": (_quotient, "int32 int32 int32", r"div\.s64|div\.u32"),
    "int(True)": (_integer, "boolean int64", r"selp\S* \S+ 1, 0|selp\S* \S+ -1, 0|neg\.s64"),
    "uint8 as float64": (_store, "uint8 float64", r"cvt\.rn\.f64\.u16|cvt\.rn\.f64\.s16"),
    "a[-1]": (_last, "int64 int64", r"add\.s64 \S+ \S+ -1|ld\S+ \S+ \[%rd\d+\+-8\]|sub\.s64"),
    "int32 as int64": (_store, "int32 int64", r"ld\.global\.s32|ld\.global\.u32"),
    "uint16 < uint16": (_less, "uint16 uint16 boolean", r"setp\.lt\.u16|setp\.lt\.s16"),
}
LIVE = {
    "float64 != float64": (_unequal, "float64 float64 boolean", r"setp\.neu\.f64|setp\.ne\.f64"),
    "max of uint32": (_larger, "uint32 uint32 uint32", r"max\.u32|max\.s32"),
    "uint64 < float64": (_less, "uint64 float64 boolean", r"cvt\.rn\.f64\.u64|cvt\.rn\.f64\.s64"),
    "int8 ** 3": (_cube, "int8 int64", r"mul\.wide\.s32|mul\.lo\.s64|mul\.lo\.s16"),
    "math.sqrt(int32)": (_root, "int32 float64", r"sqrt\.rn\.f64|sqrt\.rn\.f32"),
    "round(float64)": (_rounded, "float64 int64", r"cvt\.rni\.s64\.f64|cvt\.rni\.f64\.f64|add\.rz\.f64"),
    "atomic.max of uint32": (_largest, "uint32 uint32", r"\w+\.global\.max\.u32|\w+\.global\.max\.s32"),
    "a[uint8]": (_looked_up, "uint8 int32", r"ld\.global\.u8|ld\.global\.s8"),
    "atomic.add, int32 to int64": (_added, "int32 int64", r"ld\.global\.s32|ld\.global\.u32"),
    "shfl_sync of float64": (_shuffled, "float64 float64", r"bfi\.b64|cvt\.rn\.f32\.f64"),
    "cuda.grid(1)": (_grid, "int8", r"mul\.wide\.[su]32|mad\.lo\.s32"),
}


def ptx(question):
    """Instructions of the kernel, without those that fetch arguments, one a line."""
    function, arrays, _ = (MENDED | LIVE)[question]
    signature = types.void(*(getattr(types, array)[::1] for array in arrays.split()))
    lines = (" ".join(line.split()) for line in cuda.compile_ptx(function, signature, cc=(9, 0))[0].splitlines())
    return [line.rstrip(";") for line in lines if _re.match(r"(@%p\d+ )?[a-z]", line) and not _re.match(r"ld\.param|cvta|ret;", line)]


def answer(question):
    """The deciding instruction, with its constant where that decides."""
    code, instructions = "\n".join(ptx(question)), (MENDED | LIVE)[question][2].split("|")
    for instruction in instructions:
        if found := _re.search(instruction, code):
            name, *operands = found[0].split()
            return " ".join([name, *(operand for operand in operands if operand[0] in "-1")]).rstrip(",")
    raise LookupError(f"{question}: none of {instructions} in\n{code}")


def show(question):
    """Print the instructions of a kernel."""
    print(*ptx(question), sep="\n")


def line(questions):
    """Print the release and the deciding instructions."""
    print(_release, *map(answer, questions), sep=" | ")

"""For small kernels, the PTX instruction that decides between right and wrong: of numba-cuda-mlir, or numba-cuda. Needs no GPU.

import deciding
deciding.show("a % b")              # all that the kernel computes
deciding.line(deciding.MENDED)      # 0.4.1 | rem.u32 | div.u32 | …
deciding.table(deciding.LIVE)       # where both packages are installed: their answers side by side
"""

import math
import re as _re
from importlib.metadata import version as _version


def _installed():
    """[(name, cuda, types)] of the packages that are installed, numba-cuda-mlir first."""
    found = []
    try:
        import compile_90  # noqa: F401
        from numba_cuda_mlir import cuda, types

        found.append((_version("numba-cuda-mlir"), cuda, types))
    except ImportError:
        pass
    try:
        from numba import cuda, types

        found.append(("numba-cuda " + _version("numba-cuda"), cuda, types))
    except ImportError:
        pass
    return found


def _kernels(cuda):
    """The kernels, of either package's `cuda`, by their names."""

    def remainder(a, b, out):
        out[0] = a[0] % b[0]

    def quotient(a, b, out):
        out[0] = a[0] // b[0]

    def integer(a, out):
        out[0] = int(a[0])

    def store(a, out):
        out[0] = a[0]

    def last(a, out):
        out[0] = a[-1]

    def less(a, b, out):
        out[0] = a[0] < b[0]

    def grid(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 1

    def unequal(a, b, out):
        out[0] = a[0] != b[0]

    def larger(a, b, out):
        out[0] = max(a[0], b[0])

    def rounded(a, out):
        out[0] = round(a[0])

    def root(a, out):
        out[0] = math.sqrt(a[0])

    def cube(a, out):
        out[0] = a[0] ** 3

    def shuffled(a, out):
        out[0] = cuda.shfl_sync(0xFFFFFFFF, a[0], 5)

    def largest(a, out):
        cuda.atomic.max(out, 0, a[0])

    def looked_up(a, out):
        out[0] = out[a[0]]

    def added(a, out):
        cuda.atomic.add(out, 0, a[0])

    return {name: function for name, function in locals().items() if name != "cuda"}


# what is asked: the kernel, the types of its arrays, and the instructions that decide: first the right one
MENDED = {
    "a % b": ("remainder", "int32 int32 int32", r"rem\.s64|rem\.u32"),
    "a // b": ("quotient", "int32 int32 int32", r"div\.s64|div\.u32"),
    "int(True)": ("integer", "boolean int64", r"selp\S* \S+ 1, 0|selp\S* \S+ -1, 0|neg\.s64"),
    "uint8 as float64": ("store", "uint8 float64", r"cvt\.rn\.f64\.u16|cvt\.rn\.f64\.s16"),
    "a[-1]": ("last", "int64 int64", r"add\.s64 \S+ \S+ -1|ld\S+ \S+ \[%rd\d+\+-8\]|sub\.s64"),
    "int32 as int64": ("store", "int32 int64", r"ld\.global\.s32|ld\.global\.u32"),
    "uint16 < uint16": ("less", "uint16 uint16 boolean", r"setp\.lt\.u16|setp\.lt\.s16"),
}
LIVE = {
    "float64 != float64": ("unequal", "float64 float64 boolean", r"setp\.neu\.f64|setp\.ne\.f64"),
    "max of uint32": ("larger", "uint32 uint32 uint32", r"max\.u32|max\.s32"),
    "uint64 < float64": ("less", "uint64 float64 boolean", r"cvt\.rn\.f64\.u64|cvt\.rn\.f64\.s64"),
    "int8 ** 3": ("cube", "int8 int64", r"mul\.wide\.s32|mul\.lo\.s64|mul\.lo\.s16"),
    "math.sqrt(int32)": ("root", "int32 float64", r"sqrt\.rn\.f64|sqrt\.rn\.f32"),
    "round(float64)": (
        "rounded",
        "float64 int64",
        r"cvt\.rni\.s64\.f64|cvt\.rni\.f64\.f64|add\.rz\.f64",
    ),
    "atomic.max of uint32": (
        "largest",
        "uint32 uint32",
        r"\w+\.global\.max\.u32|\w+\.global\.max\.s32",
    ),
    "a[uint8]": ("looked_up", "uint8 int32", r"ld\.global\.u8|ld\.global\.s8"),
    "atomic.add, int32 to int64": ("added", "int32 int64", r"ld\.global\.s32|ld\.global\.u32"),
    "shfl_sync of float64": ("shuffled", "float64 float64", r"bfi\.b64|cvt\.rn\.f32\.f64"),
    "cuda.grid(1)": ("grid", "int8", r"mul\.wide\.[su]32|mad\.lo\.s32"),
}
_PACKAGES = _installed()


def ptx(question, package=_PACKAGES[0]):
    """Instructions of the kernel, without those that fetch arguments, one a line."""
    _, cuda, types = package
    kernel, arrays, _ = (MENDED | LIVE)[question]
    signature = types.void(*(getattr(types, array)[::1] for array in arrays.split()))
    lines = (
        " ".join(line.split())
        for line in cuda.compile_ptx(_kernels(cuda)[kernel], signature, cc=(9, 0))[0].splitlines()
    )
    return [
        line.rstrip(";")
        for line in lines
        if _re.match(r"(@%p\d+ )?[a-z]", line) and not _re.match(r"ld\.param|cvta|ret;", line)
    ]


def answer(question, package=_PACKAGES[0]):
    """The deciding instruction, with its constant where that decides."""
    code, instructions = "\n".join(ptx(question, package)), (MENDED | LIVE)[question][2].split("|")
    for instruction in instructions:
        if found := _re.search(instruction, code):
            name, *operands = found[0].split()
            return " ".join(
                [name, *(operand for operand in operands if operand[0] in "-1")]
            ).rstrip(",")
    raise LookupError(f"{question}: none of {instructions} in\n{code}")


def show(question):
    """Print the instructions of a kernel."""
    print(*ptx(question), sep="\n")


def line(questions):
    """Print the release and the deciding instructions."""
    print(_PACKAGES[0][0], *map(answer, questions), sep=" | ")


def table(questions):
    """Print the deciding instructions of all packages, a line for each question."""
    for question in questions:
        answers = (
            f"{name.split()[0]}: {answer(question, (name, cuda, types)):20}"
            for name, cuda, types in _PACKAGES
        )
        print(f"{question:26}", " ".join(answers).rstrip())

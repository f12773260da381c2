"""Small kernels, and the PTX instruction that decides between right and wrong. Needs no GPU.

For numba-cuda-mlir and numba-cuda, whichever is installed:

    import deciding
    deciding.show("a % b")              # all that the kernel computes
    deciding.line(deciding.MENDED)      # 0.4.1 | rem.u32 | div.u32 | …
    deciding.table(deciding.LIVE)       # with both installed: their answers side by side
    deciding.keep(deciding.LIVE)        # compile now what cells with the same folder ask later

Both compilers together take longer to load than to compile all of these kernels. What keep() has
compiled lies in the working folder, one file for each package. So of several cells that share a
folder (`%%pinned --folder NAME`) only one has to load them.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import re
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import missing
import renamed

gc.disable()  # a compiler's objects live on: to search them for garbage takes a sixth of the time


def _installed():
    """Names of the installed packages, numba-cuda-mlir first."""
    found = []
    for package in "numba-cuda-mlir", "numba-cuda":
        with contextlib.suppress(PackageNotFoundError):
            version(package)
            found.append(package)
    return found


def _load(package):
    """`cuda` and `types` of a package."""
    if package == "numba-cuda-mlir":
        import compile_90  # noqa: F401
        from numba_cuda_mlir import cuda, types
    else:
        import sm_90  # noqa: F401
        from numba import cuda, types
    return cuda, types


def _kernels(cuda):
    """The kernels, written with either package's `cuda`, by name."""

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

    def equal(a, b, out):
        out[0] = a[0] == b[0]

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

    own = {name: function for name, function in locals().items() if name != "cuda"}
    return own | renamed.kernels(cuda) | missing.kernels(cuda)


# {question: (kernel, types of its arrays, instructions that decide, the right one first)}
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
    "int32 == float32": ("equal", "int32 float32 boolean", r"setp\.eq\.f64|setp\.eq\.f32"),
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
COUNTING = {form: (form, "uint8 int32", "") for form in renamed.FORMS}
UNSUPPORTED = {name: (name, f"{array} {array}", "") for name, array in missing.ARRAYS.items()}
PACKAGES = _installed()
_QUESTIONS = MENDED | LIVE | COUNTING | UNSUPPORTED
_compiled = {}  # {package: {question: lines of PTX, or the name of an exception}}


def _compile(questions, package):
    """Compile what is not there yet; returns all that is there of the package."""
    known = _compiled.setdefault(package, {})
    if not known and _file(package).exists():
        known |= json.loads(_file(package).read_text())
    if wanted := [question for question in questions if question not in known]:
        cuda, types = _load(package)
        functions = _kernels(cuda)
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            for question in wanted:
                name, arrays, _ = _QUESTIONS[question]
                signature = types.void(*(getattr(types, array)[::1] for array in arrays.split()))
                try:
                    text, _ = cuda.compile_ptx(functions[name], signature, cc=(9, 0))
                except Exception as error:
                    known[question] = type(error).__name__
                else:
                    known[question] = [" ".join(line.split()) for line in text.splitlines()]
    return known


def _file(package):
    return Path(f"{package}-{version(package)}.json")


def keep(*tables: Collection[str]) -> None:
    """Compile questions with every installed package, and leave the answers in the folder."""
    for package in PACKAGES:
        known = _compile([question for table in tables for question in table], package)
        _file(package).write_text(json.dumps(known))


def ptx(question: str, package: str = PACKAGES[0]) -> list[str]:
    """Instructions of the kernel, without those that fetch arguments, one a line."""
    lines = _compile([question], package)[question]
    if isinstance(lines, str):
        raise LookupError(f"{package} does not compile {question}: {lines}")
    return [
        line.rstrip(";")
        for line in lines
        if re.match(r"(@%p\d+ )?[a-z]", line) and not re.match(r"ld\.param|cvta|ret;", line)
    ]


def outcome(question: str, package: str = PACKAGES[0]) -> str:
    """ "compiles", or the name of the exception."""
    found = _compile([question], package)[question]
    return found if isinstance(found, str) else "compiles"


def answer(question: str, package: str = PACKAGES[0]) -> str:
    """The deciding instruction, with its constant where that decides."""
    code, instructions = "\n".join(ptx(question, package)), _QUESTIONS[question][2].split("|")
    for instruction in instructions:
        if found := re.search(instruction, code):
            name, *operands = found[0].split()
            return " ".join(
                [name, *(operand for operand in operands if operand[0] in "-1")]
            ).rstrip(",")
    raise LookupError(f"{question}: none of {instructions} in\n{code}")


def show(question: str) -> None:
    """Print the instructions of a kernel."""
    print(*ptx(question), sep="\n")


def line(questions: Collection[str]) -> None:
    """Print the release and the deciding instructions."""
    name = "numba-cuda " * (PACKAGES[0] == "numba-cuda") + version(PACKAGES[0])
    print(name, *map(answer, questions), sep=" | ")


def table(questions: Collection[str]) -> None:
    """Print the deciding instructions of all packages, a line for each question."""
    names = {"numba-cuda": "numba-cuda", "numba-cuda-mlir": version("numba-cuda-mlir")}
    for question in questions:
        answers = (f"{names[package]}: {answer(question, package):20}" for package in PACKAGES)
        print(f"{question:26}", " ".join(answers).rstrip())

"""Check which known issues of GPU Python affect an environment.

    python doctor.py                     the Python that runs it
    python doctor.py --python .venv      another environment, or any interpreter
    python doctor.py --all               also what depends on your code, and what was found
    python doctor.py --strict            exit with 1 for what depends on your code, too

One file, standard library only, Python 3.9 or later. It imports no package that it looks at:
versions come from the metadata beside the packages, and the driver is asked in a process of its
own. Exit status: 0 when nothing is affected, 1 when something is, 2 for a wrong argument, and 3
when nothing is affected as far as could be seen, but something could not be inspected.
"""

from __future__ import annotations

import os
import sys

# A json.py beside this file, or in the folder it is called from, must not replace Python's own.
if __name__ == "__main__":
    _own = {os.path.dirname(os.path.abspath(__file__)), os.getcwd()}
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) not in _own]

import argparse
import json
import re
import shutil
import stat
import subprocess
import textwrap
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

DESCRIPTION = "Find known issues of GPU libraries in an environment."
ISSUES = "https://github.com/gpu-python-casebook/gpu-python-casebook/issues"
BOOK = "https://github.com/gpu-python-casebook/gpu-python-casebook/blob/main/notebooks/{}.ipynb"

AFFECTED, NOT_AFFECTED, CANNOT_TELL = "affected", "not affected", "cannot tell"
AT_RISK = "at risk"  # the fault is there; whether it shows depends on the program
READ = "read, not run"  # the source of the release has the fault, but nobody ran it
WORST_FIRST = AFFECTED, AT_RISK, READ, CANNOT_TELL, NOT_AFFECTED
FOUND = AFFECTED, AT_RISK, READ
KINDS = "wrong numbers", "crash", "hang", "does not start", "slow"  # the worst first

# The parts that are looked for, and the names that their packages have.
WATCHED = {
    "numba": "numba",
    "numba-cuda": "numba-cuda",
    "numba-cuda-mlir": "numba-cuda-mlir",
    "cupy": r"cupy(-(core|cuda|rocm)[\w-]*)?|amd-cupy",
    "cuda-core": "cuda-core",
    "cuda-bindings": "cuda-bindings",
    "cuda-cccl": "cuda-cccl",
    "cuda-pathfinder": "cuda-pathfinder",
    "nanobind": "nanobind",
    "numpy": "numpy",
    "nvrtc": r"nvidia-cuda-nvrtc(-cu\d+)?|cuda-nvrtc",
    "nvvm": "nvidia-cuda-nvcc-cu12|nvidia-nvvm|cuda-nvvm-impl",
    "nvjitlink": r"nvidia-nvjitlink(-cu\d+)?|libnvjitlink",
}
# Releases of numba-cuda beside which the target built into Numba runs.
WITHOUT_CODE = ("numba-cuda", "0.0.0"), ("numba-cuda", "0.0.1")
BUILT_IN, DRIVER = "the CUDA target built into numba", "a driver for CUDA"

Installed = Sequence[tuple[str, str]]  # labels and versions of one part
Parts = dict[str, Installed]
Judged = tuple[str, str]  # a status, and why


# --- what the book knows


@dataclass(frozen=True)
class Range:
    """The releases of one part (a package, a target, a driver) that have a fault."""

    part: str
    since: str = "0.0"  # first release with the fault
    fixed: str | None = None  # first release without it
    oldest: str = "0.0"  # in no older release did the book see it
    newest: str | None = None  # where nothing is fixed, the newest that the book looked at
    everywhere: bool = False  # no release is known to be without it
    read: bool = False  # releases whose source was read, and which were not run

    def judge_all(self, found: Installed) -> Judged:
        """Status of what is installed under one name or several; of several that disagree, none."""
        judged = [self.judge(*one) for one in found]
        agree = len({status for status, _ in judged}) == 1
        return judged[0][0] if agree else CANNOT_TELL, " and ".join(why for _, why in judged)

    def judge(self, label: str, version: str) -> Judged:
        """Status of one release, and why."""
        what, number = f"{label} {version}", release(version)
        if self.read:
            return self.judge_read(what, number)
        if number is None:
            return CANNOT_TELL, f"{what} is not one numbered release"
        if self.fixed and number >= numbers(self.fixed):
            return NOT_AFFECTED, f"{what}: fixed in {self.fixed}"
        if number < numbers(self.since):
            return NOT_AFFECTED, f"{what}: the fault begins with {self.since}"
        if number < numbers(self.oldest):
            why = f"{what} is older than {self.oldest}, the oldest in which the book saw the fault"
            return CANNOT_TELL, why
        if self.newest and number > numbers(self.newest):
            why = f"{what} is newer than {self.newest}, the newest that the book looked at"
            return CANNOT_TELL, why
        return AT_RISK if self.everywhere else AFFECTED, what

    def judge_read(self, what: str, number: tuple[int, ...] | None) -> Judged:
        """The same for releases that were read: of others, this range says nothing."""
        inside = (
            number is not None
            and numbers(self.oldest) <= number
            and (not self.fixed or number < numbers(self.fixed))
            and (not self.newest or number <= numbers(self.newest))
        )
        return (READ, f"{what}: {READ}") if inside else (NOT_AFFECTED, what)


@dataclass(frozen=True)
class Case:
    """One fault and its fix. The worst range whose part is installed decides."""

    name: str
    symptom: str
    ranges: tuple[Range, ...]
    fix: str
    chapter: str
    beside: Range | None = None  # the fault shows only beside these releases of another part
    kind: str = ""  # of KINDS
    remains: str = ""  # what the fixed releases still do
    absent: str = ""  # what is to be said where nothing is installed

    @classmethod
    def from_table(cls, ranges: list[dict], beside: dict | None = None, **words: str) -> Case:
        """The Case in the words of the table."""
        found = tuple(Range(**one) for one in ranges)
        return cls(ranges=found, beside=Range(**beside) if beside else None, **words)

    def examine(self, parts: Parts) -> Finding:
        """The Finding in an environment."""
        found = [r.judge_all(parts[r.part]) for r in self.ranges if r.part in parts]
        if not found:
            return self.finding(NOT_AFFECTED, self.missing(parts))
        status, why = min(found, key=lambda judged: WORST_FIRST.index(judged[0]))
        if status != NOT_AFFECTED and self.beside:
            other = self.beside
            if other.part not in parts:
                why += f": the fault needs {other.part} {other.since} or later, and there is none"
                return self.finding(CANNOT_TELL, why)
            beside, other_why = other.judge_all(parts[other.part])
            status = status if beside == AFFECTED else beside
            why += f", with {other_why}"
        return self.finding(status, why, self.remains if status == NOT_AFFECTED else "")

    def missing(self, parts: Parts) -> str:
        """Why a fault of packages that are not installed does not show."""
        if self.ranges[-1].part == BUILT_IN and "numba-cuda" in parts:
            return f"{listing(parts['numba-cuda'])} takes the place of {BUILT_IN}"
        names = ("numba" if r.part == BUILT_IN else r.part for r in self.ranges)
        return f"not installed: {', '.join(names)}{self.absent}"

    def finding(self, status: str, why: str, remains: str = "") -> Finding:
        fix = self.fix if status in FOUND else ""
        page = BOOK.format(self.chapter)
        return Finding(self.name, self.symptom, status, why, fix, remains, page, self.kind)


@dataclass(frozen=True)
class Finding:
    """What the doctor says about one fault."""

    name: str
    symptom: str
    status: str
    why: str
    fix: str
    remains: str
    chapter: str
    kind: str = ""

    @property
    def weight(self) -> tuple[int, int]:
        """Its place in a list, the worst first."""
        kind = KINDS.index(self.kind) if self.kind in KINDS else -1  # packages that do not fit
        return WORST_FIRST.index(self.status), kind


# Written by `casebook facts` from notebooks/NN-name.yml. Edit there.
TABLE = r"""
{"cases": [
{"name": "01-default-arguments", "symptom": "A CUDA device function called without its default argument, or with a keyword, does not compile: TypeError: Signature mismatch: 1 argument types given, but function takes 2 arguments", "ranges": [{"part": "numba-cuda", "fixed": "0.8.0"}, {"part": "the CUDA target built into numba", "newest": "0.68.1"}], "fix": "pip install \"numba-cuda[cu12]==0.30.4\" \"numpy<2.5\" (or [cu13])", "kind": "does not start", "chapter": "01-default-arguments"},
{"name": "02-grid-sync-cache", "symptom": "Numba fails to compile a kernel with grid.sync() when cache=True is set: No definition for lowering (<class 'numba.cuda.types.GridGroup'>, 'sync')(GridGroup,) -> int32", "ranges": [{"part": "the CUDA target built into numba", "since": "0.59.0", "fixed": "0.59.1"}], "fix": "pip install \"numba-cuda[cu12]>=0.30.4\" \"numpy<2.5\"", "kind": "does not start", "chapter": "02-grid-sync-cache"},
{"name": "02-lost-flag", "symptom": "A kernel with grid.sync(), loaded from the cache, does not wait for other blocks and silently computes wrong numbers", "ranges": [{"part": "numba-cuda-mlir", "oldest": "0.4.2", "newest": "0.6.0", "everywhere": true}, {"part": "numba-cuda-mlir", "oldest": "0.3.0", "newest": "0.4.1", "read": true}], "fix": "Remove cache=True from kernels that call grid.sync()", "kind": "wrong numbers", "chapter": "02-grid-sync-cache"},
{"name": "03-jit-options", "symptom": "ObjectCode(jit_options=...) has no effect, and since 0.2.0 the argument no longer exists: ObjectCode objects cannot be instantiated directly.", "ranges": [{"part": "cuda-core", "oldest": "0.1.1", "fixed": "0.2.0"}], "fix": "Run pip install \"cuda-core[cu12]>=1.0\", then compile C++ straight to \"cubin\" with ProgramOptions(max_register_count=32)", "kind": "wrong numbers", "chapter": "03-jit-options", "remains": "Some ProgramOptions are still silently dropped when the input is PTX (seen up to 1.2.2)."},
{"name": "03-dropped-options", "symptom": "ProgramOptions such as prec_div, ftz or use_fast_math silently have no effect when the input is PTX", "ranges": [{"part": "cuda-core", "since": "0.2.0", "newest": "1.2.2", "everywhere": true}], "fix": "Pass the option where C++ is compiled to PTX, or compile C++ to a cubin in one step", "kind": "wrong numbers", "chapter": "03-jit-options"},
{"name": "04-fused-scalars", "symptom": "A Python scalar in a cupy.fuse function raises an error, or the fused kernel is very slow: cannot open source file \"cooperative_groups.h\"", "ranges": [{"part": "cupy", "since": "13.2.0", "fixed": "13.4.1"}], "fix": "Write x + x.dtype.type(1) for 1 + x and pass scalars as np.float32(h), or run pip install \"cupy-cuda12x>=13.4.1,<14\"", "kind": "crash", "chapter": "04-fused-scalars", "remains": "Some expressions still silently take the slow path; the chapter has a function that checks. CuPy 14.0.0 to 14.2.0 have another bug, 25-fuse-small-types.", "beside": {"part": "numpy", "since": "2.0"}},
{"name": "05-device-arrays", "symptom": "A GPU array returned by nanobind claims to be on the CPU, and reading it in NumPy or PyTorch segfaults: killed by SIGSEGV", "ranges": [{"part": "nanobind", "oldest": "1.0.0", "fixed": "2.2.0"}], "fix": "Check return types for nb::f_contig first, then run pip install \"nanobind>=2.2.0\" and rebuild the module", "kind": "crash", "chapter": "05-device-arrays", "remains": "A compiled module keeps the release it was built with, and a type that names no device still means CPU (seen up to 3.1.0).", "absent": "; a module that was compiled elsewhere keeps the release it was built with"},
{"name": "06-one-import", "symptom": "numba-cuda-mlir gives wrong results for % and // of negative numbers, int(True), uint8 to float and a[-1]", "ranges": [{"part": "numba-cuda-mlir", "oldest": "0.3.0", "fixed": "0.5.3"}], "fix": "Go back with pip install \"numba-cuda[cu12]==0.30.4\" \"numpy<2.5\", or use 0.6.0 and follow the rewrite list", "kind": "wrong numbers", "chapter": "06-one-import"},
{"name": "06-still", "symptom": "In numba-cuda-mlir, x != x misses NaN, max of uint32 is wrong, int32 == float32 rounds the int, and math.sqrt(int) loses precision", "ranges": [{"part": "numba-cuda-mlir", "newest": "0.6.0", "everywhere": true}], "fix": "Use math.isnan(x) and math.sqrt(float(n)), use np.float64(n) where an integer meets a float, and see the rewrite list", "kind": "wrong numbers", "chapter": "06-one-import"},
{"name": "06-atomic-on-a-second-name", "symptom": "cuda.atomic.add on a shared array passed to a device function, or under a second name, ends in an illegal address: CUDA_ERROR_ILLEGAL_ADDRESS", "ranges": [{"part": "numba-cuda-mlir", "oldest": "0.6.0", "newest": "0.6.0", "everywhere": true}], "fix": "Write part = cuda.shared.array(…) on its own line, and call cuda.atomic.add(part, …) in the same function", "kind": "crash", "chapter": "06-one-import"},
{"name": "06-does-not-compile", "symptom": "numba-cuda-mlir does not compile divmod, enumerate, zip, min of three values, reshape, or == of complex numbers: UserFacingInternalCompilerError", "ranges": [{"part": "numba-cuda-mlir", "oldest": "0.6.0", "newest": "0.6.0", "everywhere": true}], "fix": "Write a // b and a % b for divmod(a, b), and find the rest in *The move, as a list*", "kind": "does not start", "chapter": "06-one-import"},
{"name": "07-freed-in-flight", "symptom": "cuda.core reuses the memory of a dropped buffer while a kernel still writes to it, and the numbers are wrong", "ranges": [{"part": "cuda-core", "oldest": "0.1.1", "fixed": "0.4.0"}], "fix": "Run pip install \"cuda-core[cu12]>=1.2\" (or [cu13]) and import cuda.core, or call close(stream) of the buffer with the last stream that uses it", "kind": "wrong numbers", "chapter": "07-freed-in-flight", "remains": "A buffer from Buffer.from_handle is still freed on the default stream unless you pass another one (seen in 1.2.2)."},
{"name": "07-second-stream", "symptom": "An array allocated on stream home, used on stream guest and dropped before guest finished has wrong numbers, without a message", "ranges": [{"part": "cupy", "oldest": "4.0.0", "newest": "14.2.0", "everywhere": true}, {"part": "cuda-core", "oldest": "0.4.0", "newest": "1.2.2", "everywhere": true}], "fix": "After the last launch on guest, call home.wait_event(guest.record()) in CuPy or home.wait(guest) in cuda.core, then drop the array", "kind": "wrong numbers", "chapter": "07-freed-in-flight"},
{"name": "09-second-gpu", "symptom": "After the first with cuda.gpus[1]:, new CuPy arrays are on GPU 1", "ranges": [{"part": "numba-cuda", "since": "0.21.0", "fixed": "0.30.1"}], "fix": "pip install \"numba-cuda[cu12]>=0.30.1\" \"numpy<2.5\" (or [cu13])", "kind": "crash", "chapter": "09-second-gpu", "remains": "If another GPU is current, the first visit to a GPU loses that other GPU's context (seen up to 0.30.4)."},
{"name": "09-device-methods", "symptom": "Device(1).create_stream() and create_event() use the current GPU but label the result GPU 1, without a message", "ranges": [{"part": "cuda-core", "oldest": "0.5.0", "newest": "1.2.2", "everywhere": true}], "fix": "Call Device(1).set_current() just before the call, and set the previous device again afterwards", "kind": "crash", "chapter": "09-second-gpu"},
{"name": "10-unchecked-signature", "symptom": "A Numba kernel with one explicit signature silently accepts arrays of a dtype that it was not compiled for", "ranges": [{"part": "numba-cuda", "newest": "0.30.4", "everywhere": true}, {"part": "the CUDA target built into numba", "oldest": "0.57.0", "newest": "0.68.1", "everywhere": true}], "fix": "Put the signature in a list, cuda.jit([signature]), or omit it", "kind": "wrong numbers", "chapter": "10-unchecked-signature"},
{"name": "11-byte-offset", "symptom": "A view passed through DLPack starts too early, at the first elements of the base array, without an error message", "ranges": [{"part": "cuda-core", "oldest": "0.1.1", "fixed": "1.2.0"}], "fix": "Run pip install \"cuda-core[cu12]>=1.2.0\" (or cu13), and with numba-cuda add \"numba-cuda[cu12]>=0.30.4\" \"numpy<2.5\"", "kind": "wrong numbers", "chapter": "11-byte-offset"},
{"name": "12-sort-out-of-memory", "symptom": "cupy.sort or argsort returns unsorted data or aborts when GPU memory is full (before 13.4.0, it raises RuntimeError): Exception ignored in: 'cupy.cuda.thrust.cupy_malloc'", "ranges": [{"part": "cupy", "oldest": "13.0.0", "fixed": "14.1.0"}, {"part": "cupy", "oldest": "11.0.0", "newest": "12.3.0", "read": true}], "fix": "pip install \"cupy-cuda12x>=14.1.0\"", "kind": "wrong numbers", "chapter": "12-sort-out-of-memory"},
{"name": "13-stale-helper", "symptom": "An edited helper function or header has no effect and causes no message, because the kernel is loaded from a stale cache", "ranges": [{"part": "numba-cuda", "newest": "0.30.4", "everywhere": true}, {"part": "numba-cuda-mlir", "oldest": "0.6.0", "newest": "0.6.0", "everywhere": true}, {"part": "cupy", "oldest": "14.2.0", "newest": "14.2.0", "everywhere": true}, {"part": "the CUDA target built into numba", "oldest": "0.57.0", "newest": "0.68.1", "everywhere": true}, {"part": "cupy", "oldest": "13.0.0", "newest": "14.1.1", "read": true}], "fix": "After each edit delete the folder kernel._cache.cache_path (Numba) or ~/.cupy/kernel_cache (CuPy)", "kind": "wrong numbers", "chapter": "13-stale-helper"},
{"name": "14-two-billion", "symptom": "A kernel over more than 2³¹ elements silently skips some and processes others twice", "ranges": [{"part": "numba-cuda-mlir", "oldest": "0.4.0", "newest": "0.6.0", "everywhere": true}, {"part": "the CUDA target built into numba", "oldest": "0.57.0", "fixed": "0.59.0"}], "fix": "Compute the index in 64 bits: i = np.int64(cuda.blockIdx.x) * cuda.blockDim.x + cuda.threadIdx.x", "kind": "wrong numbers", "chapter": "14-two-billion"},
{"name": "14-cumsum", "symptom": "cupy.cumsum is silently wrong from 2³² elements on (up to 13.3.0, from 2³¹, according to the source)", "ranges": [{"part": "cupy", "oldest": "13.0.0", "fixed": "14.1.0"}], "fix": "Upgrade CuPy: pip install \"cupy-cuda12x>=14.1.0\" (or cupy-cuda13x)", "kind": "wrong numbers", "chapter": "14-two-billion", "remains": "cumsum along an axis is still wrong beyond 2³² elements, up to 14.2.0 (cupy #10268)."},
{"name": "15-filter-in-place", "symptom": "A cupyx.scipy.ndimage filter with output=image leaves the image unchanged, without an error", "ranges": [{"part": "cupy", "oldest": "13.0.0", "fixed": "14.2.0"}, {"part": "cupy", "oldest": "11.6.0", "newest": "12.3.0", "read": true}], "fix": "Write into a new array and copy it back with image[...] = ndimage.rank_filter(image, …), because upgrading is not enough", "kind": "wrong numbers", "chapter": "15-filter-in-place", "remains": "Top-hats, Laplacians, gradient magnitudes, and shift and rotate at order 0 or 1 are still wrong in place (seen in 14.2.0)."},
{"name": "15-in-place-overwritten", "symptom": "A top-hat filter with output=image returns all zeros, and laplace, shift or rotate in place gives wrong values", "ranges": [{"part": "cupy", "oldest": "14.1.1", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "11.6.0", "newest": "14.1.0", "read": true}], "fix": "Never let output= share memory with the input, but write image[...] = ndimage.white_tophat(image, size=3)", "kind": "wrong numbers", "chapter": "15-filter-in-place"},
{"name": "16-sums-that-vary", "symptom": "For the same floats, cumsum, cumprod, add.at, atomicAdd and weighted bincount or histogram differ in the last digits from run to run", "ranges": [{"part": "cupy", "oldest": "14.2.0", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "13.0.0", "newest": "14.1.1", "read": true}], "fix": "Use a tolerance in tests. For the same bits, call cp.cumsum(x.ravel(), axis=0), or sum scaled integers and divide", "kind": "wrong numbers", "chapter": "16-sums-that-vary"},
{"name": "18-numpy-2.5", "symptom": "With NumPy 2.5, no numba-cuda kernel compiles, although the import works: AttributeError: module 'numpy' has no attribute 'row_stack'", "ranges": [{"part": "numba-cuda", "since": "0.21.1", "newest": "0.30.4"}], "fix": "pip install \"numpy<2.5\"", "kind": "does not start", "chapter": "18-numpy-2.5", "beside": {"part": "numpy", "since": "2.5"}},
{"name": "18-numba-0.66", "symptom": "from numba import cuda fails: numba-cuda is too old for this Numba: AttributeError: module 'numba.cuda.types' has no attribute 'NPDatetime'", "ranges": [{"part": "numba-cuda", "since": "0.18.0", "fixed": "0.30.4"}], "fix": "Upgrade it: pip install \"numba-cuda>=0.30.4\" \"numpy<2.5\"", "kind": "does not start", "chapter": "18-numpy-2.5", "beside": {"part": "numba", "since": "0.66.0"}},
{"name": "18-numpy-2.4", "symptom": "With NumPy 2.4, no numba-cuda kernel compiles: module 'numpy' has no attribute 'trapz'", "ranges": [{"part": "numba-cuda", "since": "0.21.1", "fixed": "0.26.0"}], "fix": "pip install \"numpy<2.4\"", "kind": "does not start", "chapter": "18-numpy-2.5", "beside": {"part": "numpy", "since": "2.4"}},
{"name": "19-driver-580", "symptom": "After an update to driver 580 or newer, old Numba says that the context is destroyed, or crashes: CudaAPIError: [709] Call to cuCtxSynchronize results in CUDA_ERROR_CONTEXT_IS_DESTROYED", "ranges": [{"part": "numba-cuda", "fixed": "0.8.1"}, {"part": "the CUDA target built into numba", "oldest": "0.53.0", "fixed": "0.63.0"}], "fix": "Upgrade Numba with pip install \"numba>=0.63.1\". If numba-cuda is installed, run pip install \"numba-cuda>=0.8.1\" \"numpy<2.5\"", "kind": "crash", "chapter": "19-driver-580", "beside": {"part": "a driver for CUDA", "since": "13.0"}},
{"name": "20-barrier-hang", "symptom": "A kernel with syncthreads_or or another barrier used as a loop condition hangs (Python 3.10 to 3.13)", "ranges": [{"part": "numba-cuda", "newest": "0.30.4", "everywhere": true}, {"part": "numba-cuda-mlir", "oldest": "0.6.0", "newest": "0.6.0", "everywhere": true}, {"part": "the CUDA target built into numba", "oldest": "0.57.0", "newest": "0.68.1", "everywhere": true}], "fix": "Call the barrier in the loop body: while True:, then if not cuda.syncthreads_or(…): break", "kind": "hang", "chapter": "20-barrier-hang"},
{"name": "21-one-literal", "symptom": "A float32 kernel with a decimal literal computes in float64 and is slow", "ranges": [{"part": "numba-cuda", "newest": "0.30.4", "everywhere": true}, {"part": "numba-cuda-mlir", "oldest": "0.4.2", "newest": "0.6.0", "everywhere": true}, {"part": "the CUDA target built into numba", "oldest": "0.57.0", "newest": "0.68.1", "everywhere": true}], "fix": "Write the constant as np.float32(0.3)", "kind": "slow", "chapter": "21-one-literal"},
{"name": "22-fuse-and-memory", "symptom": "A fused, elementwise or ufunc kernel of CuPy is slow, at a fraction of the GPU's memory bandwidth", "ranges": [{"part": "cupy", "oldest": "13.0.0", "newest": "14.2.0", "everywhere": true}], "fix": "Measure first, then rewrite the formula in C as a cp.ElementwiseKernel(…) and call it with block_size=256", "kind": "slow", "chapter": "22-fuse-and-memory"},
{"name": "23-reversed-table", "symptom": "A kernel silently misreads a reversed or sliced NumPy array that is global, in a closure or in cuda.const.array_like", "ranges": [{"part": "numba-cuda", "fixed": "0.21.1"}, {"part": "the CUDA target built into numba", "oldest": "0.57.0", "newest": "0.68.1"}], "fix": "Write table = np.ascontiguousarray(table) before the kernel is compiled", "kind": "wrong numbers", "chapter": "23-reversed-table"},
{"name": "24-impossible-draw", "symptom": "cupy.random hypergeometric hangs (the kernel never ends) if nsample > max(10, ngood + nbad)", "ranges": [{"part": "cupy", "oldest": "14.0.1", "fixed": "14.1.0"}, {"part": "cupy", "oldest": "13.0.0", "newest": "14.0.0", "read": true}], "fix": "Run assert np.all(sample <= good + bad) first. Newer releases and smaller impossible draws return wrong numbers", "kind": "hang", "chapter": "24-impossible-draw"},
{"name": "24-impossible-parameters", "symptom": "cupy.random accepts invalid parameters without an error, and beta with a negative parameter or hypergeometric with one in an array hangs", "ranges": [{"part": "cupy", "oldest": "14.2.0", "newest": "14.2.0", "everywhere": true}], "fix": "Check the range of each parameter before the call, for example assert np.all(good >= 0)", "kind": "hang", "chapter": "24-impossible-draw"},
{"name": "25-fuse-small-types", "symptom": "A cupy.fuse function that uses Python scalars, a boolean mask or an int8 or uint8 image silently returns wrong numbers", "ranges": [{"part": "cupy", "since": "14.0.0", "newest": "14.2.0"}], "fix": "Call the plain function: f.func(x, s) instead of f(x, s), and .func of any fused function that f calls", "kind": "wrong numbers", "chapter": "25-fuse-small-types"},
{"name": "27-no-cudart", "symptom": "from cuda import cudart (or cuda, nvrtc) fails, although cuda-python is installed: ImportError: cannot import name 'cudart' from 'cuda' (unknown location)", "ranges": [{"part": "cuda-bindings", "since": "13.0.0", "newest": "13.5.0", "everywhere": true}], "fix": "Write from cuda.bindings import runtime as cudart, or if nothing needs bindings 13, run pip install \"cuda-python>=12.9,<13\"", "kind": "does not start", "chapter": "27-no-cudart"},
{"name": "29-below-one", "symptom": "xoroshiro128p_uniform_float32 returns exactly 1.0 once in 33,554,432 draws, so that an index is one past the end", "ranges": [{"part": "numba-cuda", "oldest": "0.30.4", "newest": "0.30.4", "everywhere": true}, {"part": "the CUDA target built into numba", "oldest": "0.68.1", "newest": "0.68.1", "everywhere": true}, {"part": "numba-cuda", "oldest": "0.0.1", "fixed": "0.30.4", "read": true}, {"part": "the CUDA target built into numba", "oldest": "0.33.0", "fixed": "0.68.1", "read": true}], "fix": "Clamp it: min(xoroshiro128p_uniform_float32(states, i), np.float32(1 - 2**-24))", "kind": "wrong numbers", "chapter": "29-below-one"},
{"name": "30-silent-raise", "symptom": "A CUDA kernel ignores raise ValueError or assert: there is no exception, and that thread's result is missing or wrong", "ranges": [{"part": "numba-cuda", "oldest": "0.30.4", "newest": "0.30.4", "everywhere": true}, {"part": "numba-cuda-mlir", "oldest": "0.6.0", "newest": "0.6.0", "everywhere": true}], "fix": "Set a flag with cuda.atomic.max(errors, 0, i + 1) and read it after the launch. In tests, compile in debug mode without optimization", "kind": "wrong numbers", "chapter": "30-silent-raise"},
{"name": "31-index-wraps", "symptom": "CuPy raises no IndexError: x[i] with an index array out of bounds reads or writes another element", "ranges": [{"part": "cupy", "oldest": "14.2.0", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "13.0.0", "fixed": "14.2.0", "read": true}], "fix": "Check the index array first with the function below: x[checked(i, len(x))]", "kind": "wrong numbers", "chapter": "31-index-wraps"},
{"name": "32-pinned-refilled", "symptom": "Frames copied from one pinned buffer to the GPU with cp.asarray or cp.array are silently overwritten by later frames", "ranges": [{"part": "cupy", "since": "13.0.0", "newest": "14.2.0", "everywhere": true}], "fix": "Wait for the copy: cp.asarray(frame, blocking=True)", "kind": "wrong numbers", "chapter": "32-pinned-refilled"},
{"name": "32-set-refilled", "symptom": "Frames copied from one pinned buffer to the GPU with x.set(frame) are silently overwritten by later frames", "ranges": [{"part": "cupy", "oldest": "14.2.0", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "11.0.0", "fixed": "14.2.0", "read": true}], "fix": "Before you refill the buffer, call cp.cuda.get_current_stream().synchronize(), or s.synchronize() if you passed stream=s", "kind": "wrong numbers", "chapter": "32-pinned-refilled"},
{"name": "32-stream-refilled", "symptom": "Frames copied from one cuda.pinned_array with stream= are silently overwritten by later frames", "ranges": [{"part": "numba-cuda", "oldest": "0.30.4", "newest": "0.30.4", "everywhere": true}, {"part": "numba-cuda", "oldest": "0.0.3", "fixed": "0.30.4", "read": true}, {"part": "the CUDA target built into numba", "oldest": "0.59.0", "newest": "0.68.1", "read": true}], "fix": "Before you refill the buffer, call stream.synchronize()", "kind": "wrong numbers", "chapter": "32-pinned-refilled"},
{"name": "33-cast-backwards", "symptom": "A CUDA guvectorize function truncates floats to integers, or int64 to int32, and rejects safe conversions", "ranges": [{"part": "numba-cuda", "oldest": "0.30.4", "newest": "0.30.4", "everywhere": true}, {"part": "numba-cuda-mlir", "oldest": "0.6.0", "newest": "0.6.0", "everywhere": true}, {"part": "the CUDA target built into numba", "oldest": "0.68.1", "newest": "0.68.1", "everywhere": true}], "fix": "Convert inputs to exactly the types in the signature, for example with a.astype(np.float64, order=\"C\", casting=\"safe\")", "kind": "wrong numbers", "chapter": "33-gufunc"},
{"name": "33-out-never-sent", "symptom": "A CUDA guvectorize function that adds to out= returns garbage, and the old contents of out are lost", "ranges": [{"part": "numba-cuda", "oldest": "0.30.4", "newest": "0.30.4", "everywhere": true}, {"part": "numba-cuda-mlir", "oldest": "0.6.0", "newest": "0.6.0", "everywhere": true}, {"part": "the CUDA target built into numba", "oldest": "0.68.1", "newest": "0.68.1", "everywhere": true}], "fix": "Pass total as an input too: write \"(n),(n)->(n)\" and out[i] = total[i] + x[i], then use what added(x, total) returns", "kind": "wrong numbers", "chapter": "33-gufunc"},
{"name": "36-eight-into-four", "symptom": "reduce_into of cuda.compute with h_init=np.array([0.0]) silently gives 0 or garbage, or overwrites the number after the output", "ranges": [{"part": "cuda-cccl", "oldest": "0.5.0", "newest": "1.2.1", "everywhere": true}], "fix": "Give h_init the dtype of the output: h_init=np.array([0], out.dtype)", "kind": "wrong numbers", "chapter": "36-eight-into-four"},
{"name": "37-shared-overlap", "symptom": "A static shared array silently changes when the kernel writes to a dynamic one, cuda.shared.array(0, ...), whose size is 0", "ranges": [{"part": "numba-cuda-mlir", "oldest": "0.4.1", "newest": "0.6.0", "everywhere": true}], "fix": "Make all shared arrays static, as in cuda.shared.array(LARGEST, np.int32), or use numba-cuda", "kind": "wrong numbers", "chapter": "37-shared-overlap"},
{"name": "37-lost-store", "symptom": "A kernel writes to a dynamic shared array and silently reads back zeros or an old value", "ranges": [{"part": "numba-cuda-mlir", "oldest": "0.4.1", "newest": "0.6.0", "everywhere": true}, {"part": "numba-cuda-mlir", "oldest": "0.4.0", "newest": "0.4.0", "read": true}], "fix": "Make the array static, or put cuda.syncthreads() between any two accesses if one of them is a write", "kind": "wrong numbers", "chapter": "37-shared-overlap"},
{"name": "38-captured-arrays", "symptom": "A CUDA graph captured with CuPy is right at first, but later it silently gives garbage or overwrites other arrays", "ranges": [{"part": "cupy", "oldest": "14.2.0", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "11.0.0", "fixed": "14.2.0", "read": true}], "fix": "Capture inside a private memory pool and keep the pool and arrays alive as long as the graph (record below)", "kind": "wrong numbers", "chapter": "38-graph-addresses"},
{"name": "38-captured-buffers", "symptom": "A graph captured with cuda.core gives garbage after its buffers are freed, because it does not keep them alive", "ranges": [{"part": "cuda-core", "oldest": "0.7.0", "newest": "1.2.2", "everywhere": true}], "fix": "Keep the buffers alive as long as the graph (kept below). From 1.0 on, you can build it with a GraphDefinition() and its launch", "kind": "wrong numbers", "chapter": "38-graph-addresses"},
{"name": "38-graph-definition", "symptom": "A graph built with GraphDef.launch of cuda.core gives garbage, because it does not keep its buffers alive", "ranges": [{"part": "cuda-core", "oldest": "0.7.0", "fixed": "1.0.0"}], "fix": "Run pip install \"cuda-core[cu12]>=1.2\" (or [cu13]), because 1.0 fixes this bug and 1.2 fixes a related one", "kind": "wrong numbers", "chapter": "38-graph-addresses"},
{"name": "39-grey-image", "symptom": "uniform_filter of an integer array silently returns values that are too small (too large if negative), by up to one per axis", "ranges": [{"part": "cupy", "oldest": "14.2.0", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "12.0.0", "fixed": "14.2.0", "read": true}], "fix": "To match SciPy, use the function below. To round, use cp.rint(uniform_filter(cp.asarray(image, cp.float64), size))", "kind": "wrong numbers", "chapter": "39-grey-image"},
{"name": "40-short-rows", "symptom": "sum(axis=1), max or norm over millions of short rows is many times slower than adding the columns by hand", "ranges": [{"part": "cupy", "oldest": "14.1.1", "fixed": "14.2.0"}, {"part": "cupy", "oldest": "11.0.0", "fixed": "14.1.1", "read": true}], "fix": "Upgrade the CuPy package you have: pip install \"cupy-cuda12x>=14.2,<15\" (or cupy-cuda13x)", "kind": "slow", "chapter": "40-short-rows"},
{"name": "42-always-gpu-0", "symptom": "cuPointerGetAttribute and StridedMemoryView.from_cuda_array_interface silently report GPU 0 for all memory (CUDA 12)", "ranges": [{"part": "cuda-bindings", "since": "12.9.6", "fixed": "12.9.9"}], "fix": "pip install \"cuda-bindings>=12.9.9,<13\"", "kind": "wrong numbers", "chapter": "42-always-gpu-0"},
{"name": "42-always-gpu-0-cuda-13", "symptom": "cuPointerGetAttribute and StridedMemoryView.from_cuda_array_interface silently report GPU 0 for all memory (CUDA 13)", "ranges": [{"part": "cuda-bindings", "since": "13.2.0", "fixed": "13.4.3"}], "fix": "pip install \"cuda-bindings>=13.4.3,<14\"", "kind": "wrong numbers", "chapter": "42-always-gpu-0"},
{"name": "43-unsigned-compare", "symptom": "In CuPy, x > -1 is False for every element of a uint64 array, and comparing a uint64 array with a signed integer array gives wrong results", "ranges": [{"part": "cupy", "since": "14.0.0", "fixed": "14.1.0"}], "fix": "Upgrade the CuPy package you have: pip install \"cupy-cuda12x>=14.1,<15\" (or cupy-cuda13x)", "kind": "wrong numbers", "chapter": "43-unsigned-compare"},
{"name": "44-table-malloc", "symptom": "A kernel that reads a global NumPy array crashes at once with many threads, and otherwise after several launches: CUDA_ERROR_ILLEGAL_ADDRESS", "ranges": [{"part": "numba-cuda-mlir", "fixed": "0.5.0"}], "fix": "Run pip install \"numba-cuda-mlir[cu12]>=0.5.3\" (or [cu13]), or pass the table as an argument", "kind": "crash", "chapter": "44-table-malloc"},
{"name": "45-split-before", "symptom": "cupy.split or array_split with a negative index beyond the length silently returns data from outside the array", "ranges": [{"part": "cupy", "oldest": "4.4.0", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "4.4.0", "newest": "12.3.0", "read": true}], "fix": "Clip each index first: slice(i).indices(n)[1], where n is the length", "kind": "wrong numbers", "chapter": "45-split-before"},
{"name": "46-large-labels", "symptom": "Integer labels above 16,777,216 silently change in ndimage zoom, shift, rotate, affine_transform or map_coordinates", "ranges": [{"part": "cupy", "oldest": "13.0.0", "newest": "14.2.0", "everywhere": true}], "fix": "Call ndimage.zoom(labels.astype(\"float64\"), 2, order=0, output=labels.dtype), which is exact up to 2⁵³", "kind": "wrong numbers", "chapter": "46-large-labels"},
{"name": "47-unique-rows", "symptom": "cupy.unique with axis hangs on many rows, or silently keeps duplicate rows (if any has inf or NaN) or orders integers wrongly", "ranges": [{"part": "cupy", "oldest": "13.0.0", "newest": "14.2.0", "everywhere": true}], "fix": "Sort the rows with cp.lexsort and keep each row that differs from the one before (unique_rows below)", "kind": "wrong numbers", "chapter": "47-unique-rows"},
{"name": "57-not-on-sys-path", "symptom": "CUDA libraries such as libnvrtc.so are installed but not found with uv run --with, pip install --target or PYTHONPATH: DynamicLibNotFoundError: Failure finding \"libnvrtc.so.13 or libnvrtc.so.12\": No such file: libnvrtc.so.13 or libnvrtc.so.12", "ranges": [{"part": "cuda-pathfinder", "since": "1.0.0", "newest": "1.9.1", "everywhere": true}], "fix": "Install the packages into the virtual environment that runs the program, and don't use uv run --with", "kind": "does not start", "chapter": "57-not-on-sys-path"},
{"name": "59-flush-to-zero", "symptom": "In CuPy, float32 results smaller than 1.2e-38 become 0, and --ftz=false changes nothing", "ranges": [{"part": "cupy", "oldest": "14.2.0", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "11.6.0", "newest": "14.1.1", "read": true}], "fix": "Compute in float64, or scale the numbers up first", "kind": "wrong numbers", "chapter": "59-last-digits"},
{"name": "63-nvrtc-cache", "symptom": "Results are more or less exact than you asked for, because NVRTC returned a kernel built with another prec_div, prec_sqrt or ftz", "ranges": [{"part": "nvrtc", "since": "12.9.41", "newest": "13.5.37", "everywhere": true}], "fix": "Set CUDA_CACHE_DISABLE=1 before the program starts, or no_cache=True in every ProgramOptions (cuda-core 0.5 or newer)", "kind": "wrong numbers", "chapter": "63-another-builds-options"},
{"name": "66-load-without-a-driver", "symptom": "Without a driver, loading an ObjectCode, or its repr, raises SystemError, and every later call of the driver hangs and never returns: <built-in method __enter__ of _thread.lock object at 0x…> returned a result with an exception set", "ranges": [{"part": "cuda-core", "since": "0.7.0", "newest": "1.2.2", "everywhere": true}], "fix": "Install the driver, because without one no code can be loaded. In a new process, call Device() first, because without a driver it raises an error that says so", "kind": "hang", "chapter": "66-locked-loader", "beside": {"part": "cuda-bindings", "since": "12.9.3"}},
{"name": "76-every-thread", "symptom": "np.sum(x) compiles in a Numba CUDA kernel, but every thread sums the whole array", "ranges": [{"part": "numba-cuda", "since": "0.21.1", "newest": "0.30.4", "everywhere": true}], "fix": "Let each thread add its own elements in a loop, then cuda.atomic.add(out, 0, part)", "kind": "wrong numbers", "chapter": "76-numpy-in-a-kernel"},
{"name": "91-sparse-zeros", "symptom": "CuPy: the product of two large sparse matrices, as in X.T @ X, has no non-zeros, without an error", "ranges": [{"part": "cupy", "oldest": "14.0.0", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "14.0.0", "fixed": "14.2.0", "read": true}], "fix": "Multiply by blocks of rows with product(x.T, x) below", "kind": "wrong numbers", "chapter": "91-sparse-zeros"},
{"name": "91-sparse-resources", "symptom": "CuPy: the product of two sparse matrices fails, although the result would fit: CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "ranges": [{"part": "cupy", "oldest": "13.2.0", "newest": "14.2.0", "everywhere": true}, {"part": "cupy", "oldest": "13.2.0", "newest": "14.2.0", "read": true}], "fix": "Multiply by blocks of rows with product(x.T, x) below", "kind": "wrong numbers", "chapter": "91-sparse-zeros"}
], "combinations": {
"nvrtc-and-driver": ["The driver rejects PTX, because NVRTC or the CUDA toolkit is newer than the driver: CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "For Numba, install numba-cuda for your CUDA (12 or 13). In cuda.core, call compile(\"cubin\"). Otherwise update the driver; with CUDA 11, move to CUDA 12", "08-newer"],
"nvvm-and-nvjitlink": ["nvJitLink rejects PTX or LTO-IR, because NVVM or NVRTC is newer than nvJitLink: NVJITLINK_ERROR_PTX_COMPILE", "With CUDA 12, run pip install -U nvidia-nvjitlink-cu12. With CUDA 13, run pip install -U \"nvidia-nvjitlink<14\". Never run both", "08-newer"],
"two-toolkits": ["CUDA 12 and CUDA 13 packages are in one environment, and libraries for CUDA 12 load CUDA 13's", "Make a new environment with packages of one CUDA version, because uninstalling the other version can delete shared files", "08-newer"],
"two-registered": ["CuPy warns about multiple CuPy packages, and the last one installed is imported: CuPy may not function correctly because multiple CuPy packages are installed in your environment", "Do not uninstall just one. Uninstall all, then run pip install cupy-cuda12x (or cupy-cuda13x)", "28-two-cupys"]
}}
"""  # noqa: E501
FACTS = json.loads(TABLE)
CASES = tuple(Case.from_table(**case) for case in FACTS["cases"])
COMBINATIONS: dict[str, tuple[str, str, str]] = FACTS["combinations"]


def nvrtc_and_driver(parts: Parts) -> Finding:
    """An NVRTC newer than the driver: within a major version its cubins load, its PTX does not."""
    fix = ""
    if "nvrtc" not in parts:
        status, why = NOT_AFFECTED, "no NVRTC from a package"
    elif DRIVER not in parts:
        status, why = CANNOT_TELL, f"{listing(parts['nvrtc'])}, and no driver to compare it with"
    else:
        ((_, cuda),) = parts[DRIVER]
        judged = (newer(version, cuda) for _, version in parts["nvrtc"])
        status = min(judged, key=WORST_FIRST.index)
        why = f"{listing(parts['nvrtc'])}, with {listing(parts[DRIVER])}"
        if status == AT_RISK:
            why += ": the driver loads its cubins, as CuPy asks for them, and refuses its PTX"
            fix = 'Ask cuda.core for "cubin", not for "ptx", and leave CUPY_COMPILE_WITH_PTX unset'
    return combined("nvrtc-and-driver", status, why, fix)


def newer(nvrtc: str, cuda: str) -> str:
    """Status of an NVRTC beside a driver that supports this CUDA."""
    ours, drivers = release(nvrtc), release(cuda)
    if ours is None or drivers is None:
        return CANNOT_TELL
    if ours[:2] <= drivers[:2]:
        return NOT_AFFECTED
    return AFFECTED if ours[0] > drivers[0] else AT_RISK


def nvvm_and_nvjitlink(parts: Parts) -> Finding:
    """A linker older than the compiler, or of a later major version.

    Of several, cuda-pathfinder takes the newest.
    """
    absent = [part for part in ("nvvm", "nvjitlink") if part not in parts]
    if absent:
        why = f"not installed: {' and '.join(absent)}"
        return combined("nvvm-and-nvjitlink", NOT_AFFECTED, why)
    why = f"{listing(parts['nvvm'])}, with {listing(parts['nvjitlink'])}"
    compilers, linkers = (
        [release(version) for _, version in parts[part]] for part in ("nvvm", "nvjitlink")
    )
    known = [one for one in compilers + linkers if one]
    compiler = max((one for one in compilers if one), default=(0,))
    linker = max((one for one in linkers if one), default=(0,))
    status = NOT_AFFECTED
    if len(known) < len(compilers + linkers):
        status = CANNOT_TELL
    elif len(known) > 2 and (order := another_order(parts)):
        status, why = CANNOT_TELL, why + order
    elif compiler[:2] > linker[:2]:
        status = AFFECTED if "numba-cuda" in parts else AT_RISK
    elif compiler[0] < linker[0]:
        status = AT_RISK
        why += ": that it links LTO-IR of an older major version is not promised"
    return combined("nvvm-and-nvjitlink", status, why)


# Releases before these look for CUDA 12's libraries by name.
ASK_PATHFINDER = Range("cupy", since="14.0.0"), Range("cuda-bindings", since="12.9.1")
THIRTEEN_FIRST = Range("cuda-pathfinder", since="1.2.0")


def two_toolkits(parts: Parts) -> Finding:
    """Packages of CUDA 12 beside those of CUDA 13, which cuda-pathfinder takes for all who ask."""
    both = [
        part
        for part in ("nvrtc", "nvvm", "nvjitlink")
        if len({version.split(".")[0] for _, version in parts.get(part, ())}) > 1
    ]
    for_12 = [
        one
        for asks in ASK_PATHFINDER
        for one in parts.get(asks.part, ())
        if ("cuda12" in one[0] or one[1].startswith("12.")) and asks.judge(*one)[0] != NOT_AFFECTED
    ]
    status = NOT_AFFECTED
    why = " and ".join(listing(parts[part]) for part in both) or "packages of one CUDA version"
    if both and for_12:
        if order := another_order(parts):
            status, why = CANNOT_TELL, why + order
        else:
            status, why = AT_RISK, f"{why}, with {listing(for_12)}, which then use those of CUDA 13"
    return combined("two-toolkits", status, why)


def another_order(parts: Parts) -> str:
    """What to say of a cuda-pathfinder that does not look into the folder of CUDA 13 first."""
    found = parts.get("cuda-pathfinder", ())
    old = [one for one in found if THIRTEEN_FIRST.judge(*one)[0] == NOT_AFFECTED]
    since = THIRTEEN_FIRST.since
    return f": {listing(old)} looks for them in another order than {since} and later" if old else ""


def combined(name: str, status: str, why: str, fix: str = "") -> Finding:
    """The Finding on packages that do not fit together; `fix` in place of the table's."""
    symptom, usual, chapter = COMBINATIONS[name]
    fix = (fix or usual) if status in (AFFECTED, AT_RISK) else ""
    return Finding(name, symptom, status, why, fix, "", BOOK.format(chapter))


def two_cupys(parts: Parts) -> Finding:
    """Several packages of CuPy, of which each wrote over the files of the one before."""
    found = parts.get("cupy", ())
    status = AFFECTED if len({label for label, _ in found}) > 1 else NOT_AFFECTED
    return combined("two-registered", status, listing(found) or "not installed: cupy")


def listing(found: Installed) -> str:
    """Labels and versions of one part, in words."""
    return " and ".join(" ".join(one) for one in found)


def release(version: str) -> tuple[int, ...] | None:
    """The numbers of a version, comparable: '0.59.0rc1' gives (0, 59, 0, 0). None for others."""
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})+)(?:\.?[^0-9.].*)?", version)
    return tuple(int(n) for n in (found[1] + ".0.0").split("."))[:4] if found else None


def numbers(version: str) -> tuple[int, ...]:
    """Parsed version from the table; always valid."""
    return release(version) or ()


# --- what is here

ASK_PYTHON = """import sys
if sys.path and not sys.path[0]:
    del sys.path[0]
import json, platform
print(json.dumps([platform.python_version(), [p for p in sys.path if p]]))"""

ASK_DRIVER = r"""
import ctypes, json
found = {"driver": None, "cuda": None, "gpus": [], "problem": None}
def text(call, *arguments):
    buffer = ctypes.create_string_buffer(96)
    return buffer.value.decode() if call(buffer, 96, *arguments) == 0 else None
def number(call, *arguments):
    value = ctypes.c_int()
    return value.value if call(ctypes.byref(value), *arguments) == 0 else None
try:
    cuda = ctypes.CDLL("libcuda.so.1")
    version = number(cuda.cuDriverGetVersion)
    found["cuda"] = version and f"{version // 1000}.{version % 1000 // 10}"
    code = cuda.cuInit(0)
    if code:
        found["problem"] = f"cuInit returned {code}"
    for index in range(0 if code else number(cuda.cuDeviceGetCount)):
        device = number(cuda.cuDeviceGet, index)
        major, minor = (number(cuda.cuDeviceGetAttribute, which, device) for which in (75, 76))
        name = text(cuda.cuDeviceGetName, device)
        found["gpus"].append({"name": name, "compute_capability": f"{major}.{minor}"})
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    nvml.nvmlInit_v2()
    found["driver"] = text(nvml.nvmlSystemGetDriverVersion)
except OSError as error:
    found["problem"] = str(error)
print(json.dumps(found))
"""


class NoSuchPython(Exception):
    """What was named is no interpreter."""


class NoAnswer(Exception):
    """The interpreter that was named cannot be asked."""


@dataclass
class Machine:
    """What was found: the environment of one Python, and the computer that it is on."""

    python: str
    version: str
    packages: dict[str, str]
    driver: str | None = None
    cuda: str | None = None
    gpus: list[dict[str, str]] = field(default_factory=list)
    problem: str | None = None
    remarks: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # what could not be looked at

    def parts(self) -> Parts:
        """Labels and versions of each part that is here: {"cupy": [("cupy-cuda12x", "14.2.0")]}."""
        parts: Parts = {}
        for part, pattern in WATCHED.items():
            found = [
                (name, version)
                for name, text in self.packages.items()
                if re.fullmatch(pattern, name)
                for version in text.split(", ")
                if (name, version) not in WITHOUT_CODE
            ]
            if found:
                parts[part] = found
        if "numba" in parts and "numba-cuda" not in parts:
            parts[BUILT_IN] = [(BUILT_IN, version) for _, version in parts["numba"]]
        if self.cuda:
            parts[DRIVER] = [(DRIVER, self.cuda)]
        return parts


def look(python: str) -> Machine:
    """The Machine as one Python has it."""
    python = interpreter(python)
    version, folders = ask_python(python)
    packages, remarks, unread = installed(folders)
    driver = ask_driver()
    if driver is None:
        driver = {"problem": "asking it failed"}
        unread.append("the NVIDIA driver: asking it failed")
    return Machine(python, version, packages, **driver, remarks=remarks, unread=unread)


def interpreter(path: str) -> str:
    """The interpreter of a virtual environment, or the one that is named."""
    if os.path.isdir(path):
        places = [
            os.path.join(path, place)
            for place in ("bin/python", "Scripts/python.exe", "python.exe")
        ]
        for place in places:
            if os.path.exists(place):
                return place
            if os.path.islink(place):
                raise NoAnswer(
                    f"{path} is an environment whose Python is gone: {os.path.realpath(place)}"
                )
        raise NoSuchPython(f"{path} is a folder without bin/python, so it is no environment")
    found = shutil.which(path)
    if not found:
        raise NoSuchPython(f"{path} is neither an environment nor an interpreter")
    return found


def ask_python(python: str) -> tuple[str, list[str]]:
    """Version of an interpreter, and the folders that it imports from. Raises NoAnswer."""
    try:
        answer = ask([python, "-c", ASK_PYTHON]) or ""
        version, folders = json.loads(answer.splitlines()[-1])
        return str(version), [str(folder) for folder in folders]
    except (AttributeError, IndexError, TypeError, ValueError):
        raise NoAnswer(f"{python} does not answer as a Python does") from None


def ask_driver() -> dict | None:
    """What the NVIDIA driver says about itself and its GPUs; None where asking failed."""
    answer = ask([sys.executable, "-IS", "-c", ASK_DRIVER])
    return json.loads(answer) if answer else None


def ask(command: list[str]) -> str | None:
    """What a command prints; None where it fails, or takes longer than a minute."""
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout if answer.returncode == 0 else None


# --- the packages

# The names of folders, and of files that old installers wrote.
METADATA = re.compile(
    r"(?i)(?:(?P<name>.+?)(?:-(?P<version>[^-]+)(?:-py.*)?)?\.)?(?:dist|egg)-info"
)
# A field whose line is there to its end.
FIELD = re.compile(r"(?im)^(name|version):[ \t]*([\w.!+-]+)[ \t]*\r?\n")
UNKNOWN = "unknown"


def installed(folders: list[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """The watched packages, {name: version}; remarks about them; and what could not be read.

    The first folder on the path that has a package counts, as it does for imports. Several releases
    in one folder are all named.
    """
    packages: dict[str, str] = {}
    remarks: list[str] = []
    unread: list[str] = []
    for folder in dict.fromkeys(folders):
        for name, versions in metadata(folder, remarks, unread).items():
            packages.setdefault(name, ", ".join(sorted(versions)))
    for folder in dict.fromkeys(folders):
        for name, version in conda(folder, unread):
            pattern = next(pattern for pattern in WATCHED.values() if re.fullmatch(pattern, name))
            if not any(re.fullmatch(pattern, other) for other in packages):
                packages[name] = version
    return dict(sorted(packages.items())), remarks, unread


def metadata(folder: str, remarks: list[str], unread: list[str]) -> dict[str, set[str]]:
    """The watched packages of one folder, {name: versions}, from the metadata beside them."""
    found: dict[str, set[str]] = {}
    for entry in filter(METADATA.fullmatch, entries(folder, unread)):
        name, version, damaged = described(folder, entry)
        if not watched(name):
            continue
        if entry.startswith("~"):
            remarks.append(
                f"{entry} was left behind by a pip that was interrupted, and does not count"
            )
            continue
        if version == UNKNOWN:
            unread.append(f"the version of {name}: {os.path.join(folder, entry)} does not tell it")
        elif damaged:
            remarks.append(f"the metadata of {name} are damaged: the name of {entry} counts")
        found.setdefault(name, set()).add(version)
    for name, versions in found.items():
        if len(versions) > 1:
            several = " and ".join(sorted(versions))
            unread.append(
                f"which release of {name} is imported: {folder} has metadata of {several}"
            )
    return found


def entries(folder: str, unread: list[str]) -> list[str]:
    """What lies in a folder; one that is there and cannot be read is added to `unread`."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        unread.append(f"{folder}: {error}")
        return []


def described(folder: str, entry: str) -> tuple[str, str, bool]:
    """Name and version of a package as its metadata say.

    Falls back to the directory's name; the flag says so.
    """
    fields: dict[str, str] = {}
    match = METADATA.fullmatch(entry)
    assert match
    for file in ("METADATA", "PKG-INFO", ""):
        path = os.path.join(folder, entry, file).rstrip(os.sep)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # to open a pipe would take forever
                continue
            with open(path, "rb") as opened:
                head = re.split(rb"(?<=\n)\r?\n", opened.read(100_000), maxsplit=1)[0]
        except (OSError, ValueError):
            continue
        text = head.decode("utf-8-sig", "replace")
        fields = {key.lower(): value for key, value in reversed(FIELD.findall(text))}
        break
    name, version = (fields.get(key) or match[key] for key in ("name", "version"))
    return re.sub(r"[-_.]+", "-", name or "").lower(), version or UNKNOWN, len(fields) < 2


def watched(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in WATCHED.values())


def conda(folder: str, unread: list[str]) -> Iterator[tuple[str, str]]:
    """Names and versions of the watched packages in conda's records, where alone its NVRTC is."""
    if os.path.basename(folder) not in ("site-packages", "dist-packages"):
        return
    for up in ("../../..", "../.."):  # Linux, Windows
        for record in entries(os.path.normpath(os.path.join(folder, up, "conda-meta")), unread):
            parts = record.rsplit("-", 2)
            if len(parts) == 3 and record.endswith(".json") and watched(parts[0]):
                yield parts[0], parts[1]


# --- what is printed


def examine(
    python: str, as_json: bool = False, everything: bool = False, strict: bool = False
) -> int:
    """Print what was found; returns the exit status.

    With `strict`, what depends on the program counts as affected.
    """
    try:
        machine = look(python)
        findings = diagnose(machine)
        affected = any(f.status == AFFECTED for f in findings)
        if as_json:
            found = [asdict(finding) for finding in findings]
            table = {**asdict(machine), "affected": affected, "findings": found}
            say(json.dumps(table, indent=2))
        else:
            say(report(machine, findings, everything))
    except NoSuchPython as error:
        print(f"doctor: {error}", file=sys.stderr)
        return 2
    except NoAnswer as error:
        print(f"doctor: {error}", file=sys.stderr)
        return 3
    except Exception:
        traceback.print_exc()
        print(
            "doctor: this is a fault of the doctor, and says nothing about the environment. "
            f"Please report it: {ISSUES}",
            file=sys.stderr,
        )
        return 3
    counted = FOUND if strict else (AFFECTED,)
    if any(finding.status in counted for finding in findings):
        return 1
    return 3 if machine.unread else 0


def say(text: str) -> None:
    """Print a text in any terminal's encoding; a reader such as `head` may close the pipe.

    A file name may hold codes that move the cursor: they are shown, not obeyed.
    """
    text = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def diagnose(machine: Machine) -> list[Finding]:
    """One Finding for each combination that is known to fail, which is mended first, and fault."""
    parts = machine.parts()
    return [
        two_cupys(parts),
        two_toolkits(parts),
        nvrtc_and_driver(parts),
        nvvm_and_nvjitlink(parts),
        *(case.examine(parts) for case in CASES),
    ]


def report(machine: Machine, findings: list[Finding], everything: bool) -> str:
    """The findings as text for a terminal: what to do first, then each fault with its fix."""
    ordered = sorted(findings, key=lambda finding: finding.weight)
    count = {status: sum(f.status == status for f in findings) for status in WORST_FIRST}
    doubt = ", as far as could be seen" if machine.unread else ""
    depends = count[AT_RISK] + count[READ]
    affect = f"known issues affect{'s' * (count[AFFECTED] < 2)} this environment"
    if depends:
        affect += " whatever your code does"
    sentence = f"{count[AFFECTED] or 'None'} of {len(findings)} {affect}{doubt}."
    lines = []
    if count[AFFECTED]:
        lines.append(paragraph("Do first", ordered[0].fix))
    elif not depends:
        nothing = "look at what could not be inspected" if doubt else "nothing"
        lines.append(paragraph("Do first", nothing))
    if depends:
        lines.append(paragraph("Depends", depending(depends, everything)))
    lines += [paragraph("Not inspected", thing) for thing in machine.unread]
    visible = [f for f in ordered if f.status == AFFECTED or (everything and (f.fix or f.remains))]
    if everything:
        visible += [f for f in ordered if f.status == CANNOT_TELL]
        lines += facts(machine)
    for finding in visible:
        lines += ["", paragraph(finding.status, finding.symptom)]
        details = (finding.why, finding.remains) if everything else ()
        lines += [paragraph("", text) for text in details if text]
        if finding.fix:
            lines += [paragraph("", f"Fix: {finding.fix}"), f"{'':14}Read: {finding.chapter}"]
    if everything:
        rest = [f.name for f in ordered if f not in visible]
        return "\n".join([*lines, "", paragraph(NOT_AFFECTED, ", ".join(rest)), "", sentence])
    hidden = [f"{depends} that depend on your code"] * bool(depends)
    hidden += [f"{count[CANNOT_TELL]} that it cannot judge"] * bool(count[CANNOT_TELL])
    also = paragraph("--all", f"also shows {', '.join([*hidden, 'and what was found'])}")
    return "\n".join([*lines, "", sentence, also])


def depending(number: int, everything: bool) -> str:
    """What is to be said of faults that show in some programs only."""
    exist = f"{number} known faults exist" if number > 1 else "1 known fault exists"
    where = "listed below" if everything else "--all lists them"
    whether = f"whether {'they affect' if number > 1 else 'it affects'} you depends on your code"
    return f"{exist} in these releases; {whether}: {where}, worst first"


def facts(machine: Machine) -> list[str]:
    """What was found, a line each."""
    gpus = (f"{g['name']} (compute capability {g['compute_capability']})" for g in machine.gpus)
    driver = f"{machine.driver or 'version unknown'}, supports CUDA {machine.cuda}"
    found = {
        "Python": f"{machine.version}, {machine.python}",
        "GPU": ", ".join(gpus) or "none",
        "Driver": (driver if machine.cuda else "none")
        + (f" ({machine.problem})" if machine.problem else ""),
        "Packages": listed(machine.packages) or "none of those that the book is about",
        "Not installed": ", ".join(part for part in WATCHED if part not in machine.parts()),
    }
    lines = [paragraph(name, text or "nothing") for name, text in found.items()]
    return ["", *lines, *(paragraph("Remark", remark) for remark in machine.remarks)]


def listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def paragraph(margin: str, text: str) -> str:
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    return textwrap.fill(
        text,
        width,
        initial_indent=f"{margin:14}",
        subsequent_indent=" " * 14,
        break_long_words=False,
        break_on_hyphens=False,
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the doctor's options to a command line."""
    parser.add_argument(
        "--python",
        default=sys.executable,
        metavar="PATH",
        help="folder of an environment, or an interpreter; default: the Python that runs this",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        dest="everything",
        help="also show what depends on your code, and what was found",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 for what depends on your code, too"
    )
    parser.add_argument(
        "--json", action="store_true", dest="as_json", help="print everything as JSON"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="doctor.py", description=DESCRIPTION)
    add_options(parser)
    return examine(**vars(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())

"""What is installed here, and which cases of the book bite. One file, standard library only, Python 3.9 or later.

    python doctor.py                     looks at the Python that runs it
    python doctor.py --python .venv      looks at another environment, or at any interpreter

It imports no package that it looks at: versions come from the metadata beside the packages, and the driver is asked by a process
of its own. Exit status: 0 when nothing bites, 1 when something does, 2 for a wrong argument, and 3 when nothing bites as far as can
be seen, but something could not be looked at, or the doctor itself failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import traceback
from dataclasses import asdict, dataclass, field

DESCRIPTION = "Find known issues of GPU libraries in an environment."
ISSUES = "https://github.com/gpu-python-casebook/gpu-python-casebook/issues"
BOOK = "https://github.com/gpu-python-casebook/gpu-python-casebook/blob/main/notebooks/{}.ipynb"

AFFECTED, NOT_AFFECTED, CANNOT_TELL = "affected", "not affected", "cannot tell"
LOOK_OUT = "look out"  # no release is known to be without it; whether it bites is up to the program
WORST_FIRST = AFFECTED, LOOK_OUT, CANNOT_TELL, NOT_AFFECTED

WATCHED = {  # the parts that are looked for, and the names that their packages have
    "numba": "numba",
    "numba-cuda": "numba-cuda",
    "numba-cuda-mlir": "numba-cuda-mlir",
    "cupy": r"cupy(-(core|cuda|rocm)[\w-]*)?|amd-cupy",
    "cuda-core": "cuda-core",
    "cuda-bindings": "cuda-bindings",
    "cuda-pathfinder": "cuda-pathfinder",
    "nanobind": "nanobind",
    "numpy": "numpy",
    "nvrtc": r"nvidia-cuda-nvrtc(-cu\d+)?|cuda-nvrtc",
    "nvvm": "nvidia-cuda-nvcc-cu12|nvidia-nvvm|cuda-nvvm-impl",
    "nvjitlink": r"nvidia-nvjitlink(-cu\d+)?|libnvjitlink",
}
WITHOUT_CODE = (
    ("numba-cuda", "0.0.0"),
    ("numba-cuda", "0.0.1"),
)  # beside them the target built into numba runs
BUILT_IN, DRIVER = "the CUDA target built into numba", "a driver for CUDA"


# --- what the book knows


@dataclass(frozen=True)
class Range:
    """The releases of one part (a package, a target, a driver) that have a fault."""

    part: str
    since: str = "0.0"  # first release with the fault
    fixed: str | None = None  # first release without it ...
    last: str | None = None  # ... and the last one with it
    oldest: str = "0.0"  # in no older release did the book see it ...
    newest: str | None = None  # ... and, where nothing is fixed, at no newer one
    everywhere: bool = (
        False  # no release is known to be without it, so none here is worse than another
    )

    def judge_all(self, found):
        """Status of what is installed under one name or several: of those that disagree nobody knows which is imported."""
        judged = [self.judge(*one) for one in found]
        agree = len({status for status, _ in judged}) == 1
        return judged[0][0] if agree else CANNOT_TELL, " and ".join(why for _, why in judged)

    def judge(self, label, version):
        """Status of one release, and why."""
        what, number = f"{label} {version}", release(version)
        if number is None:
            return CANNOT_TELL, f"{what} is not one numbered release"
        if self.fixed and number >= release(self.fixed):
            return NOT_AFFECTED, f"{what}: fixed in {self.fixed}"
        if number < release(self.since):
            return NOT_AFFECTED, f"{what}: the fault begins with {self.since}"
        if number < release(self.oldest):
            return (
                CANNOT_TELL,
                f"{what} is older than {self.oldest}, the oldest in which the book saw the fault",
            )
        if self.newest and number > release(self.newest):
            return (
                CANNOT_TELL,
                f"{what} is newer than {self.newest}, the newest that the book looked at",
            )
        return LOOK_OUT if self.everywhere else AFFECTED, what


@dataclass(frozen=True)
class Case:
    """One fault: where it is, what it is, and the cure. The worst range whose part is installed decides."""

    name: str
    symptom: str
    ranges: tuple[Range, ...]
    cure: str
    chapter: str
    beside: Range | None = None  # the fault shows only beside these releases of another part
    remains: str = ""  # what the fixed releases still do
    absent: str = ""  # what is to be said where nothing is installed

    def examine(self, parts):
        """The Finding in an environment; `parts` as Machine.parts gives them."""
        found = [r.judge_all(parts[r.part]) for r in self.ranges if r.part in parts]
        if not found:
            return self.finding(NOT_AFFECTED, self.missing(parts))
        status, why = min(found, key=lambda judged: WORST_FIRST.index(judged[0]))
        if status != NOT_AFFECTED and self.beside:
            if self.beside.part not in parts:
                status, why = (
                    CANNOT_TELL,
                    f"{why}: the fault needs {self.beside.part} {self.beside.since} or later, and there is none here",
                )
            else:
                other, other_why = self.beside.judge_all(parts[self.beside.part])
                status = status if other == AFFECTED else other
                why = f"{why}, with {other_why}"
        return self.finding(status, why, self.remains if status == NOT_AFFECTED else "")

    def missing(self, parts):
        if self.ranges[-1].part == BUILT_IN and "numba-cuda" in parts:
            return (
                f"{named(parts['numba-cuda'])} takes the place of the CUDA target built into numba"
            )
        return f"not installed: {', '.join('numba' if r.part == BUILT_IN else r.part for r in self.ranges)}{self.absent}"

    def finding(self, status, why, remains=""):
        cure = self.cure if status in (AFFECTED, LOOK_OUT) else ""
        return Finding(
            self.name, self.symptom, status, why, cure, remains, BOOK.format(self.chapter)
        )


@dataclass(frozen=True)
class Finding:
    """What the doctor says about one case."""

    name: str
    symptom: str
    status: str
    why: str
    cure: str
    remains: str
    chapter: str


CASES = (
    Case(
        "01-default-arguments",
        "A device function called without its default argument: Signature mismatch",
        (Range("numba-cuda", fixed="0.8.0", last="0.7.0"), Range(BUILT_IN, newest="0.68.1")),
        "Install numba-cuda 0.8.1 or later, which takes the place of Numba's built-in target; until then pass every argument by position.",
        "01-default-arguments",
    ),
    Case(
        "02-grid-sync-cache",
        "A kernel with grid.sync() and cache=True: LoweringError",
        (Range(BUILT_IN, since="0.59.0", fixed="0.59.1", last="0.59.0"),),
        "Install Numba 0.59.1 or later, or compile a kernel eagerly before all others: cuda.jit('void()')(lambda: None).",
        "02-grid-sync-cache",
    ),
    Case(
        "02-lost-flag",
        "A kernel with grid.sync() that comes out of the cache no longer waits: wrong numbers, without an error",
        (Range("numba-cuda-mlir", oldest="0.4.2", newest="0.6.0", everywhere=True),),
        "Do not cache a kernel with a grid sync.",
        "02-grid-sync-cache",
    ),
    Case(
        "03-jit-options",
        "ObjectCode(jit_options=...) has no effect",
        (Range("cuda-core", fixed="0.2.0", last="0.1.1", oldest="0.1.1"),),
        "Install cuda-core 0.2.0 or later, and give the options to Program or Linker.",
        "03-jit-options",
        remains="Some ProgramOptions are still dropped without a word when the input is PTX (seen up to 1.2.2).",
    ),
    Case(
        "04-fused-scalars",
        "A Python scalar in cupy.fuse: an error, or a slow kernel",
        (Range("cupy", since="13.2.0", fixed="13.4.1", last="13.4.0"),),
        "Install CuPy 13.4.1 or later.",
        "04-fused-scalars",
        beside=Range("numpy", since="2.0"),
        remains="Some expressions still take the slow path in silence; the chapter has a function that checks.",
    ),
    Case(
        "05-device-arrays",
        "A GPU array from nanobind says that it is a CPU array: SIGSEGV",
        (Range("nanobind", oldest="1.0.0", fixed="2.2.0", last="2.1.0"),),
        "Build with nanobind 2.2.0 or later, or pass the device to the constructor: nb::device::cuda::value.",
        "05-device-arrays",
        remains="A compiled module keeps the release it was built with; and a type that names no device means CPU (seen up to 3.1.0).",
        absent="; a module that was compiled elsewhere keeps the release it was built with",
    ),
    Case(
        "06-one-import",
        "numba-cuda-mlir in numba-cuda's place: wrong % and // of negative numbers, int(True), bytes as floats, a[-1]",
        (Range("numba-cuda-mlir", fixed="0.5.3", last="0.5.2", oldest="0.3.0"),),
        "Install numba-cuda-mlir 0.6.0 or later, and test the kernels against numba-cuda or NumPy.",
        "06-one-import",
    ),
    Case(
        "07-freed-in-flight",
        "A buffer of cuda.core that was dropped is still written, and somebody else has its memory: wrong numbers",
        (Range("cuda-core", fixed="0.4.0", last="0.3.2", oldest="0.1.1"),),
        "Install cuda-core 0.4.0 or later; until then free on the stream that used the buffer: buffer.close(stream).",
        "07-freed-in-flight",
        remains="A second stream must still be declared (seen up to 1.2.2), and so must the stream of Buffer.from_handle.",
    ),
    Case(
        "07-second-stream",
        "An array that a second stream uses was dropped, and its memory is used again: wrong numbers",
        (Range("cupy", oldest="14.2.0", newest="14.2.0", everywhere=True),),
        "Before the last name goes: home.wait_event(guest.record()), or keep the array until guest is done.",
        "07-freed-in-flight",
    ),
    Case(
        "19-driver-580",
        "Old Numba on a driver from 580: CUDA_ERROR_CONTEXT_IS_DESTROYED, or a crash",
        (
            Range("numba-cuda", fixed="0.8.1", last="0.8.0"),
            Range(BUILT_IN, oldest="0.53.0", fixed="0.63.0", last="0.62.1"),
        ),
        "Install numba-cuda 0.8.1 or later, or Numba 0.63.1 or later.",
        "19-driver-580",
        beside=Range(DRIVER, since="13.0"),
    ),
    Case(
        "18-numpy-2.5",
        "numba-cuda with NumPy 2.5: module 'numpy' has no attribute 'row_stack'",
        (Range("numba-cuda", since="0.21.1", newest="0.30.4"),),
        "Install NumPy older than 2.5.",
        "18-numpy-2.5",
        beside=Range("numpy", since="2.5"),
    ),
    Case(
        "09-second-gpu",
        "The first `with cuda.gpus[1]:` leaves that GPU current: later arrays of CuPy lie there",
        (Range("numba-cuda", since="0.21.0", fixed="0.30.1", last="0.30.0"),),
        "Install numba-cuda 0.30.1 or later.",
        "09-second-gpu",
        remains="The first visit to a GPU, while another one is current, loses that other one (seen up to 0.30.4).",
    ),
    Case(
        "09-device-methods",
        "Device(1).create_stream() makes a stream on whatever GPU is current, and says that it is on GPU 1",
        (Range("cuda-core", oldest="1.2.2", newest="1.2.2", everywhere=True),),
        "Call set_current() of the same Device right before.",
        "09-second-gpu",
    ),
    Case(
        "10-unchecked-signature",
        "A kernel with one signature takes arrays of any type: wrong numbers, without an error",
        (
            Range("numba-cuda", newest="0.30.4", everywhere=True),
            Range(BUILT_IN, oldest="0.57.0", newest="0.68.1", everywhere=True),
        ),
        "Put the signature into a list, cuda.jit([signature]), or leave it out.",
        "10-unchecked-signature",
    ),
    Case(
        "11-byte-offset",
        "A view that came through DLPack begins too early: wrong numbers, without an error",
        (Range("cuda-core", oldest="0.1.1", fixed="1.2.0", last="1.1.1"),),
        "Install cuda-core 1.2.0 or later.",
        "11-byte-offset",
    ),
    Case(
        "12-sort-out-of-memory",
        "cupy.sort on a full GPU: the array comes back unsorted, or the process is killed",
        (Range("cupy", oldest="13.0.0", fixed="14.1.0", last="14.0.1"),),
        "Install CuPy 14.1.0 or later.",
        "12-sort-out-of-memory",
    ),
    Case(
        "13-stale-helper",
        "An edited helper or header has no effect: the kernel comes out of a cache",
        (
            Range("numba-cuda", newest="0.30.4", everywhere=True),
            Range("numba-cuda-mlir", oldest="0.6.0", newest="0.6.0", everywhere=True),
            Range("cupy", oldest="14.2.0", newest="14.2.0", everywhere=True),
            Range(BUILT_IN, oldest="0.57.0", newest="0.68.1", everywhere=True),
        ),
        "Give the kernel its helper by a closure (Numba), or the header's checksum as an option (CuPy).",
        "13-stale-helper",
    ),
    Case(
        "14-two-billion",
        "A kernel over more than two billion elements: some of them no thread reaches",
        (
            Range("numba-cuda-mlir", oldest="0.4.0", newest="0.6.0", everywhere=True),
            Range(BUILT_IN, oldest="0.57.0", fixed="0.59.0", last="0.58.1"),
        ),
        "Compute the thread's number in 64 bits.",
        "14-two-billion",
    ),
    Case(
        "14-cumsum",
        "cupy.cumsum of more than four billion elements sums nothing",
        (Range("cupy", oldest="13.0.0", fixed="14.1.0", last="14.0.1"),),
        "Install CuPy 14.1.0 or later.",
        "14-two-billion",
        remains="A sum along an axis was reported wrong in later releases, too (cupy #10268).",
    ),
    Case(
        "15-filter-in-place",
        "A filter of cupyx.scipy.ndimage that writes into its input gives the image back",
        (Range("cupy", oldest="13.0.0", fixed="14.2.0", last="14.1.1"),),
        "Install CuPy 14.2.0 or later, or write into another array.",
        "15-filter-in-place",
    ),
    Case(
        "16-sums-that-vary",
        "The same sum of the same numbers, and other last digits in every run",
        (Range("cupy", oldest="14.2.0", newest="14.2.0", everywhere=True),),
        "Set CUPY_ACCELERATORS to nothing for cumsum, or sum integers in fixed point.",
        "16-sums-that-vary",
    ),
    Case(
        "20-barrier-hang",
        "A kernel with a barrier in the condition of a loop never ends, on Python 3.10 to 3.13",
        (
            Range("numba-cuda", newest="0.30.4", everywhere=True),
            Range("numba-cuda-mlir", oldest="0.6.0", newest="0.6.0", everywhere=True),
            Range(BUILT_IN, oldest="0.57.0", newest="0.68.1", everywhere=True),
        ),
        "Call the barrier in the body of the loop: while True, barrier, break.",
        "20-barrier-hang",
    ),
    Case(
        "21-one-literal",
        "A float32 kernel with one decimal literal computes in float64: slow",
        (
            Range("numba-cuda", newest="0.30.4", everywhere=True),
            Range("numba-cuda-mlir", oldest="0.4.2", newest="0.6.0", everywhere=True),
            Range(BUILT_IN, oldest="0.57.0", newest="0.68.1", everywhere=True),
        ),
        "Write the constant as numpy.float32(...).",
        "21-one-literal",
    ),
    Case(
        "22-fuse-and-memory",
        "A fused or elementwise kernel runs at a fraction of the memory's rate: slow",
        (Range("cupy", oldest="13.0.0", newest="14.2.0", everywhere=True),),
        "Launch it with larger blocks where the GPU's memory is fast; measure first.",
        "22-fuse-and-memory",
    ),
    Case(
        "23-reversed-table",
        "A table outside of the kernel that is reversed or has gaps: the kernel reads past its end",
        (
            Range("numba-cuda", fixed="0.21.1", last="0.20.1"),
            Range(BUILT_IN, oldest="0.57.0", newest="0.68.1"),
        ),
        "Install numba-cuda 0.21.1 or later, or give the kernel numpy.ascontiguousarray(table).",
        "23-reversed-table",
    ),
    Case(
        "24-impossible-draw",
        "cupy.random draws more from an urn than there is: the kernel never ends",
        (Range("cupy", oldest="14.0.1", fixed="14.1.0", last="14.0.1"),),
        "Check that nsample is at most ngood + nbad before the call; CuPy 14.1.0 or later ends, with a number.",
        "24-impossible-draw",
        remains="Impossible parameters give numbers without an error (seen in 14.2.0).",
    ),
)

BESIDE = (  # told in a chapter about another case
    Case(
        "numba-0.66",
        "numba-cuda with a newer Numba: cannot import name 'removerefctpass' from 'numba.core', or "
        "module 'numba.cuda.types' has no attribute 'NPDatetime'",
        (Range("numba-cuda", since="0.18.0", fixed="0.30.4", last="0.30.3"),),
        "Install numba-cuda 0.30.4 or later, or Numba older than 0.66.",
        "18-numpy-2.5",
        beside=Range("numba", since="0.66.0"),
    ),
    Case(
        "06-still",
        "A kernel in numba-cuda-mlir: x != x misses NaN, max of unsigned numbers is signed, math.sqrt(integer) is float32",
        (Range("numba-cuda-mlir", newest="0.6.0", everywhere=True),),
        "Use math.isnan(x), compare unsigned numbers with <, and write math.sqrt(float(n)).",
        "06-one-import",
    ),
)


def nvrtc_and_driver(parts):
    """The Finding on a runtime compiler that is newer than the driver: within a major version its cubins load, its PTX does not."""
    cure = "Install the NVRTC of the driver's CUDA version, or a newer driver."
    if "nvrtc" not in parts:
        status, why = NOT_AFFECTED, "no NVRTC from a package"
    elif DRIVER not in parts:
        status, why = CANNOT_TELL, f"{named(parts['nvrtc'])}, and no driver to compare it with"
    else:
        ((_, cuda),) = parts[DRIVER]
        status = min((newer(version, cuda) for _, version in parts["nvrtc"]), key=WORST_FIRST.index)
        why = f"{named(parts['nvrtc'])}, with {named(parts[DRIVER])}"
        if status == LOOK_OUT:
            why += ": the driver loads cubins of this NVRTC, as CuPy asks for them, and refuses its PTX"
            cure = (
                'Ask cuda.core for "cubin", not for "ptx", and leave CUPY_COMPILE_WITH_PTX unset.'
            )
    return about_the_chain(
        "nvrtc-and-driver",
        "NVRTC newer than the driver: CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        status,
        why,
        cure,
    )


def newer(nvrtc, cuda):
    """Status of an NVRTC beside a driver that supports this CUDA."""
    ours, drivers = release(nvrtc), release(cuda)
    if ours is None or drivers is None:
        return CANNOT_TELL
    if ours[:2] <= drivers[:2]:
        return NOT_AFFECTED
    return AFFECTED if ours[0] > drivers[0] else LOOK_OUT


def nvvm_and_nvjitlink(parts):
    """The Finding on a linker older than the compiler, or of a later major version. Of several, cuda-pathfinder takes the newest."""
    if "nvvm" not in parts or "nvjitlink" not in parts:
        status, why = (
            NOT_AFFECTED,
            f"not installed: {' and '.join(part for part in ('nvvm', 'nvjitlink') if part not in parts)}",
        )
    else:
        why = f"{named(parts['nvvm'])}, with {named(parts['nvjitlink'])}"
        compilers, linkers = (
            [release(version) for _, version in parts[part]] for part in ("nvvm", "nvjitlink")
        )
        if None in compilers + linkers:
            status = CANNOT_TELL
        elif len(compilers + linkers) > 2 and (order := another_order(parts)):
            status, why = CANNOT_TELL, why + order
        elif max(compilers)[:2] > max(linkers)[:2]:
            status = AFFECTED if "numba-cuda" in parts else LOOK_OUT
        elif max(compilers)[0] < max(linkers)[0]:
            status, why = (
                LOOK_OUT,
                why + ": that it links LTO-IR of an older major version is not promised",
            )
        else:
            status = NOT_AFFECTED
    return about_the_chain(
        "nvvm-and-nvjitlink",
        "NVVM newer than nvJitLink: ERROR_OUTDATED_LIBRARY (14), ERROR_INTERNAL (6), or "
        "may need newer version of nvJitLink library",
        status,
        why,
        "Install an nvJitLink of NVVM's major version, as new as NVVM or newer.",
    )


ASK_PATHFINDER = (
    Range("cupy", since="14.0.0"),
    Range("cuda-bindings", since="12.9.1"),
)  # releases before look for CUDA 12's by name
THIRTEEN_FIRST = Range("cuda-pathfinder", since="1.2.0")


def two_toolkits(parts):
    """The Finding on packages of CUDA 12 beside those of CUDA 13, which cuda-pathfinder takes for whoever asks it."""
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
    status, why = (
        NOT_AFFECTED,
        " and ".join(named(parts[part]) for part in both) or "packages of one CUDA version",
    )
    if both and for_12:
        order = another_order(parts)
        status, why = (
            (CANNOT_TELL, why + order)
            if order
            else (LOOK_OUT, f"{why}, with {named(for_12)}, which then use those of CUDA 13")
        )
    return about_the_chain(
        "two-toolkits",
        "Packages of CUDA 12 and 13 in one environment: libraries made for 12 load those of 13",
        status,
        why,
        "Uninstall the packages of the CUDA version that the libraries are not made for.",
    )


def another_order(parts):
    """What to say of a cuda-pathfinder that does not look into the folder of CUDA 13 first; nothing where it does."""
    old = [
        one
        for one in parts.get("cuda-pathfinder", ())
        if THIRTEEN_FIRST.judge(*one)[0] == NOT_AFFECTED
    ]
    return (
        f": {named(old)} looks for them in another order than {THIRTEEN_FIRST.since} and later"
        if old
        else ""
    )


def about_the_chain(name, symptom, status, why, cure):
    return Finding(
        name,
        symptom,
        status,
        why,
        cure if status in (AFFECTED, LOOK_OUT) else "",
        "",
        BOOK.format("08-newer"),
    )


def two_cupys(parts):
    """The Finding on several packages of CuPy, of which each wrote over the files of the one before."""
    found = parts.get("cupy", ())
    status = AFFECTED if len({label for label, _ in found}) > 1 else NOT_AFFECTED
    cure = (
        "Uninstall them all, then install the one for your CUDA version."
        if status == AFFECTED
        else ""
    )
    return Finding(
        "two-cupys",
        "Several packages of CuPy in one environment: CuPy may not function correctly",
        status,
        named(found) or "not installed: cupy",
        cure,
        "",
        "https://docs.cupy.dev/en/stable/install.html",
    )


def named(found):
    """Labels and versions of one part, in words."""
    return " and ".join(" ".join(one) for one in found)


def release(version):
    """The numbers of a version, comparable: '0.59.0rc1' gives (0, 59, 0, 0). None for what is no numbered release."""
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})+)(?:\.?[^0-9.].*)?", version)
    return tuple(int(n) for n in (found[1] + ".0.0").split("."))[:4] if found else None


# --- what is here

ASK_PYTHON = "import json, platform, sys; print(json.dumps([platform.python_version(), [p for p in sys.path if p]]))"

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
        capability = ".".join(str(number(cuda.cuDeviceGetAttribute, which, device)) for which in (75, 76))
        found["gpus"].append({"name": text(cuda.cuDeviceGetName, device), "compute_capability": capability})
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
    gpus: list[dict] = field(default_factory=list)
    problem: str | None = None
    compilers: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # what could not be looked at

    def parts(self):
        """For each part of the table that is here, labels and versions: [("cupy-cuda12x", "14.2.0")], several where several are."""
        parts = {}
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


def look(python):
    """The Machine as one Python has it."""
    python = interpreter(python)
    version, folders = ask_python(python)
    packages, remarks, unread = installed(folders)
    driver = ask_driver()
    if driver is None:
        driver = {"problem": "asking it failed"}
        unread.append("the NVIDIA driver: asking it failed")
    return Machine(
        python, version, packages, **driver, compilers=compilers(), remarks=remarks, unread=unread
    )


def interpreter(path):
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


def ask_python(python):
    """Version of an interpreter, and the folders that it imports from."""
    try:
        version, folders = json.loads(ask([python, "-c", ASK_PYTHON]).splitlines()[-1])
        return str(version), [str(folder) for folder in folders]
    except (AttributeError, IndexError, TypeError, ValueError):
        raise NoAnswer(f"{python} does not answer as a Python does") from None


def ask_driver():
    """What the NVIDIA driver says about itself and its GPUs; None where asking failed."""
    said = ask([sys.executable, "-IS", "-c", ASK_DRIVER])
    return json.loads(said) if said else None


def compilers():
    """The compilers that building an extension would take, with their versions."""
    toolkits = [
        os.path.join(os.environ[v], "bin") for v in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(v)
    ] + ["/usr/local/cuda/bin"]
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path=os.pathsep.join(toolkits))
    asked = {
        "g++": (shutil.which("g++"), "-dumpfullversion", r"(\S+)"),
        "nvcc": (nvcc, "--version", r"release ([\d.]+)"),
    }
    found = {
        name: path and re.search(pattern, ask([path, option]) or "")
        for name, (path, option, pattern) in asked.items()
    }
    return {name: answer[1] for name, answer in found.items() if answer}


def ask(command):
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

METADATA = re.compile(
    r"(?i)(?:(?P<name>.+?)(?:-(?P<version>[^-]+)(?:-py.*)?)?\.)?(?:dist|egg)-info"
)  # folders, and files of old
FIELD = re.compile(
    r"(?im)^(name|version):[ \t]*([\w.!+-]+)[ \t]*\r?\n"
)  # of a line that is there to its end
UNKNOWN = "unknown"


def installed(folders):
    """The watched packages, {name: version}; remarks about them; and what could not be read.

    The first folder on the path that has a package counts, as it does for imports. Several releases in one folder are all named.
    """
    packages, remarks, unread = {}, [], []
    for folder in dict.fromkeys(folders):
        for name, versions in metadata(folder, remarks, unread).items():
            packages.setdefault(name, ", ".join(sorted(versions)))
    for folder in dict.fromkeys(folders):
        for name, version in conda(folder, unread):
            pattern = next(pattern for pattern in WATCHED.values() if re.fullmatch(pattern, name))
            if not any(re.fullmatch(pattern, other) for other in packages):
                packages[name] = version
    return dict(sorted(packages.items())), remarks, unread


def metadata(folder, remarks, unread):
    """The watched packages of one folder, {name: versions}, from the metadata beside them."""
    found = {}
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
    unread += [
        f"which release of {name} is imported: {folder} has metadata of {' and '.join(sorted(versions))}"
        for name, versions in found.items()
        if len(versions) > 1
    ]
    return found


def entries(folder, unread):
    """What lies in a folder; one that is there and cannot be read is added to `unread`."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        unread.append(f"{folder}: {error}")
        return []


def described(folder, entry):
    """Name and version of a package as its metadata say; where they do not, as the name of their folder does, and True for that."""
    said, told = {}, METADATA.fullmatch(entry)
    for file in ("METADATA", "PKG-INFO", ""):
        try:
            with open(os.path.join(folder, entry, file).rstrip(os.sep), "rb") as opened:
                head = re.match(rb"(?s).*?(\n\r?\n|\Z)", opened.read(100_000))[0].decode(
                    "utf-8-sig", "replace"
                )
        except (OSError, ValueError):
            continue
        said = {key.lower(): value for key, value in reversed(FIELD.findall(head))}
        break
    name, version = (said.get(key) or told[key] for key in ("name", "version"))
    return re.sub(r"[-_.]+", "-", name or "").lower(), version or UNKNOWN, len(said) < 2


def watched(name):
    return any(re.fullmatch(pattern, name) for pattern in WATCHED.values())


def conda(folder, unread):
    """Names and versions of the watched packages that conda's records tell of. NVRTC, no package of Python's, is seen there alone."""
    if os.path.basename(folder) not in ("site-packages", "dist-packages"):
        return
    for up in ("../../..", "../.."):  # Linux, Windows
        for record in entries(os.path.normpath(os.path.join(folder, up, "conda-meta")), unread):
            parts = record.rsplit("-", 2)
            if len(parts) == 3 and record.endswith(".json") and watched(parts[0]):
                yield parts[0], parts[1]


# --- what is said


def examine(python, as_json):
    """Print what was found; returns the exit status."""
    try:
        machine = look(python)
        findings = diagnose(machine)
        bites = any(f.status == AFFECTED for f in findings)
        say(
            json.dumps(
                {**asdict(machine), "bites": bites, "findings": [asdict(f) for f in findings]},
                indent=2,
            )
            if as_json
            else report(machine, findings)
        )
    except NoSuchPython as error:
        print(f"doctor: {error}", file=sys.stderr)
        return 2
    except NoAnswer as error:
        print(f"doctor: {error}", file=sys.stderr)
        return 3
    except Exception:
        traceback.print_exc()
        print(
            f"doctor: this is a fault of the doctor, and says nothing about the environment. Please report it: {ISSUES}",
            file=sys.stderr,
        )
        return 3
    return 1 if bites else 3 if machine.unread else 0


def say(text):
    """Print a text, in any terminal's encoding, and to a reader such as `head` that has soon read enough."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def diagnose(machine):
    """One Finding for each case, and for each combination that is known to fail."""
    parts = machine.parts()
    return [
        *(case.examine(parts) for case in (*CASES, *BESIDE)),
        nvrtc_and_driver(parts),
        nvvm_and_nvjitlink(parts),
        two_toolkits(parts),
        two_cupys(parts),
    ]


def report(machine, findings):
    """The findings as text for a terminal."""
    gpus = ", ".join(
        f"{g['name']} (compute capability {g['compute_capability']})" for g in machine.gpus
    )
    driver = (
        f"{machine.driver or 'version unknown'}, supports CUDA {machine.cuda}"
        if machine.cuda
        else "none"
    )
    absent = [part for part in WATCHED if part not in machine.parts()]
    facts = {
        "Python": f"{machine.version}, {machine.python}",
        "GPU": gpus or "none",
        "Driver": driver + (f" ({machine.problem})" if machine.problem else ""),
        "Compilers": listed(machine.compilers) or "none",
        "Packages": listed(machine.packages) or "none of those that the book is about",
        "Not there": ", ".join(absent) or "nothing",
    }
    lines = [paragraph(f"{name:14}", text) for name, text in facts.items()]
    lines += [paragraph("Remark", remark) for remark in machine.remarks]
    lines += [paragraph("Not seen", thing) for thing in machine.unread]
    told = sorted(findings, key=lambda finding: WORST_FIRST.index(finding.status))
    for finding in told:
        if finding.status == NOT_AFFECTED and not finding.remains:
            continue
        lines += [
            "",
            colour(paragraph(f"{finding.status:14}", finding.symptom), finding.status),
            paragraph("", finding.why),
        ]
        if finding.remains:
            lines.append(paragraph("", finding.remains))
        if finding.cure:
            lines += [paragraph("", f"Cure: {finding.cure}"), f"{'':14}Read: {finding.chapter}"]
    rest = [f.name for f in told if f.status == NOT_AFFECTED and not f.remains]
    lines += ["", paragraph(NOT_AFFECTED, ", ".join(rest))] if rest else []
    count = sum(f.status == AFFECTED for f in findings)
    doubt = ", as far as could be seen" if machine.unread else ""
    return "\n".join(
        [
            *lines,
            "",
            f"{count or 'None'} of {len(findings)} bite{'s' if count < 2 else ''} here{doubt}.",
        ]
    )


def listed(versions):
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def paragraph(margin, text):
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    return textwrap.fill(
        text,
        width,
        initial_indent=f"{margin:14}",
        subsequent_indent=" " * 14,
        break_long_words=False,
        break_on_hyphens=False,
    )


def colour(text, status):
    """Bold red or yellow for the status, on a terminal only."""
    code = {AFFECTED: "1;31", CANNOT_TELL: "33", LOOK_OUT: "33"}.get(status)
    if not code or not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    return text.replace(status, f"\033[{code}m{status}\033[0m", 1)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the doctor's options to a command line."""
    parser.add_argument(
        "--python",
        default=sys.executable,
        metavar="PATH",
        help="folder of an environment, or an interpreter; default: the Python that runs this",
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

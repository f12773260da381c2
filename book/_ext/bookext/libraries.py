"""The libraries that a pasted text can come from: how tracebacks and facts show them, where to ask.

`frame`, `mention` and `authored` are JavaScript's patterns for the lines of a paste, in lower case
with slashes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from casebook.authoring.chapters import Chapter
from casebook.authoring.facts import Fault, label


@dataclass(frozen=True)
class Library:
    """One library.

    label      as pages call it
    tracker    address of its issues
    frame      pattern of its frames
    card       pattern of its name among the facts of a case; None for no subject of the book
    mention    pattern of its name in prose
    packages   its packages
    beside     libraries whose tracebacks pass through it, or whose code it shares
    folded     import packages of folded frames
    authored   pattern that says that it compiles what the reader wrote
    """

    label: str
    tracker: str
    frame: str
    card: str | None = None
    mention: str | None = None
    packages: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    authored: str | None = None


LIBRARIES = {
    "numba": Library(
        label="Numba's CUDA target",
        tracker="https://github.com/NVIDIA/numba-cuda/issues",
        frame=(
            r"(?<!numba_cuda_mlir/)numba_cuda/|numba/cuda/|numba\.cuda\.\w|"
            r"cuda mode pipeline|frames? in [\w, ]*\bnumba(?:_cuda)?\b"
        ),
        card="numba(?!-cuda-mlir)",
        mention=r"\bnumba\b|\bcuda\.jit\b",
        packages=("numba-cuda", "numba"),
        folded=("numba", "numba_cuda"),
    ),
    "mlir": Library(
        label="numba-cuda-mlir",
        tracker="https://github.com/NVIDIA/numba-cuda-mlir/issues",
        frame=r"numba_cuda_mlir/|numba_cuda_mlir\.\w|frames? in [\w, ]*\bnumba_cuda_mlir\b",
        card="numba-cuda-mlir",
        mention=r"\bnumba[-_]cuda[-_]mlir\b",
        packages=("numba-cuda-mlir",),
        beside=("numba",),
        folded=("numba_cuda_mlir",),
    ),
    "cupy": Library(
        label="CuPy",
        tracker="https://github.com/cupy/cupy/issues",
        frame=(
            r"(?<![\w.-])cupyx?/|cupy_backends|cupyx?\.[a-z_]+\.\w|"
            r"frames? in [\w, ]*\bcupyx?\b"
        ),
        card="cupy",
        mention=r"\bcupyx?\b",
        packages=("cupy-cuda12x",),
        folded=("cupy", "cupy_backends", "cupyx"),
        authored=r"raw(?:kernel|module)|_core[./]raw\b|compile_with_cache",
    ),
    "cuda-python": Library(
        label="cuda-core and cuda-bindings",
        tracker="https://github.com/NVIDIA/cuda-python/issues",
        frame=(
            r"cuda/(?:core|bindings)/|-packages/cuda/|cuda[-_](?:python|core|bindings)/|"
            r"cuda\.(?:core|bindings)\.\w|frames? in [\w, ]*\bcuda\b"
        ),
        card="cuda[.-](?:core|bindings)",
        mention=r"\bcuda[.-](?:core|bindings|python)\b",
        packages=("cuda-core", "cuda-bindings"),
        beside=("numba", "mlir"),
        folded=("cuda",),
    ),
    "nanobind": Library(
        label="nanobind",
        tracker="https://github.com/wjakob/nanobind/issues",
        frame=(
            r"nanobind::|nanobind/|\bnb_(?:func|type|ndarray|internals)\w*|"
            r"frames? in [\w, ]*\bnanobind\b"
        ),
        card="nanobind",
        mention=r"\bnanobind\b|\bnb::",
        packages=("nanobind",),
        folded=("nanobind",),
    ),
    # What follows is no subject of the book. A message that these raised belongs to them.
    "numba-cpu": Library(
        label="Numba",
        tracker="https://github.com/numba/numba/issues",
        frame=r"(?<![\w-])numba/(?!cuda/)\w|numba\.(?:core|np)\.\w",
        beside=("numba",),
    ),
    "torch": Library(
        label="PyTorch",
        tracker="https://github.com/pytorch/pytorch/issues",
        frame=r"(?<![\w.-])torch/\w|\btorch\._\w|libtorch|libc10",
        card="pytorch",
    ),
    "triton": Library(
        label="Triton",
        tracker="https://github.com/triton-lang/triton/issues",
        frame=r"(?<![\w.-])triton/\w",
    ),
    "jax": Library(
        label="JAX",
        tracker="https://github.com/jax-ml/jax/issues",
        frame=r"(?<![\w.-])jax(?:lib)?/\w|\bxlaruntimeerror\b",
        card=r"\bjax\b",
    ),
    "tensorflow": Library(
        label="TensorFlow",
        tracker="https://github.com/tensorflow/tensorflow/issues",
        frame=r"(?<![\w.-])tensorflow/\w",
        card="tensorflow",
    ),
    "pycuda": Library(
        label="PyCUDA",
        tracker="https://github.com/inducer/pycuda/issues",
        frame=r"(?<![\w.-])pycuda/|pycuda\._?driver",
    ),
}


def named(text: str) -> list[str]:
    """The libraries that a text names, in its order."""
    found = [
        (place.start(), name)
        for name, library in LIBRARIES.items()
        if library.card and (place := re.search(library.card, text, re.IGNORECASE))
    ]
    return [name for _, name in sorted(found)]


def of_chapter(chapter: Chapter) -> list[str]:
    """The libraries that a chapter is about, in the order of its facts."""
    return named(", ".join(chapter.facts.libraries))


def of_fault(fault: Fault) -> list[str]:
    """The libraries whose releases a fault affects."""
    return named(f"{', '.join(label(one.package) for one in fault.affected)} {fault.where}")


def of_packages(packages: Iterable[str]) -> list[str]:
    """The libraries that the import packages of folded frames belong to."""
    return [name for name, library in LIBRARIES.items() if {*library.folded} & {*packages}]


def for_page() -> dict[str, dict[str, object]]:
    """What the page needs of them."""
    kept = ("label", "frame", "mention", "tracker", "beside", "authored")
    return {
        name: {key: value for key in kept if (value := getattr(library, key))}
        for name, library in LIBRARIES.items()
    }

"""The libraries that a pasted text can come from: how cards and stored outputs name them, how a traceback shows them, where to ask.

`beside` names those whose tracebacks pass through a library, or whose code it shares. `frame`, `mention` and
`authored` (the library compiles what the reader wrote) are JavaScript's patterns for the lines of a paste, in lower case with slashes.
"""

import re

from casebook.authoring.chapters import Chapter

LIBRARIES = {
    "numba": {
        "label": "Numba's CUDA target",
        "card": r"numba(?!-cuda-mlir)",
        "folded": {"numba", "numba_cuda"},
        "frame": r"(?<!numba_cuda_mlir/)numba_cuda/|numba/cuda/|numba\.cuda\.\w|cuda mode pipeline"
        r"|frames? in [\w, ]*\bnumba(?:_cuda)?\b",
        "packages": ("numba-cuda", "numba"),
        "mention": r"\bnumba\b|\bcuda\.jit\b",
        "tracker": "https://github.com/NVIDIA/numba-cuda/issues",
    },
    "mlir": {
        "label": "numba-cuda-mlir",
        "packages": ("numba-cuda-mlir",),
        "beside": ["numba"],
        "card": "numba-cuda-mlir",
        "folded": {"numba_cuda_mlir"},
        "frame": r"numba_cuda_mlir/|numba_cuda_mlir\.\w|frames? in [\w, ]*\bnumba_cuda_mlir\b",
        "mention": r"\bnumba[-_]cuda[-_]mlir\b",
        "tracker": "https://github.com/NVIDIA/numba-cuda-mlir/issues",
    },
    "cupy": {
        "label": "CuPy",
        "packages": ("cupy-cuda12x",),
        "card": "cupy",
        "folded": {"cupy", "cupyx", "cupy_backends"},
        "frame": r"(?<![\w.-])cupyx?/|cupy_backends|cupyx?\.[a-z_]+\.\w|frames? in [\w, ]*\bcupyx?\b",
        "mention": r"\bcupyx?\b",
        "authored": r"raw(?:kernel|module)|_core[./]raw\b|compile_with_cache",
        "tracker": "https://github.com/cupy/cupy/issues",
    },
    "cuda-python": {
        "label": "cuda-core and cuda-bindings",
        "card": r"cuda[.-](?:core|bindings)",
        "folded": {"cuda"},
        "packages": ("cuda-core", "cuda-bindings"),
        "beside": ["numba", "mlir"],
        "frame": r"cuda/(?:core|bindings)/|-packages/cuda/|cuda[-_](?:python|core|bindings)/|cuda\.(?:core|bindings)\.\w"
        r"|frames? in [\w, ]*\bcuda\b",
        "mention": r"\bcuda[.-](?:core|bindings|python)\b",
        "tracker": "https://github.com/NVIDIA/cuda-python/issues",
    },
    "nanobind": {
        "label": "nanobind",
        "packages": ("nanobind",),
        "card": "nanobind",
        "folded": {"nanobind"},
        "frame": r"nanobind::|nanobind/|\bnb_(?:func|type|ndarray|internals)\w*|frames? in [\w, ]*\bnanobind\b",
        "mention": r"\bnanobind\b|\bnb::",
        "tracker": "https://github.com/wjakob/nanobind/issues",
    },
    # What follows is no subject of the book. A message that these raised belongs to them.
    "numba-cpu": {
        "label": "Numba",
        "beside": ["numba"],
        "frame": r"(?<![\w-])numba/(?!cuda/)\w|numba\.(?:core|np)\.\w",
        "tracker": "https://github.com/numba/numba/issues",
    },
    "torch": {
        "label": "PyTorch",
        "card": "pytorch",
        "frame": r"(?<![\w.-])torch/\w|\btorch\._\w|libtorch|libc10",
        "tracker": "https://github.com/pytorch/pytorch/issues",
    },
    "triton": {
        "label": "Triton",
        "frame": r"(?<![\w.-])triton/\w",
        "tracker": "https://github.com/triton-lang/triton/issues",
    },
    "jax": {
        "label": "JAX",
        "card": r"\bjax\b",
        "frame": r"(?<![\w.-])jax(?:lib)?/\w|\bxlaruntimeerror\b",
        "tracker": "https://github.com/jax-ml/jax/issues",
    },
    "tensorflow": {
        "label": "TensorFlow",
        "card": "tensorflow",
        "frame": r"(?<![\w.-])tensorflow/\w",
        "tracker": "https://github.com/tensorflow/tensorflow/issues",
    },
    "pycuda": {
        "label": "PyCUDA",
        "frame": r"(?<![\w.-])pycuda/|pycuda\._?driver",
        "tracker": "https://github.com/inducer/pycuda/issues",
    },
}


def named(text):
    """The libraries that a card's row names, in its order."""
    found = [
        (place.start(), name)
        for name, library in LIBRARIES.items()
        if "card" in library
        for place in [re.search(library["card"], text, re.IGNORECASE)]
        if place
    ]
    return [name for _, name in sorted(found)]


def of_chapter(chapter: Chapter) -> list[str]:
    """The libraries that a chapter is about, in the order of its facts."""
    return named(", ".join(chapter.facts.libraries))


def of_packages(packages):
    """The libraries that the import packages of folded frames belong to."""
    return [
        name for name, library in LIBRARIES.items() if library.get("folded", set()) & set(packages)
    ]


def of_link(link):
    """The libraries that a thread is about, by the project that it belongs to."""
    found = [
        name
        for name, library in LIBRARIES.items()
        if link.startswith(library["tracker"].removesuffix("issues"))
    ]
    return [
        other
        for name in found
        for other in (LIBRARIES[name].get("beside") if "card" not in LIBRARIES[name] else [name])
        or ()
    ]


def for_page():
    """What the page needs of them."""
    kept = ("label", "frame", "mention", "tracker", "beside", "authored")
    return {
        name: {key: library[key] for key in kept if key in library}
        for name, library in LIBRARIES.items()
    }

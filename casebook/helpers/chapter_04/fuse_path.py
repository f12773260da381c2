"""Which of CuPy's two tracers a fused function has taken, and which type it gave the result.

CuPy has no public function for either, so these read where `cupy.fuse` stores what it traced:
`_memo` (first tracer) and `new_fusion` (None until the second tracer takes over, permanently).
Valid for CuPy 13.2.0 to 14.2.0.
"""

import cupy as _cupy
import numpy as _numpy


def path(fused):
    """ "first" or "second"."""
    return "first" if fused.new_fusion is None else "second"


def kernel_of(fused):
    """The first traced kernel: Elementwise-, Reduction- or, of the second tracer, FusedKernel."""
    if fused.new_fusion is None:
        return next(iter(fused._memo.values()))[0]
    return next(iter(fused.new_fusion._cache.values()))[1][0]


def result_type(fused):
    """dtype of that kernel's (last) result."""
    found = kernel_of(fused)
    if fused.new_fusion is None:
        return _numpy.dtype(found.out_params[-1].dtype)
    return _numpy.dtype(found._dtypes[found._out_params[-1]])


def check(text, want, expected, **args):
    """Fuse the expression `text` of the names in `args`, and run it fused and unfused.

    Prints its path, both types and the scalars. Raises AssertionError where path and type are not
    `expected` ("first float32"), or a value differs from `want` by 2e-6 or more.
    """
    fused = _cupy.fuse(kernel_name="checked")(eval(f"lambda {', '.join(args)}: {text}"))
    out, plain = fused(*args.values()), fused.func(*args.values())
    scalars = ", ".join(
        f"{name}={value!r}" for name, value in args.items() if not isinstance(value, _cupy.ndarray)
    )
    print(f"{text:31} {path(fused):6} {out.dtype!s:8} {plain.dtype!s:9} {scalars}")
    assert f"{path(fused)} {out.dtype}" == expected, (
        f"{text}: {path(fused)} {out.dtype}, not {expected}"
    )
    assert _numpy.abs(out.get() - want).max() < 2e-6, f"{text}: wrong values"


def promotions(call, **scalars):
    """Print a table of dtypes: an array of each dtype plus each scalar.

    By NumPy, and by `fuse` with the scalar as literal and as argument. `scalars` are lists of
    expressions by dtype; `call(fused, *args)` calls a fused function.
    """

    def says(function, *args):
        fused = _cupy.fuse(kernel_name="sum")(function)
        call(fused, *args)
        return f"{path(fused):6} {result_type(fused)}"

    def row(dtype, text):
        scalar, x = eval(text, {"np": _numpy}), _cupy.ndarray((4,), dtype)
        try:
            with _numpy.errstate(over="ignore"):
                by_numpy = str((_numpy.ones(4, dtype) + scalar).dtype)
        except OverflowError:
            by_numpy = "OverflowError"
        literal, argument = says(lambda x: x + scalar, x), says(lambda x, s: x + s, x, scalar)
        return f"{dtype:7} + {text:19} {by_numpy:14} {literal:16} {argument}"

    names = f"cupy {_cupy.__version__}, numpy {_numpy.__version__:10}"
    print(f"{names} NumPy          fuse, literal    fuse, argument")
    for dtype, texts in scalars.items():
        for text in texts:
            print(row(dtype, text))

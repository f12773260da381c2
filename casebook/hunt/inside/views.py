"""Views of CuPy arrays: where they lie in memory. No element is read, and no GPU is needed."""

import cupy
import no_device  # noqa: F401  arrays at a made-up address
import numpy


class Scalar(Exception):
    """NumPy has made a scalar, where CuPy has an array without dimensions."""


def share(one, other):
    if isinstance(one, numpy.generic) or isinstance(other, numpy.generic):
        raise Scalar
    return numpy.may_share_memory(one, other)


RIGHT = {"xp": numpy, "share": share}
ASKED = {"xp": cupy, "share": cupy.may_share_memory}
UNABLE = ("CUDARuntimeError", "ImportError", "Scalar")  # what needs a kernel has no view


def seen(value, names):
    """Type, shape, steps and distance from the array `a`, and whether it is contiguous.

    Steps count where there is more than one element to step to, and the distance where the value is
    a view; a scalar of NumPy is an array without dimensions, as CuPy has it.
    """
    if not isinstance(value, (numpy.ndarray, numpy.generic, cupy.ndarray)):
        return value
    steps = [s for s, n in zip(value.strides, value.shape, strict=True) if n > 1 and value.size]
    return {
        "dtype": str(value.dtype),
        "shape": list(value.shape),
        "strides": steps,
        "offset": distance(value, names["a"]) if value.size else None,
        "C": value.flags.c_contiguous,
        "F": value.flags.f_contiguous,
    }


def distance(array, whole):
    """Bytes from the start of `whole`; None for a copy."""
    if isinstance(array, cupy.ndarray):
        return array.data.ptr - whole.data.ptr
    if not numpy.may_share_memory(array, whole):
        return None
    return array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]


def difference(right, got):
    """The first of these that differs."""
    if not (isinstance(right, dict) and isinstance(got, dict)):
        return "" if right == got else "value"
    copied = right["offset"] is None
    return next(
        (
            key
            for key in right
            if right[key] != got[key] and not (copied and key in ("offset", "strides"))
        ),
        "",
    )

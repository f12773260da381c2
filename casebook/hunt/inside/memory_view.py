"""cuda.core's StridedMemoryView against the array that it is a view of. NumPy's arrays will do."""

import numpy
from cuda.core.utils import StridedMemoryView


def through_dlpack(array):
    return StridedMemoryView.from_dlpack(array, stream_ptr=-1)


RIGHT = {"np": numpy, "view": lambda array: array}
ASKED = {"np": numpy, "view": through_dlpack}
UNABLE = ("DynamicLibNotFoundError",)


def seen(value, names):
    """Steps are counted in elements, and where there is more than one to step to."""
    ours = isinstance(value, StridedMemoryView)
    strides = value.strides if ours else [s / value.itemsize for s in value.strides]
    pairs = zip(strides or (), value.shape, strict=False)
    size = int(numpy.prod(value.shape))
    if ours and strides is None:  # C order
        strides = numpy.empty(value.shape, "b").strides
        pairs = zip(strides, value.shape, strict=True)
    return {
        "dtype": str(value.dtype),
        "shape": list(value.shape),
        "strides": [int(s) for s, n in pairs if n > 1 and size],
        "size": value.size,
        "readonly": value.readonly if ours else not value.flags.writeable,
        "offset": (value.ptr if ours else value.ctypes.data) - names["b"].ctypes.data,
    }


def difference(right, got):
    return next((key for key in right if right[key] != got[key]), "")

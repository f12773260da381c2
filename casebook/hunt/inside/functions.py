"""CuPy's functions against NumPy's and SciPy's, on the GPU."""

import cupy
import cupyx.scipy.ndimage
import numpy
import scipy.ndimage

RIGHT = {"xp": numpy, "ndimage": scipy.ndimage}
ASKED = {"xp": cupy, "ndimage": cupyx.scipy.ndimage}
UNABLE = ("NotImplementedError", "ImportError")  # cuBLAS is not installed
WAIT = cupy.cuda.runtime.deviceSynchronize
LOOSE = {"e": 1e-2, "f": 1e-4, "F": 1e-4, "d": 1e-9, "D": 1e-9}


def seen(value, names):
    if isinstance(value, (list, tuple)):
        return [seen(one, names) for one in value]
    return cupy.asnumpy(value)


def difference(right, got):
    if isinstance(right, list):
        kinds = map(difference, right, got) if len(right) == len(got) else ["number of results"]
        return next(filter(None, kinds), "")
    if right.dtype != got.dtype:
        return "dtype"
    if right.shape != got.shape:
        return "shape"
    loose = LOOSE.get(right.dtype.char, 0)
    same = numpy.allclose(right, got, rtol=loose, atol=loose, equal_nan=right.dtype.kind in "fc")
    return "" if same else "numbers"

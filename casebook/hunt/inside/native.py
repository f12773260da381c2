"""Functions of native/ against NumPy. In host mode, they need no GPU."""

import ctypes
from types import SimpleNamespace

import device_arrays
import numpy
from device_arrays import dlpeek


class Part:
    """A view of a device's memory, made by NumPy and given away as an array on the device."""

    def __init__(self, memory, view):
        self.memory, self.part = memory, view

    def __getitem__(self, index):
        return Part(self.memory, self.part[index])

    def __getattr__(self, name):
        found = getattr(self.part, name)
        if callable(found):
            return lambda *given: Part(self.memory, found(*given))
        return Part(self.memory, found)

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **wishes):
        capsule = self.part.__dlpack__(**wishes)
        dlpeek.tensor(capsule).device_type = self.__dlpack_device__()[0]
        return capsule


def ramp(size, dtype):
    """0, 1, 2 … on the device, written by add_into through one part for each element. As another
    dtype, its bytes are taken for that."""
    memory = device_arrays.full(size, -1.0)
    address = dlpeek.tensor(memory.__dlpack__()).data if size else None
    room = (ctypes.c_float * size).from_address(address) if size else ()
    whole = Part(memory, numpy.ctypeslib.as_array(room) if size else numpy.empty(0, "float32"))
    zero = device_arrays.full(1, 0.0)
    for place in range(size):
        device_arrays.add_into(device_arrays.full(1, place), zero, whole[place : place + 1], 0)
    return whole.view(dtype)


def takes(dimensions, *arrays):
    for array in arrays:
        if not (array.dtype == "float32" and array.ndim == dimensions and array.flags.c_contiguous):
            raise TypeError("incompatible function arguments")


def add(a, b):
    takes(1, a, b)
    if a.shape != b.shape:
        raise ValueError("lengths differ")
    return a + b


def add_into(a, b, out, *stream):
    takes(1, out)
    total = add(a, b)
    if total.shape != out.shape:
        raise ValueError("lengths differ")
    out[...] = total
    return out


def rms_norm(x, weight, out):
    takes(2, x, out)
    takes(1, weight)
    if x.shape != out.shape or x.shape[1:] != weight.shape:
        raise ValueError("shapes differ")
    out[...] = x / numpy.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * weight
    return out


def to_host(a):
    if a.dtype != "float32" or not a.flags.c_contiguous:
        raise TypeError("incompatible function arguments")
    return a.copy()


def written(function):
    """The function, which returns the array that it has written to."""

    def call(*given):
        function(*given)
        return given[2]

    return call


RIGHT = {
    "da": SimpleNamespace(
        ramp=lambda size, dtype: numpy.arange(size, dtype="float32").view(dtype),
        add=add,
        add_explicit=add,
        add_labelled=add,
        add_template_only=add,
        add_into=add_into,
        rms_norm=rms_norm,
        to_host=to_host,
    )
}
ASKED = {
    "da": SimpleNamespace(
        **{name: getattr(device_arrays, name) for name in vars(RIGHT["da"]) if name != "ramp"}
        | {
            "ramp": ramp,
            "add_into": written(device_arrays.add_into),
            "rms_norm": written(device_arrays.rms_norm),
        }
    )
}
UNABLE = ("BufferError",)  # NumPy gives no read-only array away


def seen(value, names):
    """The array, and what is in the others: nothing else was written."""
    arrays = [value, *(names[name] for name in "abc")]
    return [here(array).tolist() for array in arrays]


def here(array):
    if isinstance(array, Part):  # its memory, which NumPy may not read
        whole = device_arrays.to_host(array.memory).view(array.part.dtype)
        start = dlpeek.tensor(array.memory.__dlpack__()).data or 0
        offset = (array.part.ctypes.data - start) // whole.itemsize if array.part.size else 0
        steps = numpy.array(array.part.strides, int)
        return numpy.lib.stride_tricks.as_strided(whole[offset:], array.part.shape, steps)
    return array if isinstance(array, numpy.ndarray) else device_arrays.to_host(array)


def difference(right, got):
    for one, other in zip(right, got, strict=True):
        one, other = numpy.array(one), numpy.array(other)
        if one.shape != other.shape:
            return "shape"
        if not numpy.allclose(one, other, rtol=1e-5, equal_nan=True):
            return "numbers"
    return ""

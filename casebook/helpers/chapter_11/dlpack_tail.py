"""The tail of an array, described for DLPack by the address of the whole array and a byte offset.

No common library exports such a description on request, but every consumer must understand it.
Structures: https://dmlc.github.io/dlpack/latest/c_api.html (unversioned capsule, "dltensor").
"""

import ctypes


class DLTensor(ctypes.Structure):
    """What a consumer reads. Strides are in elements, the offset is in bytes."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_nothing = _Deleter(lambda managed: None)  # old consumers call it without a check for NULL


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


class Tail:
    """base[start:] of a one-dimensional float64 array; `address` is that of base[0].

    `device` is (1, 0) for the CPU, (2, n) for GPU n. With `offset=False` the start is added to the
    address, as most libraries describe a view.
    """

    def __init__(self, base, start, address, device=(1, 0), offset=True):
        self.base, self.device = base, device  # keeps the memory alive
        one = ctypes.c_int64 * 1
        self._shape, self._strides = one(base.size - start), one(1)
        where = (address, 8 * start) if offset else (address + 8 * start, 0)
        tensor = DLTensor(where[0], device, 1, 2, 64, 1, self._shape, self._strides, where[1])
        self._managed = _Managed(tensor, None, _nothing)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self._managed), b"dltensor", None)


def data_and_offset(array):
    """The two fields that locate the first element, as `array` exports them."""
    capsule = array.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = DLTensor.from_address(get(capsule, b"dltensor"))
    return tensor.data, tensor.byte_offset

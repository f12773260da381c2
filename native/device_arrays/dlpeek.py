"""Look into a DLPack capsule without consuming it. Field by field: https://dmlc.github.io/dlpack/latest/c_api.html"""
import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p


class DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", c_void_p),
                ("flags", c_uint64), ("tensor", DLTensor)]


pointer, name = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_GetName
pointer.restype, pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
name.restype, name.argtypes = c_char_p, [ctypes.py_object]


def tensor(capsule):
    """The DLTensor inside a capsule that nobody has consumed."""
    kind = name(capsule)
    if kind not in (b"dltensor", b"dltensor_versioned"):
        raise ValueError(f"not an unconsumed DLPack capsule: {kind.decode()}")
    address = pointer(capsule, kind)
    found = DLTensor.from_address(address) if kind == b"dltensor" else Versioned.from_address(address).tensor
    found.capsule = capsule     # the memory is the capsule's, so it must live as long
    return found


def device_of(capsule):
    """(device type, device id): type 1 is kDLCPU, 2 is kDLCUDA."""
    found = tensor(capsule)
    return found.device_type, found.device_id


def flags(capsule):
    """Flags of a capsule of DLPack 1.0 (1: read-only, 2: a copy); None in one of before, which has no place for them."""
    kind = name(capsule)
    return Versioned.from_address(pointer(capsule, kind)).flags if kind == b"dltensor_versioned" else None


class Wrap:
    """The smallest DLPack producer: NumPy and CuPy want an object, and nanobind 2.1.0 returns a bare capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **wishes):
        return self.capsule

    def __dlpack_device__(self):
        return device_of(self.capsule)

"""A fake GPU with 16 GiB of memory, for CuPy and Numba: it counts them and runs no kernel.

It stands in for the driver (built_driver) and for the six functions of the CUDA runtime that
CuPy 14.2.0 needs to allocate memory; above that, all code is the libraries' own. Memory is handed
out at made-up addresses. A request that does not fit gets error 2, out of memory. A real GPU also
takes some memory for each process (its context) and rounds sizes up; this one does not.
"""

import ctypes as _ctypes

import built_driver as _built_driver
import cupy_backends.cuda.api.runtime as _runtime  # CuPy's calls of CUDA, without the rest of CuPy

_SOURCE = r"""
NO_COPIES
enum { MANY = 256 };
static size_t left = 1ull << 34, sizes[MANY];
size_t bytes_left(void) { return left; }

int cuMemGetInfo_v2(size_t *free, size_t *all) { *free = left; *all = 1ull << 34; return 0; }
int cuMemAlloc_v2(uintptr_t *p, size_t n) {
  int k = 1;
  while (k < MANY && sizes[k]) k++;
  if (n > left || k == MANY) return 2;
  left -= sizes[k] = n;
  *p = (uintptr_t)k << 36;
  return 0;
}
int cuMemFree_v2(uintptr_t p) {
  left += sizes[p >> 36];
  sizes[p >> 36] = 0;
  return 0;
}

/* the same for CuPy: Cython's functions, which have one more argument */
void *Py_BuildValue(const char *, ...), *PyObject_CallFunction(void *, const char *, ...);
void *when_full;                        /* a Python function that raises CuPy's error */
int for_getDevice(int skip) { return 0; }
int for_getDeviceCount(int skip) { return 1; }
void *for_setDevice(int d, int skip) { return Py_BuildValue(""); }
void *for_memGetInfo(int skip) { return Py_BuildValue("KK", left, 1ull << 34); }
intptr_t for_malloc(size_t n, int skip) {
  uintptr_t p = 0;
  if (cuMemAlloc_v2(&p, n)) PyObject_CallFunction(when_full, "");
  return p;
}
void *for_free(uintptr_t p, int skip) { cuMemFree_v2(p); return Py_BuildValue(""); }
"""
_FUNCTIONS = "getDevice", "getDeviceCount", "setDevice", "memGetInfo", "malloc", "free"
_replaced: list[object] = []  # the capsules that own the names


def _full() -> None:
    raise _runtime.CUDARuntimeError(2)


def load(source: str = "", functions: tuple[str, ...] = ()) -> _ctypes.CDLL:
    """Load the fake GPU before any CUDA library, with more functions of the driver in C.

    `functions` are names of CuPy's runtime module; `source` has `for_` and the name for each.
    """
    library = _built_driver.load(_SOURCE + source)
    library.bytes_left.restype = _ctypes.c_size_t
    _ctypes.py_object.in_dll(library, "when_full").value = _full  # type: ignore[assignment]
    # Other modules of CuPy look these functions up when they are imported.
    name_of, new = _ctypes.pythonapi.PyCapsule_GetName, _ctypes.pythonapi.PyCapsule_New
    name_of.restype, name_of.argtypes = _ctypes.c_void_p, [_ctypes.py_object]
    new.restype, new.argtypes = _ctypes.py_object, [_ctypes.c_void_p] * 3
    for function in _FUNCTIONS + functions:
        old = _runtime.__pyx_capi__[function]
        _replaced.append(old)
        address = _ctypes.cast(getattr(library, f"for_{function}"), _ctypes.c_void_p)
        _runtime.__pyx_capi__[function] = new(address, name_of(old), None)
    _runtime.memGetInfo = lambda: (library.bytes_left(), 1 << 34)
    return library

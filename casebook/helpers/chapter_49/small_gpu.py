"""A fake GPU with 16 GiB of memory that does nothing but count them.

    import small_gpu                # before any CUDA library; needs a C compiler, `cc`
    small_gpu.free()                # bytes that nobody has taken

It stands in for the driver, which Numba calls, and for the six functions of the CUDA runtime that
CuPy 14.2.0 needs to allocate memory; above that, all code is the libraries' own. Memory is handed
out at made-up addresses. A request that does not fit gets error 2, out of memory. No kernel runs.
A real GPU also takes some memory for each process (its context) and rounds sizes up; this one does
not. Needs no GPU.
"""

import ctypes as _ctypes

import built_driver as _built_driver
import cupy_backends.cuda.api.runtime as _runtime  # CuPy's calls of CUDA, without the rest of CuPy

_built_driver._SHARED = _built_driver._SHARED.replace("cuMemGetInfo_v2", "of_an_empty_gpu")
_library = _built_driver.load(r"""
enum { MANY = 256 };
static char context[8];
static size_t left = 1ull << 34, sizes[MANY];
size_t bytes_left(void) { return left; }
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = context; return 0; }
int cuCtxGetCurrent(void **c) { *c = context; return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuCtxPushCurrent_v2(void *c) { return 0; }
int cuCtxPopCurrent_v2(void **c) { if (c) *c = context; return 0; }
int cuCtxGetDevice(int *d) { *d = 0; return 0; }
int cuCtxSynchronize(void) { return 0; }

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
""")
_library.bytes_left.restype = _ctypes.c_size_t
free = _library.bytes_left


def _full():
    raise _runtime.CUDARuntimeError(2)


_ctypes.py_object.in_dll(_library, "when_full").value = _full

# Other modules of CuPy look these functions up when they are imported.
_name_of, _new = _ctypes.pythonapi.PyCapsule_GetName, _ctypes.pythonapi.PyCapsule_New
_name_of.restype, _name_of.argtypes = _ctypes.c_void_p, [_ctypes.py_object]
_new.restype, _new.argtypes = _ctypes.py_object, [_ctypes.c_void_p] * 3
_replaced = []  # the capsules that own the names
for _function in "getDevice", "getDeviceCount", "setDevice", "memGetInfo", "malloc", "free":
    _old = _runtime.__pyx_capi__[_function]
    _replaced.append(_old)
    _address = _ctypes.cast(getattr(_library, f"for_{_function}"), _ctypes.c_void_p)
    _runtime.__pyx_capi__[_function] = _new(_address, _name_of(_old), None)
_runtime.memGetInfo = lambda: (free(), 1 << 34)

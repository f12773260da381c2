"""A fake CUDA driver for Numba that launches nothing and refuses sizes beyond CUDA's limits.

    import launch_limits                # before numba; needs a C compiler, `cc`
    launch_limits.last()                # (grid, block) of the last launch that it was asked for

Numba and its compiler are the real ones. A launch beyond the limits that the driver reports as
attributes of the device gets error 1, CUDA_ERROR_INVALID_VALUE, and so does a size of 0. Needs no
GPU, and never asks one.
"""

import ctypes as _ctypes

import built_driver as _built_driver

_built_driver._SHARED = _built_driver._SHARED.replace(
    '"ERROR_OF_THE_STAND_IN"', 'e == 1 ? "CUDA_ERROR_INVALID_VALUE" : "ERROR_OF_THE_STAND_IN"'
).replace(
    '"so says the stand-in for the driver"',
    'e == 1 ? "invalid argument" : "so says the stand-in for the driver"',
)
_library = _built_driver.load(r"""
#define GIVE(p) (*(void **)(p) = (void *)(handle += 16), 0)
static char context[8];
static uintptr_t handle = 0x1000;
static unsigned asked[6];
const unsigned *last_size(void) { return asked; }
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = context; return 0; }
int cuCtxGetCurrent(void **c) { *c = context; return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuCtxPushCurrent_v2(void *c) { return 0; }
int cuCtxPopCurrent_v2(void **c) { if (c) *c = context; return 0; }
int cuCtxGetDevice(int *d) { *d = 0; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuStreamGetCtx(void *s, void **c) { *c = context; return 0; }
int cuStreamIsCapturing(void *s, int *c) { *c = 0; return 0; }
int cuLibraryLoadData(void **l, ...) { return GIVE(l); }
int cuLibraryGetKernel(void **k, void *l, const char *n) { return GIVE(k); }
int cuLibraryUnload(void *l) { return 0; }
int cuKernelGetFunction(void **f, void *k) { *f = k; return 0; }
int cuKernelGetLibrary(void **l, void *k) { return GIVE(l); }
int cuModuleUnload(void *m) { return 0; }
int cuFuncGetAttribute(int *v, int a, void *f) { *v = a ? 0 : 1024; return 0; }
int cuKernelGetAttribute(int *v, int a, void *k, int d) { *v = a ? 0 : 1024; return 0; }
int cuKernelGetParamInfo(void *k, size_t i, size_t *o, size_t *n) { return 1; }
static int launch(const unsigned *size) {
  static const int of_size[6] = {5, 6, 7, 2, 3, 4};     /* attributes: the grid, the block */
  int most, bad = 0;
  memcpy(asked, size, sizeof asked);
  for (int i = 0; i < 6; i++) {
    cuDeviceGetAttribute(&most, of_size[i], 0);
    bad |= !size[i] || size[i] > most;
  }
  cuDeviceGetAttribute(&most, 1, 0);
  return bad || (uint64_t)size[3] * size[4] * size[5] > most;
}
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned x, unsigned y, unsigned z,
                   unsigned n, void *s, void **p, void **e) {
  unsigned size[6] = {a, b, c, x, y, z};
  return launch(size);
}
int cuLaunchKernelEx(const unsigned *config, void *f, void **p, void **e) { return launch(config); }
""")
_library.last_size.restype = _ctypes.POINTER(_ctypes.c_uint * 6)


def last() -> tuple[tuple, tuple]:
    """The blocks and the threads of the last launch, whether it was refused or not."""
    size = tuple(_library.last_size().contents)
    return size[:3], size[3:]

"""A fake CUDA driver that counts launches and copies; its GPU computes nothing.

    import counting_gpu             # before Numba; needs a C compiler, `cc`

`counts()` returns the launches, the copies and the copied bytes since the last call.
"""

import ctypes as _ctypes

import built_driver as _built_driver

_driver = _built_driver.load(
    r"""
#include <stdlib.h>
#define GIVE(p) (*(void **)(p) = (void *)(handle += 16), 0)
static char context[8];
static uintptr_t handle = 0x1000;
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = context; return 0; }
int cuCtxGetCurrent(void **c) { *c = context; return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuCtxPushCurrent_v2(void *c) { return 0; }
int cuCtxPopCurrent_v2(void **c) { if (c) *c = context; return 0; }
int cuCtxGetDevice(int *d) { *d = 0; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuStreamIsCapturing(void *s, int *yes) { *yes = 0; return 0; }
int cuStreamGetCaptureInfo_v2(void *s, int *yes, ...) { *yes = 0; return 0; }
int cuStreamSynchronize(void *s) { return 0; }
int cuEventCreate(void **e, unsigned f) { return GIVE(e); }
int cuEventRecord(void *e, void *s) { return 0; }
int cuEventQuery(void *e) { return 0; }

/* what is counted: launches, copies, bytes */
long long counted[3];
static int copy(void *to, const void *from, size_t n) {
  counted[1]++;
  counted[2] += n;
  memcpy(to, from, n);
  return 0;
}
int cuLaunchKernel(void) { counted[0]++; return 0; }
int cuLaunchKernelEx(void) { return cuLaunchKernel(); }
int cuMemcpyHtoD_v2(void *to, const void *from, size_t n) { return copy(to, from, n); }
int cuMemcpyDtoH_v2(void *to, const void *from, size_t n) { return copy(to, from, n); }
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t n) { return copy(to, from, n); }
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t n) { return copy(to, from, n); }
int cuMemcpyAsync(void *to, const void *from, size_t n) { return copy(to, from, n); }

/* memory of the GPU is memory of the process */
int cuMemAlloc_v2(void **p, size_t n) { *p = calloc(n, 1); return 0; }
int cuMemFree_v2(void *p) { free(p); return 0; }
int cuDeviceGetMemPool(void **p, int d) { return GIVE(p); }
int cuDeviceGetDefaultMemPool(void **p, int d) { return GIVE(p); }
int cuMemPoolGetAttribute(void *p, int a, void *v) { *(uint64_t *)v = 0; return 0; }
int cuMemPoolSetAttribute(void *p, int a, void *v) { return 0; }
int cuMemAllocFromPoolAsync(void **p, size_t n, void *pool, void *s) { return cuMemAlloc_v2(p, n); }
int cuMemAllocAsync(void **p, size_t n, void *s) { return cuMemAlloc_v2(p, n); }
int cuMemFreeAsync(void *p, void *s) { return cuMemFree_v2(p); }

/* code */
int cuLibraryLoadData(void **l, ...) { return GIVE(l); }
int cuLibraryGetKernel(void **k, void *l, const char *n) { return GIVE(k); }
int cuLibraryUnload(void *l) { return 0; }
int cuKernelGetFunction(void **f, void *k) { *f = k; return 0; }
int cuKernelGetLibrary(void **l, void *k) { return GIVE(l); }
int cuModuleLoadDataEx(void **m, ...) { return GIVE(m); }
int cuModuleGetFunction(void **f, void *m, const char *n) { return GIVE(f); }
int cuModuleUnload(void *m) { return 0; }
int cuFuncGetAttribute(int *v, int a, void *f) { *v = a ? 0 : 1024; return 0; }
int cuKernelGetAttribute(int *v, int a, void *k, int d) { *v = a ? 0 : 1024; return 0; }
int cuKernelGetParamInfo(void *k, size_t i, size_t *o, size_t *n) { return 1; }
"""
)
_counted = (_ctypes.c_longlong * 3).in_dll(_driver, "counted")


def counts() -> tuple[int, int, int]:
    """Launches, copies and copied bytes since the last call."""
    launches, copies, size = _counted
    _counted[:] = [0, 0, 0]
    return launches, copies, size

"""A fake CUDA driver with 132 multiprocessors that counts copies; it launches nothing.

    import counted_copies           # before Numba; needs a C compiler, `cc`
    counted_copies.counted()        # copies since the last call: (to the GPU, to the host)
    counted_copies.asked()          # how often the number of multiprocessors was asked for

Memory of the GPU is memory of the process, and the copies are real. A kernel is compiled and its
launch is accepted, but it does not run. Needs no GPU.
"""

import built_driver as _built_driver

_before, _after = "int cuDeviceGetAttribute(", "*v = 1;"
_built_driver._SHARED = _built_driver._SHARED.replace(
    _before, "static int asked_for, to_gpu, to_host;\n" + _before
).replace(_after, _after + " asked_for += a == 16;")
_driver = _built_driver.load(r"""
#include <stdlib.h>
#define GIVE(p) (*(void **)(p) = (void *)(handle += 16), 0)
static char context[8], pool[8];
static uintptr_t handle = 0x1000;
int asked(void) { return asked_for; }
int taken(int host) {
  int *n = host ? &to_host : &to_gpu, was = *n;
  *n = 0;
  return was;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = context; return 0; }
int cuCtxGetCurrent(void **c) { *c = context; return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuCtxPushCurrent_v2(void *c) { return 0; }
int cuCtxPopCurrent_v2(void **c) { if (c) *c = context; return 0; }
int cuCtxGetDevice(int *d) { *d = 0; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuLaunchKernel(void) { return 0; }
int cuLaunchKernelEx(void) { return 0; }
int cuStreamSynchronize(void *s) { return 0; }
int cuStreamIsCapturing(void *s, int *c) { *c = 0; return 0; }
int cuStreamGetCaptureInfo_v2(void *s, int *c, ...) { *c = 0; return 0; }
int cuEventCreate(void **e, unsigned f) { return GIVE(e); }
int cuEventRecord(void *e, void *s) { return 0; }
int cuStreamGetCtx(void *s, void **c) { *c = context; return 0; }
int cuStreamGetFlags(void *s, unsigned *f) { *f = 0; return 0; }

/* memory of the GPU is memory of the process */
int cuDeviceGetDefaultMemPool(void **p, int d) { *p = pool; return 0; }
int cuDeviceGetMemPool(void **p, int d) { *p = pool; return 0; }
int cuMemPoolGetAttribute(void *p, int a, uint64_t *v) { *v = -1; return 0; }
int cuMemPoolSetAttribute(void *p, int a, void *v) { return 0; }
int cuMemAlloc_v2(void **p, size_t n) { *p = calloc(n, 1); return 0; }
int cuMemFree_v2(void *p) { free(p); return 0; }
int cuMemAllocFromPoolAsync(void **p, size_t n, void *m, void *s) { return cuMemAlloc_v2(p, n); }
int cuMemAllocAsync(void **p, size_t n, void *s) { return cuMemAlloc_v2(p, n); }
int cuMemFreeAsync(void *p, void *s) { free(p); return 0; }
static int copy(int *count, void *to, const void *from, size_t n) {
  ++*count;
  memcpy(to, from, n);
  return 0;
}
int cuMemcpyHtoD_v2(void *to, const void *from, size_t n) { return copy(&to_gpu, to, from, n); }
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t n, void *s) {
  return copy(&to_gpu, to, from, n);
}
int cuMemcpyDtoH_v2(void *to, const void *from, size_t n) { return copy(&to_host, to, from, n); }
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t n, void *s) {
  return copy(&to_host, to, from, n);
}

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
""")


def counted():
    """Copies since the last call: (to the GPU, to the host)."""
    return _driver.taken(0), _driver.taken(1)


def asked():
    """How often this process has asked the driver for the number of multiprocessors."""
    return _driver.asked()

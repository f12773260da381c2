"""What the fake CUDA drivers share: C, built with the system's compiler, named libcuda.so.1.

Once it is loaded, every library of this process that asks for libcuda.so.1 gets it, whether there
is a real driver or not. A fake driver adds the functions that it is about; its own function takes
the place of the shared one with the same name.

Shared are: devices of compute capability 9.0, with one context; memory of the GPU that is memory
of the process, and real copies; kernels that load and whose launch is accepted, but which do not
run; and the lookup of functions by name, version 2 first. Functions that are missing return
CUDA_ERROR_NOT_SUPPORTED (801).
"""

import ctypes as _ctypes
import pathlib as _pathlib
import subprocess as _subprocess
import tempfile as _tempfile

_HEAD = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern uintptr_t handle;                /* the last handle that was given out */
extern char context[8], pool[8];
#define GIVE(p) (*(void **)(p) = (void *)(handle += 16), 0)
/* for fake drivers whose addresses are made up: a copy gets an error, not a crash */
#define NO_COPIES \
  int cuMemcpyHtoD_v2(void) { return 801; } \
  int cuMemcpyDtoH_v2(void) { return 801; }
"""
_SHARED = r"""
#define CUDA __attribute__((weak)) int  /* gives way to a fake driver's own function */
uintptr_t handle = 0x1000;
char context[8], pool[8];
CUDA cuInit(unsigned f) { return 0; }
CUDA cuDriverGetVersion(int *v) { *v = 13000; return 0; }
static const struct { int code; const char *name, *text; } errors[] = {
  {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
  {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
  {801, "CUDA_ERROR_NOT_SUPPORTED", "so says the stand-in for the driver"},
  {0, "ERROR_OF_THE_STAND_IN", "so says the stand-in for the driver"},
};
static int of_error(int e) {
  int i = 0;
  while (errors[i].code && errors[i].code != e) i++;
  return i;
}
CUDA cuGetErrorName(int e, const char **s) { *s = errors[of_error(e)].name; return 0; }
CUDA cuGetErrorString(int e, const char **s) { *s = errors[of_error(e)].text; return 0; }
static int missing(void) { return 801; }
CUDA cuGetProcAddress(const char *name, void **p, int version, uint64_t f) {
  char second[128];
  void *self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  snprintf(second, sizeof second, "%s_v2", name);
  if (!(*p = dlsym(self, second)) && !(*p = dlsym(self, name))) *p = (void *)missing;
  return 0;
}
CUDA cuGetProcAddress_v2(const char *name, void **p, int version, uint64_t f, int *status) {
  if (status) *status = 0;
  return cuGetProcAddress(name, p, version, f);
}
CUDA cuGetExportTable(const void **table, const void *id) { *table = 0; return 801; }

/* devices, and the context that they share */
CUDA cuDeviceGetCount(int *n) { *n = DEVICES; return 0; }
CUDA cuDeviceGet(int *d, int i) { *d = i; return i < 0 || i >= DEVICES ? 101 : 0; }
CUDA cuDeviceGetName(char *name, int n, int d) { snprintf(name, n, "stand-in %d", d); return 0; }
CUDA cuDeviceGetUuid(void *u, int d) { memset(u, 7 + d, 16); return 0; }
CUDA cuDeviceGetUuid_v2(void *u, int d) { return cuDeviceGetUuid(u, d); }
CUDA cuDeviceTotalMem_v2(size_t *n, int d) { *n = 1ull << 34; return 0; }
CUDA cuDeviceGetAttribute(int *v, int a, int d) {
  static const int known[][2] = {{75, 9}, {76, 0}, {1, 1024}, {2, 1024}, {3, 1024}, {4, 64},
                                 {5, 2147483647}, {6, 65535}, {7, 65535}, {10, 32}, {16, 132}};
  *v = 1;
  for (int i = 0; i < 11; i++) if (known[i][0] == a) *v = known[i][1];
  return 0;
}
CUDA cuDevicePrimaryCtxRetain(void **c, int d) { *c = context; return 0; }
CUDA cuDevicePrimaryCtxRelease_v2(int d) { return 0; }
CUDA cuDevicePrimaryCtxGetState(int d, unsigned *f, int *active) { *f = 0; *active = 1; return 0; }
CUDA cuCtxGetCurrent(void **c) { *c = context; return 0; }
CUDA cuCtxSetCurrent(void *c) { return 0; }
CUDA cuCtxPushCurrent_v2(void *c) { return 0; }
CUDA cuCtxPopCurrent_v2(void **c) { if (c) *c = context; return 0; }
CUDA cuCtxGetDevice(int *d) { *d = 0; return 0; }
CUDA cuCtxGetStreamPriorityRange(int *low, int *high) { *low = 0; *high = -5; return 0; }
CUDA cuCtxSynchronize(void) { return 0; }

/* streams and events, on which all work is done at once */
CUDA cuStreamCreate(void **s, unsigned f) { return GIVE(s); }
CUDA cuStreamCreateWithPriority(void **s, unsigned f, int p) { return GIVE(s); }
CUDA cuStreamGetPriority(void *s, int *p) { *p = 0; return 0; }
CUDA cuStreamGetFlags(void *s, unsigned *f) { *f = 0; return 0; }
CUDA cuStreamGetCtx(void *s, void **c) { *c = context; return 0; }
CUDA cuStreamIsCapturing(void *s, int *yes) { *yes = 0; return 0; }
CUDA cuStreamGetCaptureInfo_v2(void *s, int *yes, ...) { *yes = 0; return 0; }
CUDA cuStreamSynchronize(void *s) { return 0; }
CUDA cuStreamDestroy_v2(void *s) { return 0; }
CUDA cuEventCreate(void **e, unsigned f) { return GIVE(e); }
CUDA cuEventRecord(void *e, void *s) { return 0; }
CUDA cuEventDestroy_v2(void *e) { return 0; }

/* memory of the GPU is memory of the process */
CUDA cuMemGetInfo_v2(size_t *free, size_t *all) { *free = *all = 1ull << 34; return 0; }
CUDA cuMemAlloc_v2(void **p, size_t n) { *p = calloc(n, 1); return 0; }
CUDA cuMemFree_v2(void *p) { free(p); return 0; }
CUDA cuMemHostAlloc(void **p, size_t n, unsigned f) { *p = calloc(n, 1); return 0; }
CUDA cuMemFreeHost(void *p) { free(p); return 0; }
CUDA cuDeviceGetMemPool(void **p, int d) { *p = pool; return 0; }
CUDA cuDeviceGetDefaultMemPool(void **p, int d) { *p = pool; return 0; }
CUDA cuMemPoolGetAttribute(void *p, int a, uint64_t *v) { *v = 0; return 0; }
CUDA cuMemPoolSetAttribute(void *p, int a, void *v) { return 0; }
CUDA cuMemAllocFromPoolAsync(void **p, size_t n, void *m, void *s) { return cuMemAlloc_v2(p, n); }
CUDA cuMemAllocAsync(void **p, size_t n, void *s) { return cuMemAlloc_v2(p, n); }
CUDA cuMemFreeAsync(void *p, void *s) { return cuMemFree_v2(p); }
CUDA cuMemcpyHtoD_v2(void *to, const void *from, size_t n) { memcpy(to, from, n); return 0; }
CUDA cuMemcpyDtoH_v2(void *to, const void *from, size_t n) { memcpy(to, from, n); return 0; }
CUDA cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t n, void *s) {
  return cuMemcpyHtoD_v2(to, from, n);
}
CUDA cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t n, void *s) {
  return cuMemcpyDtoH_v2(to, from, n);
}

/* code: a launch is accepted, and nothing runs */
CUDA cuLibraryLoadData(void **l, ...) { return GIVE(l); }
CUDA cuLibraryGetKernel(void **k, void *l, const char *n) { return GIVE(k); }
CUDA cuLibraryUnload(void *l) { return 0; }
CUDA cuKernelGetFunction(void **f, void *k) { *f = k; return 0; }
CUDA cuKernelGetLibrary(void **l, void *k) { return GIVE(l); }
CUDA cuKernelGetAttribute(int *v, int a, void *k, int d) { *v = a ? 0 : 1024; return 0; }
CUDA cuKernelGetParamInfo(void *k, size_t i, size_t *o, size_t *n) { return 1; }
CUDA cuModuleLoadDataEx(void **m, ...) { return GIVE(m); }
CUDA cuModuleGetFunction(void **f, void *m, const char *n) { return GIVE(f); }
CUDA cuModuleUnload(void *m) { return 0; }
CUDA cuFuncGetAttribute(int *v, int a, void *f) { *v = a ? 0 : 1024; return 0; }
CUDA cuLaunchKernel(void) { return 0; }
CUDA cuLaunchKernelEx(void) { return 0; }
"""


def build(source: str, folder: str | _pathlib.Path, devices: int = 1) -> str:
    """Build these functions and those in `source`, C without includes.

    Returns the path of the file, libcuda.so.1 in this folder.
    """
    folder = _pathlib.Path(folder).absolute()
    folder.mkdir(exist_ok=True)
    library = folder / "libcuda.so.1"
    options = f"-shared -fPIC -w -pthread -DDEVICES={devices} -Wl,-soname,libcuda.so.1"
    with _tempfile.TemporaryDirectory() as sources:
        files = [_pathlib.Path(sources, name) for name in ("shared.c", "own.c")]
        for file, text in zip(files, (_SHARED, source), strict=True):
            file.write_text(_HEAD + text)
        _subprocess.run(["cc", *options.split(), "-o", library, *files, "-ldl"], check=True)
    return str(library)


def load(source: str, devices: int = 1) -> _ctypes.CDLL:
    """Build and load these functions and those in `source`, C without includes."""
    with _tempfile.TemporaryDirectory() as folder:
        return _ctypes.CDLL(build(source, folder, devices))

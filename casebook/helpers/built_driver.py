"""What the fake CUDA drivers share: C, built with the system's compiler, named libcuda.so.1.

Once it is loaded, every library of this process that asks for libcuda.so.1 gets it, whether there
is a real driver or not. Each fake driver adds the functions that it is about. Here are those that
all of them need: devices of compute capability 9.0, and the lookup of functions by name, version 2
first. Functions that are missing return CUDA_ERROR_NOT_SUPPORTED (801).
"""

import ctypes as _ctypes
import pathlib as _pathlib
import subprocess as _subprocess
import tempfile as _tempfile

_SHARED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
int cuInit(unsigned f) { return 0; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuGetErrorName(int e, const char **s) {
  *s = e == 801 ? "CUDA_ERROR_NOT_SUPPORTED" : "ERROR_OF_THE_STAND_IN";
  return 0;
}
int cuGetErrorString(int e, const char **s) {
  *s = "so says the stand-in for the driver";
  return 0;
}
int cuDeviceGetCount(int *n) { *n = DEVICES; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return i < 0 || i >= DEVICES ? 101 : 0; }
int cuDeviceGetName(char *name, int n, int d) { snprintf(name, n, "stand-in %d", d); return 0; }
int cuDeviceGetUuid(void *u, int d) { memset(u, 7 + d, 16); return 0; }
int cuDeviceGetUuid_v2(void *u, int d) { return cuDeviceGetUuid(u, d); }
int cuDeviceTotalMem_v2(size_t *n, int d) { *n = 1ull << 34; return 0; }
int cuMemGetInfo_v2(size_t *free, size_t *all) { *free = *all = 1ull << 34; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  static const int known[][2] = {{75, 9}, {76, 0}, {1, 1024}, {2, 1024}, {3, 1024}, {4, 64},
                                 {5, 2147483647}, {6, 65535}, {7, 65535}, {10, 32}, {16, 132}};
  *v = 1;
  for (int i = 0; i < 11; i++) if (known[i][0] == a) *v = known[i][1];
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int d) { return 0; }
int cuDevicePrimaryCtxGetState(int d, unsigned *f, int *active) { *f = 0; *active = 1; return 0; }
int cuCtxGetStreamPriorityRange(int *low, int *high) { *low = 0; *high = -5; return 0; }
int cuStreamGetPriority(void *s, int *p) { *p = 0; return 0; }
int cuStreamDestroy_v2(void *s) { return 0; }
int cuEventDestroy_v2(void *e) { return 0; }
int cuGetExportTable(const void **table, const void *id) { *table = 0; return 801; }
static int missing(void) { return 801; }
int cuGetProcAddress(const char *name, void **p, int version, uint64_t f) {
  char second[128];
  void *self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  snprintf(second, sizeof second, "%s_v2", name);
  if (!(*p = dlsym(self, second)) && !(*p = dlsym(self, name))) *p = (void *)missing;
  return 0;
}
int cuGetProcAddress_v2(const char *name, void **p, int version, uint64_t f, int *status) {
  if (status) *status = 0;
  return cuGetProcAddress(name, p, version, f);
}
"""


def load(source: str, devices: int = 1) -> _ctypes.CDLL:
    """Build and load these functions and those in `source`, C without includes."""
    with _tempfile.TemporaryDirectory() as folder:
        library = _pathlib.Path(folder, "libcuda.so.1")
        options = f"-shared -fPIC -w -pthread -DDEVICES={devices} -x c -Wl,-soname,libcuda.so.1"
        _subprocess.run(
            ["cc", *options.split(), "-o", library, "-", "-ldl"],
            input=_SHARED + source,
            text=True,
            check=True,
        )
        return _ctypes.CDLL(str(library))

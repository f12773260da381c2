"""A fake CUDA driver that counts launches and copies; its GPU computes nothing.

    import counting_gpu             # before Numba; needs a C compiler, `cc`

`counts()` returns the launches, the copies and the copied bytes since the last call.
"""

import ctypes as _ctypes

import built_driver as _built_driver

_driver = _built_driver.load(
    r"""
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
int cuMemcpyAsync(void *to, const void *from, size_t n) { return copy(to, from, n); }
"""
)
_counted = (_ctypes.c_longlong * 3).in_dll(_driver, "counted")


def counts() -> tuple[int, int, int]:
    """Launches, copies and copied bytes since the last call."""
    launches, copies, size = _counted
    _counted[:] = [0, 0, 0]
    return launches, copies, size

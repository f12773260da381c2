"""A fake CUDA driver with 132 multiprocessors that counts copies; it launches nothing.

    import counted_copies           # before Numba; needs a C compiler, `cc`
    counted_copies.counted()        # copies since the last call: (to the GPU, to the host)
    counted_copies.asked()          # how often the number of multiprocessors was asked for

Memory of the GPU is memory of the process, and the copies are real. A kernel is compiled and its
launch is accepted, but it does not run. Needs no GPU.
"""

import built_driver as _built_driver

_driver = _built_driver.load(r"""
static int times, to_gpu, to_host;
int asked(void) { return times; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  times += a == 16;                     /* the number of multiprocessors */
  *v = a == 16 ? 132 : a == 75 ? 9 : a == 76 ? 0 : 1024;
  return 0;
}
int taken(int host) {
  int *n = host ? &to_host : &to_gpu, was = *n;
  *n = 0;
  return was;
}
static int copy(int *count, void *to, const void *from, size_t n) {
  ++*count;
  memcpy(to, from, n);
  return 0;
}
int cuMemcpyHtoD_v2(void *to, const void *from, size_t n) { return copy(&to_gpu, to, from, n); }
int cuMemcpyDtoH_v2(void *to, const void *from, size_t n) { return copy(&to_host, to, from, n); }
""")


def counted():
    """Copies since the last call: (to the GPU, to the host)."""
    return _driver.taken(0), _driver.taken(1)


def asked():
    """How often this process has asked the driver for the number of multiprocessors."""
    return _driver.asked()

"""A fake CUDA driver whose GPU takes 0.2 s for each kernel, and computes nothing.

    import slow_gpu             # before Numba; needs a C compiler, `cc`

A launch puts the kernel into a queue and returns, as CUDA's documentation says. One queue serves
all streams. A synchronize, the wait for an event and a copy to the host sleep until the kernels
launched before them have had their time. Events note the time at which the queue reaches them.
"""

import built_driver as _built_driver

SECONDS = 0.2  # for each kernel

_built_driver.load(
    f"#define SECONDS {SECONDS}\n"
    r"""
#include <time.h>
/* the time at which the GPU will have done all that is in the queue */
static double end;
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static double reached(void) { double t = now(); return end > t ? end : t; }
static int wait_until(double then) {
  for (double left; (left = then - now()) > 0;) {
    struct timespec t = {left, (left - (long)left) * 1e9};
    nanosleep(&t, 0);
  }
  return 0;
}
int cuLaunchKernel(void) { end = reached() + SECONDS; return 0; }
int cuLaunchKernelEx(void) { return cuLaunchKernel(); }
int cuStreamSynchronize(void *s) { return wait_until(end); }
int cuCtxSynchronize(void) { return wait_until(end); }

static double event[1024];
int cuEventCreate(void **e, unsigned f) {
  static uintptr_t events;
  *e = (void *)(++events % 1024);
  return 0;
}
int cuEventRecord(void *e, void *s) { event[(uintptr_t)e] = reached(); return 0; }
int cuEventSynchronize(void *e) { return wait_until(event[(uintptr_t)e]); }
int cuEventQuery(void *e) { return event[(uintptr_t)e] > now() ? 600 : 0; }
int cuEventElapsedTime(float *ms, void *a, void *b) {
  *ms = (event[(uintptr_t)b] - event[(uintptr_t)a]) * 1000;
  return 0;
}

int cuMemFree_v2(void *p) { wait_until(end); free(p); return 0; }
int cuMemcpyDtoH_v2(void *to, const void *from, size_t n) {
  wait_until(end);
  memcpy(to, from, n);
  return 0;
}
"""
)

"""A fake CUDA driver for Numba that launches nothing and refuses sizes beyond CUDA's limits.

    import launch_limits                # before numba; needs a C compiler, `cc`
    launch_limits.last()                # (grid, block) of the last launch that it was asked for

Numba and its compiler are the real ones. A launch beyond the limits that the driver reports as
attributes of the device gets error 1, CUDA_ERROR_INVALID_VALUE, and so does a size of 0. Needs no
GPU, and never asks one.
"""

import ctypes as _ctypes

import built_driver as _built_driver

_library = _built_driver.load(r"""
static unsigned asked[6];
const unsigned *last_size(void) { return asked; }
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

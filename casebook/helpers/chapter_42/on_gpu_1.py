"""A fake CUDA driver (libcuda.so.1) with two devices, where all memory lies on GPU 1.

    import on_gpu_1                 # before any CUDA library; needs a C compiler, `cc`

It answers every question about a pointer with 1, and about address 0 with -2, the driver's word
for no device. Needs no GPU.
"""

import built_driver as _built_driver

_built_driver.load(
    r"""
int cuPointerGetAttribute(int *v, int a, uint64_t p) { *v = p ? 1 : -2; return 0; }
int cuPointerGetAttributes(unsigned n, int *a, int **v, uint64_t p) {
  for (unsigned i = 0; i < n; i++) *v[i] = p ? 1 : -2;
  return 0;
}
""",
    devices=2,
)

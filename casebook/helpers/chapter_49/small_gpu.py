"""A fake GPU with 16 GiB of memory that does nothing but count them.

    import small_gpu                # before any CUDA library; needs a C compiler, `cc`
    small_gpu.free()                # bytes that nobody has taken

CuPy and Numba are the real ones; fake_gpu says what stands in for the GPU. Needs no GPU.
"""

import fake_gpu as _fake_gpu

free = _fake_gpu.load().bytes_left

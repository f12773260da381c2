"""Arrays of digits on which a kernel for rows is likely to break: empty, odd, large, strided.

    for host, device in inputs(): ...

Needs a GPU.
"""

import numpy as _np
from numba import cuda as _cuda


def _on_gpu(host):
    return _cuda.to_device(host) if host.size else _cuda.device_array(host.shape, host.dtype)


def inputs(columns=(0, 1, 5)):
    """Pairs of the same two-dimensional int64 array in NumPy and on the GPU."""
    random = _np.random.default_rng(53)
    for rows in (0, 1, 7, 1_000_000):
        for width in columns:
            host = random.integers(0, 10, (rows, width))
            yield host, _on_gpu(host)
    host = random.integers(0, 10, (2001, 3 * max(columns)))
    yield host[::2, ::3], _on_gpu(host)[::2, ::3]
    yield host[:, : max(columns)], _on_gpu(host)[:, : max(columns)]
    host = random.integers(0, 10, (max(columns), 1001))
    yield host.T, _on_gpu(host).T

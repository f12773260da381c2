"""For cuda.core: a kernel that waits, then fills 1024 floats.

buffer = device.allocate(4096, stream=stream)
fill(stream, buffer, -1, 1_000_000_000)     # waits a second by the GPU's clock, then writes -1
values(buffer)                              # {-1.0}: content now; waits for no stream of cuda.core

NVRTC compiles it, so it also works without a GPU (see stand_in).
"""

import cuda.core as _core
import numpy as _np
from cuda.bindings import driver as _driver

if not hasattr(_core, "Device"):  # up to 0.4.2
    import cuda.core.experimental as _core

device = _core.Device()
device.set_current()
_SOURCE = r"""extern "C" __global__ void fill(float *out, float value, long long nanoseconds) {
    long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now < start + nanoseconds);
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}"""
_options = _core.ProgramOptions(arch="sm_{}{}".format(*device.compute_capability))
_program = _core.Program(_SOURCE, "c++", _options)
_fill = _program.compile("cubin").get_kernel("fill")


def fill(stream, buffer, value, nanoseconds=0):
    """Launch it on `stream` and return at once."""
    config = _core.LaunchConfig(grid=4, block=256)
    _core.launch(stream, config, _fill, buffer, _np.float32(value), _np.int64(nanoseconds))


def values(buffer):
    """The different numbers in the buffer, copied on the default stream."""
    host = _np.empty(1024, _np.float32)
    (error,) = _driver.cuMemcpyDtoH(host.ctypes.data, int(buffer.handle), host.nbytes)
    assert error == 0, error
    return set(host.tolist())

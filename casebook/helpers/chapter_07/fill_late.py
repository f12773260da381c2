"""For cuda.core: a kernel that waits, then fills 1024 floats. Compiled by NVRTC, so without a GPU too (see stand_in).

buffer = device.allocate(4096, stream=stream)
fill(stream, buffer, -1, 1_000_000_000)     # waits so many nanoseconds of the GPU's clock, here a second, and writes -1
values(buffer)                              # {-1.0}: what lies there now; waits for no stream that cuda.core made
mark(stream)                                # an event with a time; two of them subtracted are milliseconds
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
_program = _core.Program(
    _SOURCE, "c++", _core.ProgramOptions(arch="sm_{}{}".format(*device.compute_capability))
)
_fill = _program.compile("cubin").get_kernel("fill")


def fill(stream, buffer, value, nanoseconds=0):
    """Launch it on `stream` and return at once."""
    _core.launch(
        stream,
        _core.LaunchConfig(grid=4, block=256),
        _fill,
        buffer,
        _np.float32(value),
        _np.int64(nanoseconds),
    )


def values(buffer):
    """The different numbers in the buffer, copied on the default stream."""
    host = _np.empty(1024, _np.float32)
    (error,) = _driver.cuMemcpyDtoH(host.ctypes.data, int(buffer.handle), host.nbytes)
    assert error == 0, error
    return set(host.tolist())


def mark(stream):
    """An event behind the work that the stream has been given; up to cuda-core 0.4.2."""
    return stream.record(options=_core.EventOptions(enable_timing=True))

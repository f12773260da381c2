"""For cuda.core: a kernel that adds one to 32 floats.

buffer = filled(100)
launch(stream, config, add_one, buffer)
values(int(buffer.handle))              # {101.0}

NVRTC compiles it, so it also works without a GPU (see graph_driver).
"""

import numpy as _np
from cuda.bindings import driver as _driver
from cuda.core import Device as _Device
from cuda.core import LaunchConfig as _LaunchConfig
from cuda.core import Program as _Program
from cuda.core import ProgramOptions as _ProgramOptions

device = _Device()
device.set_current()
stream = device.create_stream()
config = _LaunchConfig(grid=1, block=32)
_SOURCE = 'extern "C" __global__ void add_one(float *x) { x[threadIdx.x] += 1; }'
_options = _ProgramOptions(arch="sm_{}{}".format(*device.compute_capability))
add_one = _Program(_SOURCE, "c++", _options).compile("cubin").get_kernel("add_one")


def filled(number):
    """A new buffer with this number, 32 times."""
    buffer = device.allocate(128, stream=stream)
    buffer.fill(_np.float32(number).tobytes(), stream=stream)
    return buffer


def values(address):
    """The different numbers in the 32 floats from this address on, when the stream is done."""
    stream.sync()
    host = _np.empty(32, _np.float32)
    (error,) = _driver.cuMemcpyDtoH(host.ctypes.data, address, host.nbytes)
    assert error == 0, error
    return set(host.tolist())

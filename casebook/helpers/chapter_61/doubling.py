"""A kernel on the current GPU: `twice` multiplies a float32 array by 2, one thread per element.

cuda.core, which raises on errors, compiles and loads it. `twice` is its handle for cuda.bindings.
"""

from cuda.bindings import driver as _driver
from cuda.core import Device as _Device
from cuda.core import Program as _Program
from cuda.core import ProgramOptions as _ProgramOptions

_SOURCE = """extern "C" __global__ void twice(float* x) {
    x[blockIdx.x * (size_t)blockDim.x + threadIdx.x] *= 2;
}"""
_device = _Device()
_device.set_current()
_options = _ProgramOptions(arch=f"sm_{_device.arch}")
_cubin = _Program(_SOURCE, "c++", _options).compile("cubin").code
_error, _module = _driver.cuModuleLoadData(_cubin)
assert _error == 0, _error
_error, twice = _driver.cuModuleGetFunction(_module, b"twice")
assert _error == 0, _error

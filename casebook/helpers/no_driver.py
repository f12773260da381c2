"""Without an NVIDIA driver, answers which version the driver has, and nothing else.

With a driver it does nothing. cuda.core asks for this number before it compiles or links, and
needs nothing else from a driver until it loads code.
"""

import cuda.bindings as _bindings
from cuda.bindings import driver as _driver

try:
    _driver.cuDriverGetVersion()
except Exception:
    _version = 13000 if _bindings.__version__.startswith("13.") else 12090
    _driver.cuDriverGetVersion = lambda: (_driver.CUresult.CUDA_SUCCESS, _version)

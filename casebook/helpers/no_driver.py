"""Where there is no NVIDIA driver, answers in its place which version it is, and nothing else. Where there is one, does nothing.

cuda.core asks for this number before it compiles or links, and needs no more of a driver until code is loaded.
"""

import cuda.bindings as _bindings
from cuda.bindings import driver as _driver

try:
    _driver.cuDriverGetVersion()
except Exception:
    _version = 13000 if _bindings.__version__.startswith("13.") else 12090
    _driver.cuDriverGetVersion = lambda: (_driver.CUresult.CUDA_SUCCESS, _version)

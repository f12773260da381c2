"""Old Numba on NVIDIA drivers from 580 on: import this before the first CUDA call.

Numba's built-in CUDA target before 0.63 and numba-cuda before 0.8.1 call NAME_v2 wherever the
driver has one. Drivers from 580 on have cuCtxGetDevice_v2 and cuCtxSynchronize_v2, which take one
more argument. This calls the two by their old names, as later releases do.
Source: https://github.com/NVIDIA/numba-cuda/pull/185
"""

from numba.cuda.cudadrv import driver as _driver

_newest_version_of = _driver.Driver._find_api


def _find_api(self: _driver.Driver, name: str) -> object:
    if name in ("cuCtxGetDevice", "cuCtxSynchronize"):
        return getattr(self.lib, name)
    return _newest_version_of(self, name)


_driver.Driver._find_api = _find_api

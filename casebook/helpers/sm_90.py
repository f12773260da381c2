"""Numba's CUDA target without a GPU: compiles for compute capability 9.0, loads and runs nothing.

For the built-in target and numba-cuda. Where they ask the current device for its compute
capability, this answers; where they load a compiled kernel onto the device, nothing happens. They
still need a CUDA toolkit, installed or from wheels.
"""

import gc as _gc
from types import SimpleNamespace as _Namespace

from numba.cuda import dispatcher as _dispatcher
from numba.cuda.cudadrv import devices as _devices

_device = _Namespace(compute_capability=(9, 0))
_dispatcher.get_current_device = lambda: _device
_devices.get_context = lambda *device: _Namespace(device=_device)
_dispatcher._Kernel.bind = lambda kernel: None
_gc.disable()  # a compiler's objects live on: to search them for garbage takes a sixth of the time

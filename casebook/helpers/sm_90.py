"""Numba's CUDA target without a GPU: it compiles for compute capability 9.0, and loads and launches nothing.

For the built-in target and numba-cuda. Where they ask the current device for its compute capability, this answers; where they
would load a compiled kernel onto the device, nothing happens. What they need beside it is a CUDA toolkit, of wheels or not.
"""

from types import SimpleNamespace as _Namespace

from numba.cuda import dispatcher as _dispatcher
from numba.cuda.cudadrv import devices as _devices

_device = _Namespace(compute_capability=(9, 0))
_dispatcher.get_current_device = lambda: _device
_devices.get_context = lambda *device: _Namespace(device=_device)
_dispatcher._Kernel.bind = lambda kernel: None

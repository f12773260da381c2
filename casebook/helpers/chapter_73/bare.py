"""No CUDA toolkit of this machine is to be found, so that a cell ends alike on every machine.

hidden.py hides its libraries from whoever asks for them by name in this process. cuda-pathfinder
also asks in a second process where the toolkit is: here the answer is that there is none.
"""

import hidden as _hidden  # noqa: F401

try:
    from cuda.pathfinder._dynamic_libs import load_nvidia_dynamic_lib as _search
except ImportError:
    pass
else:
    _search._try_ctk_root_canary = lambda context: None

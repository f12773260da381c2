"""Makes Warp quiet and lets it run on the CPU, also where there is a GPU.

    import warp_cpu  # before or after `import warp as wp`

Without a driver, Warp's C++ code writes a warning to file descriptor 2 when it starts, whatever
the log level, so that descriptor is closed meanwhile. Compiled kernels stay in Warp's own cache,
so only the first run compiles them.
"""

import os as _os

import warp as _wp

_wp.config.quiet = True  # Warp up to 1.12
_wp.config.log_level = 40  # later releases: errors only

_stderr, _nowhere = _os.dup(2), _os.open(_os.devnull, _os.O_WRONLY)
_os.dup2(_nowhere, 2)
try:
    _wp.init()
finally:
    _os.dup2(_stderr, 2)
    _os.close(_stderr)
    _os.close(_nowhere)
_wp.set_device("cpu")

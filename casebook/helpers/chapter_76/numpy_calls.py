"""A NumPy call that each thread of a CUDA kernel makes: `out[i] = call`, where `i` is its number.

compiled_line compiles it and says what comes of it. Needs no GPU.
"""

import compiled_line as _compiled_line

_LINE = "i = cuda.grid(1); out[i] = "


def outcome(call: str) -> str:
    """'compiles', or the type of the exception and the words of its message that tell why."""
    return _compiled_line.outcome(_LINE + call, (_compiled_line.MISSING, *_compiled_line.TELLING))


def ptx(call: str) -> str:
    """The PTX of the kernel."""
    return _compiled_line.ptx(_LINE + call)

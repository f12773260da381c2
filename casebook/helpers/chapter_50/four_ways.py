"""For CuPy: y = x + 1 and a copy of the same bytes, and what it takes to time them in turn.

`clock(kernel)` gives the seconds until the call returns, `clock(kernel, wait)` those until the GPU
is idle. `in_turn({"copy": lambda: clock(copy, wait)}).median("copy")` measures round by round.
"""

import time as _time
from collections.abc import Callable as _Callable

import cupy as _cupy
from timing import Rounds as _Rounds

x = _cupy.ones(2**28, _cupy.float32)
y = _cupy.empty_like(x)
_add_one = _cupy.ElementwiseKernel("float32 x", "float32 y", "y = x + 1", "add_one")
wait = _cupy.cuda.Device().synchronize


def kernel(size: int = x.size) -> None:
    """Launch y = x + 1 for the first elements."""
    _add_one(x[:size], y[:size])


def copy() -> None:
    """Let the driver copy x to y."""
    _cupy.copyto(y, x)


def clock(
    call: _Callable[[], object],
    then: _Callable[[], object] = lambda: None,
    first: _Callable[[], object] = wait,
) -> float:
    """Seconds of a call, and of what comes then; the GPU is idle before, unless `first` differs."""
    first()
    start = _time.perf_counter()
    call()
    then()
    return _time.perf_counter() - start


def in_turn(ways: dict[str, _Callable[[], float]]) -> _Rounds:
    """Rounds of functions that return seconds."""
    answers: list[float] = []

    def measure() -> dict[str, list[float]]:
        answers.clear()
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(20):
            answers.append(clock(_cupy.cuda.Event().record, wait))
            for name, way in ways.items():
                seconds[name].append(float(way()))
        return seconds

    return _Rounds(measure(), measure, answers)

"""A clock, a queue and a count of copies for Numba's simulator: NUMBA_ENABLE_CUDASIM=1, no GPU.

    from stopwatch import clock, gpu    # before the first launch
    from watch import show
    ...
    show(gpu)                           # what Python and the GPU did, one below the other

The simulator runs each kernel at once; only the clock pretends, in microseconds. As with Numba and
a GPU, a launch returns before its kernel begins, a copy waits for the kernels before it, and a
launch copies each NumPy array that it gets to the GPU and back. A read or a write of one element
from the host is a copy, too. Streams, page-locked memory and cuda.In and cuda.Out are not known.
"""
# mypy: allow-untyped-defs

from html import escape as _escape

import numpy as _np
from numba import cuda as _cuda
from numba.cuda.simulator import kernel as _simulator
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray as _Array
from watch import BLUE as _BLUE
from watch import INK as _INK
from watch import OCHRE as _OCHRE
from watch import VIOLET as _VIOLET
from watch import refused as _refused

KERNEL, PLACES = 1000, 1000  # time of a kernel, and how many fit into the queue
_COLORS = {"launch": _OCHRE, "kernel": _VIOLET, "wait": "#b4b4b4"}
_LEFT, _WIDTH = 60, 480


class Gpu:
    """What Python and the GPU did, as (what, start, end); `ends` are the ends of the kernels."""

    def __init__(self, launch=5, copy=200, wait=0, compiles=0, queued=0):
        self.launch, self.copy, self.wait, self.compiles = launch, copy, wait, compiles
        self.now, self.waits, self.ends = 0.0, 0, [queued]
        self.python, self.kernels = [], []

    def work(self, what, time):
        self.python.append((what, self.now, self.now + time))
        self.now += time

    def put(self, time=KERNEL):
        """Launch a kernel that takes this time."""
        self.work("launch", self.launch + self.compiles)
        self.compiles = 0
        if len(self.ends) > PLACES:
            self.now = max(self.now, self.ends[-PLACES])
        start = max(self.now, self.ends[-1])
        self.ends.append(start + time)
        self.kernels.append(("kernel", start, start + time))

    def finish(self):
        if self.ends[-1] > self.now:
            self.work("wait", self.ends[-1] - self.now)

    def synchronize(self):
        self.finish()
        self.waits += 1
        self.now += self.wait * (1 + self.waits % 5 / 20)  # never the same twice in a row

    def move(self, what):
        self.finish()
        self.work(what, self.copy)

    @property
    def copies(self):
        return [what for what, *_ in self.python if what.startswith("to the ")]

    def svg(self):
        scale = (_WIDTH - _LEFT - 4) / max(self.now, self.ends[-1], 1)
        parts, said = [], []
        for name, y, boxes in ("Python", 8, self.python), ("GPU", 82, self.kernels):
            parts.append(f'<text x="4" y="{y + 20}" fill="{_INK}">{name}</text>')
            for what, start, end in boxes:
                color, x, width = _COLORS.get(what, _BLUE), _LEFT + start * scale, end - start
                short = "copy" if what.startswith("to the ") else what
                low = 46 if width * scale > 50 else 62  # where the next label is close
                parts.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{max(width * scale, 3):.1f}" height="30" '
                    f'fill="{color}"/>'
                    f'<text x="{x:.1f}" y="{y + low}" fill="{_INK}">{short} {width:,g}</text>'
                )
                said.append(f"{name}: {what} from {start:g} to {end:g}")
        words = _escape("Microseconds. " + "; ".join(said))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} 136" '
            f'width="{_WIDTH}" height="136" font-family="sans-serif" font-size="13" role="img" '
            f'aria-label="{words}">\n<title>Timeline in microseconds</title>\n'
            + "\n".join(parts)
            + "\n</svg>\n"
        )


gpu = Gpu()
_inside = False  # in a launch, whose own copies and accesses of elements are the kernel's


def clock() -> float:
    """The time in microseconds."""
    return gpu.now


def restart(**times) -> Gpu:
    """Begin with another GPU, at time 0."""
    gpu.__init__(**times)  # type: ignore[misc]
    return gpu


def _launch(kernel, *arguments, original=_simulator.FakeCUDAKernel.__call__):
    global _inside
    if _inside or kernel.grid_dim is None:
        return original(kernel, *arguments)
    if why := _refused(kernel.grid_dim, kernel.block_dim):
        raise RuntimeError(why)
    mine = [one for one in arguments if isinstance(one, _np.ndarray) and one.ndim]
    for _ in mine:
        gpu.move("to the GPU, by a launch")
    _inside = True
    try:
        original(kernel, *arguments)
    finally:
        _inside = False
    gpu.put()
    for _ in mine:
        gpu.move("to the host, by a launch")


def _counted(what, original, counts=lambda result: True):
    def copied(*arguments, **options):
        result = original(*arguments, **options)
        if not _inside and counts(result):
            gpu.move(what)
        return result

    return copied


def _attribute(array, name):
    value = getattr(array._ary, name, None)
    refused = value is None or (callable(value) and name != "squeeze") or name.startswith("__array")
    if refused:  # __array_interface__, too: NumPy would read without a copy
        raise AttributeError(f"an array on the GPU has no {name}")
    return value


def _replace():
    _simulator.FakeCUDAKernel.__call__ = _launch
    _cuda.to_device = _counted("to the GPU", _cuda.to_device)
    _cuda.synchronize = gpu.synchronize
    _Array.copy_to_host = _counted("to the host", _Array.copy_to_host)
    _Array.copy_to_device = _counted("to the GPU", _Array.copy_to_device)
    _Array.__setitem__ = _counted("to the GPU", _Array.__setitem__)
    one = lambda result: not isinstance(result, _Array)  # noqa: E731
    _Array.__getitem__ = _counted("to the host", _Array.__getitem__, one)
    _Array.__array__ = lambda array, *arguments, **options: array.copy_to_host()
    _Array.__getattr__ = _attribute
    for name in "add", "sub", "mul", "floordiv", "truediv", "mod", "pow":
        delattr(_Array, f"__{name}__")  # which arrays on a GPU do not have


_replace()

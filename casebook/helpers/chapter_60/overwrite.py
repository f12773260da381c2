"""Ways to overwrite an array that a tape has read, and what Warp says to them; a kernel for x³.

from overwrite import WRITES, attempt, launch
"""

import contextlib as _contextlib
import io as _io
import warnings as _warnings
from types import SimpleNamespace as _Namespace
from typing import Any as _Any

import warp as _wp


@_wp.kernel
def _square(x: _wp.array(dtype=float), y: _wp.array(dtype=float)):
    y[_wp.tid()] = x[_wp.tid()] * x[_wp.tid()]


@_wp.kernel
def _refill(x: _wp.array(dtype=float)):
    x[_wp.tid()] = 100.0


@_wp.kernel
def _cube(x: _wp.array(dtype=_Any), y: _wp.array(dtype=_Any)):
    i = _wp.tid()
    y[i] = x[i] * x[i] * x[i]


def _array(value):
    return _wp.array([value], dtype=float, requires_grad=True)


WRITES = {
    "a kernel": lambda x: _wp.launch(_refill, dim=1, outputs=[x]),
    "wp.copy": lambda x: _wp.copy(x, _array(100.0)),
    "x.assign": lambda x: x.assign([100.0]),
    "x.fill_": lambda x: x.fill_(100.0),
    "x.numpy()[0] = 100": lambda x: x.numpy().fill(100.0),  # a view, on the CPU
}


def attempt(write, recording):
    """The gradient of x² at 3, with x overwritten while the tape records or after that."""
    x, y = _array(3.0), _array(0.0)
    with _contextlib.redirect_stderr(_io.StringIO()) as stderr, _warnings.catch_warnings():
        _warnings.simplefilter("always", UserWarning)
        level, _wp.config.log_level = _wp.config.log_level, _wp.LOG_WARNING
        with _wp.Tape() as tape:
            _wp.launch(_square, dim=1, inputs=[x], outputs=[y])
            if recording:
                write(x)
        if not recording:
            write(x)
        tape.backward(y)
        _wp.config.log_level = level
    warned = "has already been read from" in stderr.getvalue()
    return _Namespace(gradient=x.grad.numpy()[0], said="warns" if warned else "silent")


def launch(tape, x):
    """Records y = x³ on the tape, and returns y."""
    y = _wp.zeros(x.size, dtype=x.dtype, requires_grad=True)
    with tape:
        _wp.launch(_cube, dim=x.size, inputs=[x], outputs=[y])
    return y

"""Checks a halo exchange in which each device sends its edge rows.

It runs on simulated devices, in many random orders, and with one device delayed.
"""

import contextlib as _contextlib
import itertools as _itertools

import halo as _halo
import numpy as _np
import pretend as _pretend

_SWEEPS = 10


class _Watched(_pretend.Device):
    """Counts waits and sweeps; with `held`, the sweep of that number never begins."""

    waits, asked, swept, held = 0, 0, 0, None

    def wait(self, event, stream):
        self.waits += 1
        super().wait(event, stream)

    def sweep(self, u, v, stream):
        if self.asked == self.held:
            super().wait({"reached": False}, stream)
        self.asked += 1
        super().sweep(u, v, stream)
        self.streams[stream].append(self._count)

    def _count(self):
        self.swept += 1


def check_pushed(pushed):
    """A sentence that begins with "Correct" or "Not yet"."""
    plate = _np.random.default_rng(3).random((20, 7))
    right, spare = _halo.by_numpy(plate, _SWEEPS), False
    for gpus, seed in _itertools.product((1, 2, 3), range(150)):
        devices = _pretend.devices(gpus, seed, _Watched)
        strips = _halo.cut(plate, devices)
        try:
            pushed(strips, _SWEEPS)
            _pretend.finish(devices)
        except RuntimeError:
            return f"Not yet: with {gpus} devices every stream waits for another."
        if not _np.array_equal(_halo.joined(plate, strips), right):
            return f"Not yet: order {seed} of {gpus} devices is wrong."
        spare = spare or any(
            device.waits > _SWEEPS * ((k > 0) + (k + 1 < gpus)) for k, device in enumerate(devices)
        )
    if spare:
        enough = "one for each neighbour and sweep is enough."
        return f"Not yet: right, but with more waits than needed: {enough}"
    for sweep, held in _itertools.product(range(_SWEEPS), range(3)):
        if idle := _idle(pushed, plate, sweep, held):
            late = f"sweep {sweep} of device {idle[0]}"
            return f"Not yet: right, but {late} waits for that of device {held}."
    return "Correct: 450 orders, and in no sweep does a device wait for another's."


def _idle(pushed, plate, sweep, held):
    """Those of three devices that do not finish a sweep before which one is delayed."""
    devices = _pretend.devices(3, 0, _Watched)
    devices[held].held = sweep
    pushed(_halo.cut(plate, devices), sweep + 1)
    with _contextlib.suppress(RuntimeError):
        _pretend.finish(devices)
    return [k for k, device in enumerate(devices) if k != held and device.swept <= sweep]

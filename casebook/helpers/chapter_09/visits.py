"""Checks a reader's context manager that makes another device current, on the fake driver."""

import two_devices as _two_devices
from cuda.bindings import driver as _driver
from cuda.core import Device as _Device


def _paid(visit, number, inner=None, fail=False):
    """The error in a visit to device `number`, or None.

    Inside it there is a visit to `inner`, if given, and an exception if `fail`.
    """
    before = _two_devices.current()
    try:
        with visit(number):
            if _two_devices.current() != number:
                return (
                    f"inside the visit to {number} the current device is {_two_devices.current()}"
                )
            if inner is not None and (said := _paid(visit, inner)):
                return said
            if _two_devices.current() != number:
                ended = f"the visit to {inner} inside the one to {number} ended"
                return f"{ended} on {_two_devices.current()}"
            if fail:
                raise KeyError
    except KeyError:
        pass
    if _two_devices.current() != before:
        return f"before the visit: {before}, after it: {_two_devices.current()}"
    return None


def check_visits(visit):
    """A sentence that begins with "Correct" or "Not yet"."""
    for home in (None, 0, 1):
        while _two_devices.current() is not None:
            _driver.cuCtxPopCurrent()
        if home is not None:
            _Device(home).set_current()
        for number, inner, fail in (
            (1, None, False),
            (0, None, False),
            (0, 1, False),
            (1, 1, False),
            (1, None, True),
            (0, 1, True),
        ):
            if said := _paid(visit, number, inner, fail):
                return f"Not yet: {said}{' (an exception inside)' * fail}."
    return "Correct: eighteen visits, and the thread has not changed."

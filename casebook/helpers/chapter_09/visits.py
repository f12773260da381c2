"""Checks a reader's context manager that makes another device current, on the fake driver."""

import two_devices as _two_devices
from cuda.bindings import driver as _driver


class _Inside(Exception):
    """Raised inside a visit."""


def _stack():
    """The devices of the contexts on this thread's stack, the current one first."""
    found, contexts = [], []
    while (number := _two_devices.current()) is not None:
        found.append(number)
        contexts.append(_driver.cuCtxPopCurrent()[1])
    for context in reversed(contexts):
        _driver.cuCtxPushCurrent(context)
    return found


def _paid(visit, number, inner=None, fail=False):
    """What is wrong with a visit to device `number`, or None.

    Inside it there is a visit to `inner`, if given, and an exception if `fail`.
    """
    before = _stack()
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
                raise _Inside
    except _Inside:
        pass
    except Exception as error:
        return f"the visit to {number} raises {type(error).__name__}: {error}"
    else:
        if fail:
            return f"the visit to {number} swallows the exception"
    after = _stack()
    top, then = (stack[0] if stack else None for stack in (before, after))
    if then != top:
        return f"before the visit: {top}, after it: {then}"
    if after[1:] != before[1:]:
        below = f"below the current one lay {before[1:]}, now {after[1:]}"
        return f"the current device is back, but the rest of the stack is not: {below}"
    return None


def check_visits(visit):
    """A sentence that begins with "Correct" or "Not yet"."""
    for home in ((), (0,), (1,), (0, 1)):
        while _two_devices.current() is not None:
            _driver.cuCtxPopCurrent()
        for number in home:
            _driver.cuCtxPushCurrent(_driver.cuDevicePrimaryCtxRetain(number)[1])
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
    return "Correct: 24 visits, and the thread has not changed."

"""What a fused function computes in, and whether its result is NumPy's.

`types` and `verdict` need no GPU; the module no_device makes the arrays.
"""

import re

import cupy
import numpy as np


def fuse(text, names="x, s"):
    """The expression `text` of these names, fused; its `func` is the plain function."""
    function = eval(f"lambda {names}: {text}", {"cp": cupy, "np": np})
    return cupy.fuse(kernel_name="expression")(function)


def types(fused):
    """The C types of the results of its operations, in order; None on the second path."""
    if fused.new_fusion:
        return None
    ((kernel, _),) = fused._memo.values()
    return re.findall(r"^([a-z][\w:<> ]*) v\d+;$", getattr(kernel, "operation", ""), re.M)


def as_numpy(text, dtype, s):
    """Run an expression fused; AssertionError where type or numbers are not NumPy's."""
    host = np.array([0, 1, 2, 3, 100], dtype)
    want = eval(text, {"cp": np, "np": np, "x": host, "s": s})
    got = fuse(text)(cupy.asarray(host), s).get()
    assert got.dtype == want.dtype, f"{text}, {dtype}, {s!r}: {got.dtype}, not {want.dtype}"
    assert np.allclose(got, want, rtol=1e-5), f"{text}, {dtype}, {s!r}: {got}, not {want}"
    return got.dtype


def verdict(stopped, text, answer):
    """What is wrong with `answer` in place of `text`, expressions of x and n; None if nothing."""
    if not isinstance(answer, str) or not answer.strip():
        return f"Not yet: write an expression for `{text}`, as text."
    host = np.array([-1, 0, 2, 3], "float32")
    try:
        fused = fuse(answer, "x, n")
        stopped(fused, cupy.ndarray(host.shape, host.dtype), 1000)
        for n in 3, 1000, 10**9:
            got, want = (eval(t, {"cp": np, "np": np, "x": host, "n": n}) for t in (answer, text))
            if np.shape(got) != host.shape or not np.allclose(got, want, rtol=1e-5, atol=0):
                return f"Not yet: `{answer}` is something else than `{text}`."
    except Exception as error:
        return f"Not yet: `{answer}` raises {type(error).__name__}: {error}"
    found = types(fused)
    if found is None:
        return f"Not yet: `{answer}` leaves the fast path of fuse (chapter 4)."
    if narrow := {"signed char", "float16"}.intersection(found):
        return (
            f"Not yet: `{answer}` is computed in {narrow.pop()}. Which operation there has no array"
            " and no NumPy scalar of the other's kind? On which side of it?"
        )
    return None

"""Functions fused by CuPy against NumPy's: arrays and numbers of every kind, one call after
another. Runs without a GPU: the generated code is read, and NumPy computes with its types."""

import re

from hypothesis import strategies as st

from casebook.hunt.targets import Target
from casebook.hunt.targets.arrays import CUPY, DTYPES, numbers

SCALARS = st.one_of(
    st.sampled_from(["True", "False", "0", "1", "2", "-1", "3", "127", "128", "256", "1000"]),
    st.sampled_from(["70000", "-70000", "2**31", "2**40", "0.0", "0.5", "-1.5", "70000.0", "1e-9"]),
    st.sampled_from(["1e30", "2.5", "2j"]),
)  # fmt: skip
GIVEN = st.one_of(
    st.sampled_from(["True", "3", "1000", "-1", "2.5", "70000.0"]),
    st.builds("np.{}(3)".format, st.sampled_from(DTYPES[1:])),
)
BINARY = ["+", "-", "*", "/", "//", "%", "<", ">", "==", "!=", "<=", ">=", "&", "|", "^", "<<"]
UNARY = ["-{}", "~{}", "xp.absolute({})", "xp.sqrt(xp.absolute({}))", "xp.sign({})",
         "xp.floor({})", "xp.rint({})", "xp.isnan({})", "xp.logical_not({})", "xp.square({})",
         "xp.conj({})", "xp.arctan({})"]  # fmt: skip
CALLS = ["maximum", "minimum", "add", "true_divide", "logical_and", "logical_xor", "fmod",
         "arctan2", "hypot", "copysign", "remainder", "left_shift", "power"]  # fmt: skip


def grown(one: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Larger expressions. Functions get an array, since NumPy's of a number are no array's."""
    array = one.filter(re.compile(r"\b[xy]\b").search)
    return st.one_of(
        st.builds("({} {} {})".format, one, st.sampled_from(BINARY), one),
        st.builds("xp.{}({}, {})".format, st.sampled_from(CALLS), one, array),
        st.builds(lambda form, text: f"({form.format(text)})", st.sampled_from(UNARY), array),
        st.builds("xp.where({} {} {}, {}, {})".format, array, st.sampled_from(["<", "!="]), one,
                  one, one),
    )  # fmt: skip


names = st.sampled_from(["x", "x", "y", "s", "t"])
expressions = st.recursive(names | SCALARS, grown, max_leaves=5)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Arrays x and y, a fused function of them and of s and t, and one or two calls."""
    lines = []
    shape = draw(st.sampled_from([3, 3, 1, 0]))
    for name in "xy":
        dtype = draw(st.sampled_from(DTYPES))
        values = ", ".join(draw(numbers(dtype)) for _ in range(shape))
        lines.append(f"{name} = np.array([{values}], {dtype!r})")
    text = draw(expressions.filter(re.compile(r"\(.*\b[xy]\b").search))
    lines.append(f"f = fuse(lambda x, y, s, t: {text})")
    calls = [f"f(x, y, {draw(GIVEN)}, {draw(GIVEN)})" for _ in range(draw(st.integers(1, 2)))]
    return "\n".join([*lines, *calls])


FRAME = """import cupy
import numpy as np


def program(xp, fuse):
{program}


def fused(function):
    function = cupy.fuse(kernel_name="program")(function)
    return lambda *values: function(*(cupy.asarray(v) if isinstance(v, np.ndarray) else v
                                      for v in values)).get()


right, got = program(np, lambda function: function), program(cupy, fused)
print("NumPy:", right, right.dtype)
print("fused:", got, got.dtype)
assert got.dtype == right.dtype
np.testing.assert_allclose(got, right, rtol=1e-5)
"""

TARGET = Target("fused functions of CuPy against NumPy's", CUPY, programs(), FRAME)

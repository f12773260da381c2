"""CuPy's functions against NumPy's and SciPy's: awkward numbers, dtypes and layouts."""

from hypothesis import strategies as st

from casebook.hunt.targets import Target
from casebook.hunt.targets.arrays import CUPY, DTYPES, FLOATS, FRAME, numbers, shapes

UNARY = ["negative", "absolute", "sign", "square", "sqrt", "cbrt", "exp", "expm1", "log", "log1p",
         "sin", "cos", "tan", "arctan", "sinh", "tanh", "floor", "ceil", "trunc", "rint", "isnan",
         "isinf", "isfinite", "signbit", "logical_not", "invert", "conj", "angle", "reciprocal",
         "spacing", "i0", "sinc", "nan_to_num", "deg2rad"]  # fmt: skip
BINARY = ["add", "subtract", "multiply", "true_divide", "floor_divide", "remainder", "fmod",
          "power", "float_power", "maximum", "minimum", "fmax", "fmin", "hypot", "arctan2",
          "copysign", "nextafter", "logaddexp", "logaddexp2", "left_shift", "right_shift",
          "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_xor", "equal",
          "less", "greater_equal", "gcd", "lcm", "heaviside", "ldexp", "divmod",
          "outer", "kron", "isin", "searchsorted", "convolve", "correlate"]  # fmt: skip
REDUCTIONS = ["sum", "prod", "max", "min", "mean", "std", "var", "argmax", "argmin", "all", "any",
              "ptp", "median", "nansum", "nanmax", "nanmean", "nanargmin", "cumsum", "cumprod",
              "count_nonzero", "sort", "argsort", "diff", "flip", "unique", "nonzero",
              "trapezoid", "average"]  # fmt: skip
NDIMAGE = ["median_filter({}, 3)", "uniform_filter({}, 3)", "maximum_filter({}, 3)",
           "binary_erosion({})", "label({})[0]", "distance_transform_edt({})",
           "shift({}, 1, order=1)", "zoom({}, 2, order=1)", "gaussian_filter({}, 1.0)",
           "sobel({})", "convolve({0}, {0})"]  # fmt: skip
LAYOUTS = ["{}", "{}", "{}[::-1]", "{}[::2]", "{}.T", "xp.asfortranarray({})", "{}[..., None]",
           "xp.broadcast_to({0}, (2, *{0}.shape))", "{}[1:]", "{}[:0]"]  # fmt: skip


@st.composite
def arrays(draw: st.DrawFn) -> str:
    dtype, shape = draw(st.sampled_from(DTYPES)), draw(shapes)
    size = 1
    for length in shape:
        size *= length
    values = ", ".join(draw(st.lists(numbers(dtype), min_size=size, max_size=size)))
    return f"xp.array([{values}], {dtype!r}).reshape({shape})"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """One or two arrays, each in some layout, and a function of them."""
    lines = [f"a = {draw(arrays())}"]
    one = draw(st.sampled_from(LAYOUTS)).format("a")
    kind = draw(st.sampled_from(["unary", "binary", "reduction", "index", "ndimage", "astype"]))
    if kind == "unary":
        return "\n".join([*lines, f"xp.{draw(st.sampled_from(UNARY))}({one})"])
    if kind == "reduction":
        options = draw(st.sampled_from(["", ", axis=0", ", axis=-1", ", axis=None"]))
        return "\n".join([*lines, f"xp.{draw(st.sampled_from(REDUCTIONS))}({one}{options})"])
    if kind == "ndimage":
        return "\n".join([*lines, f"ndimage.{draw(st.sampled_from(NDIMAGE)).format(one)}"])
    if kind == "astype":
        return "\n".join([*lines, f"{one}.astype({draw(st.sampled_from(FLOATS + DTYPES))!r})"])
    lines.append(f"b = {draw(arrays())}")
    two = draw(st.sampled_from([*LAYOUTS, "2", "0.5", "-1"])).format("b")
    if kind == "index":
        form = draw(
            st.sampled_from(
                [
                    "{}[{}]",
                    "xp.take({}, {})",
                    "xp.where({1}, {0}, {0})",
                    "xp.clip({}, {}, 3)",
                    "[xp.putmask({0}, {1}, 1), {0}][1]",
                    "xp.choose({1}, [{0}, {0}])",
                    "xp.bincount({1} % 8)",
                ]
            )
        )
        return "\n".join([*lines, form.format(one, two)])
    return "\n".join([*lines, f"xp.{draw(st.sampled_from(BINARY))}({one}, {two})"])


TARGET = Target(
    "functions of CuPy against NumPy's and SciPy's",
    (*CUPY, "scipy==1.15.3"),
    programs(),
    FRAME.format(seen="str(array.dtype), array.shape, repr(array)")
    .replace("import numpy\n", "import cupyx.scipy.ndimage\nimport numpy\nimport scipy.ndimage\n")
    .replace(
        "def program(xp):\n",
        "def program(xp):\n    ndimage = (scipy if xp is numpy else cupyx.scipy).ndimage\n",
    ),
    gpu=True,
)

"""Views of CuPy arrays against NumPy's: indexing, shapes, axes. Runs without a GPU."""

from hypothesis import strategies as st

from casebook.hunt.targets import Target
from casebook.hunt.targets.arrays import CUPY, DTYPES, FRAME, shapes

axes = st.integers(-3, 2)
sizes = st.integers(-1, 3)
steps = st.sampled_from(["", "1", "2", "-1", "-2"])
ends = st.sampled_from(["", "0", "1", "2", "5", "-1", "-2", "-5"])
parts = st.one_of(
    st.builds("{}:{}:{}".format, ends, ends, steps),
    st.sampled_from(["0", "-1", "None", "...", ":", "1"]),
)
indices = st.lists(parts, min_size=1, max_size=3).map(lambda items: f"[{', '.join(items)}]")
some = st.lists(sizes, max_size=3).map(tuple)
order = st.sampled_from("CFAK")
METHODS = st.one_of(
    indices,
    st.just(".T"),
    st.sampled_from([".real", ".imag", ".squeeze()", ".ravel()", ".ravel('F')", ".ravel('K')"]),
    st.builds(".reshape{!r}".format, some),
    st.builds(".reshape({!r}, order={!r})".format, some, st.sampled_from("CFA")),
    st.builds(".transpose{!r}".format, st.lists(axes, max_size=3).map(tuple)),
    st.builds(".swapaxes({}, {})".format, axes, axes),
    st.builds(".squeeze({})".format, axes | st.tuples(axes, axes)),
    st.builds(".diagonal({}, {}, {})".format, axes, axes, axes),
    st.builds(".view({!r})".format, st.sampled_from(DTYPES)),
    st.builds(".astype({!r}, copy=False)".format, st.sampled_from(DTYPES)),
)
FUNCTIONS = st.one_of(
    st.builds("xp.expand_dims({{}}, {})".format, axes | st.tuples(axes, axes)),
    st.builds("xp.moveaxis({{}}, {}, {})".format, axes, axes),
    st.builds("xp.rollaxis({{}}, {}, {})".format, axes, axes),
    st.builds("xp.broadcast_to({{}}, {})".format, shapes),
    st.builds("xp.flip({{}}, {})".format, axes | st.none() | st.tuples(axes, axes)),
    st.builds("xp.lib.stride_tricks.as_strided({{}}, {}, {})".format, shapes,
              st.lists(st.sampled_from([0, 1, 2, 4, 8, -4, 16]), max_size=3).map(tuple)),
    st.builds("xp.broadcast_arrays({{}}, xp.empty({}))[0]".format, shapes),
    st.builds("xp.{}({{}}, {})[-1]".format, st.sampled_from(["hsplit", "vsplit", "dsplit"]),
              st.integers(1, 3) | st.lists(st.integers(-2, 5), max_size=2)),
    st.builds("xp.rot90({{}}, {}, ({}, {}))".format, axes, axes, axes),
    st.builds("xp.{}({{}})".format, st.sampled_from(
        ["fliplr", "flipud", "atleast_1d", "atleast_2d", "atleast_3d", "ascontiguousarray",
         "asfortranarray", "squeeze", "matrix_transpose", "diag"])),
    st.builds("xp.split({{}}, {}, {})[-1]".format,
              st.integers(0, 3) | st.lists(st.integers(-5, 5), max_size=2), axes),
    st.builds("xp.array_split({{}}, {}, {})[0]".format, st.integers(0, 3), axes),
    st.builds("xp.lib.stride_tricks.sliding_window_view({{}}, {}, {})".format,
              st.integers(0, 3), axes),
)  # fmt: skip


@st.composite
def views(draw: st.DrawFn) -> str:
    """Some view of the array `a`."""
    text = "a"
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            text += draw(METHODS)
        else:
            text = draw(FUNCTIONS).format(text)
    return text


@st.composite
def programs(draw: st.DrawFn) -> str:
    """An array, and a view of it or whether two views share memory."""
    order = draw(st.sampled_from("CF"))
    made = f"a = xp.empty({draw(shapes)}, {draw(st.sampled_from(DTYPES))!r}, {order!r})"
    shared = st.builds("share({}, {})".format, views(), views())
    return f"{made}\n{draw(views() | shared)}"


TARGET = Target(
    "views of CuPy arrays against NumPy's",
    CUPY,
    programs(),
    FRAME.format(seen="array.dtype, array.shape, array.strides"),
)

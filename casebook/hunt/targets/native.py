"""native/'s functions on parts of arrays, against NumPy. Built in host mode: no GPU is needed."""

from hypothesis import strategies as st

from casebook.hunt.targets import Target
from casebook.hunt.targets.views import ends, steps

cuts = st.sampled_from(["", "", "[None]"]) | st.builds("[{}:{}:{}]".format, ends, ends, steps)
views = st.sampled_from(["", "", "", ".T", "[1:]", "[:, 1:]", "[::-1]", "[:, :1]", "[None]"])
dtypes = st.sampled_from(["float32"] * 9 + ["int32", "float16", "complex64"])
adds = st.sampled_from(["add", "add_explicit", "add_labelled", "add_template_only"])
VECTORS = st.one_of(
    st.builds("da.{}(a{}, b{})".format, adds, cuts, cuts),
    st.builds("da.add_into(a{}, b{}, c{})".format, cuts, cuts, cuts),
    st.builds("da.add_into(a{}, b{}, c{}, 0)".format, cuts, cuts, cuts),
    st.builds("da.to_host(a{})".format, cuts),
)
TABLES = st.one_of(
    st.builds("da.rms_norm(a{}, b{}, c{})".format, views, cuts, views),
    st.builds("da.to_host(a{})".format, views),
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Three arrays that mostly fit together, and one call with parts of them."""
    rows, columns = draw(st.integers(0, 3)), draw(st.integers(0, 5))
    vectors = draw(st.booleans())
    shapes = [""] * 3 if vectors else [f".reshape({rows}, {columns})", ""] * 2
    lines = []
    for name, shape in zip("abc", shapes, strict=False):
        size = rows * columns if shape else draw(st.sampled_from([columns, columns, 9]))
        lines.append(f"{name} = da.ramp({size}, {draw(dtypes)!r}){shape}")
    return "\n".join([*lines, draw(VECTORS if vectors else TABLES)])


FRAME = """# Needs native/ and casebook/hunt/inside on the path.
import numpy
from native import ASKED, RIGHT, here


def program(da):
{program}


right, got = (here(program(side['da'])) for side in (RIGHT, ASKED))
print("NumPy: ", right)
print("native:", got)
numpy.testing.assert_allclose(got, right, rtol=1e-5)
"""

TARGET = Target(
    "native/'s functions against NumPy",
    (
        "nanobind==3.1.0",
        "scikit-build-core==1.1.2",
        "cmake==4.4.4",
        "ninja==1.13.2",
        "packaging==26.3",
        "pathspec==1.1.1",
        "numpy==2.4.6",
        "cupy-cuda12x==14.2.0",
        "cuda-core==1.2.2",
        "cuda-bindings==12.9.10",
        "cuda-pathfinder==1.9.0",
    ),
    programs(),
    FRAME,
    build="native",
)

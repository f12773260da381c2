"""native/'s functions on parts of arrays, against NumPy. Built in host mode: no GPU is needed."""

from hypothesis import strategies as st

from casebook.authoring.hunt.targets import Target
from casebook.authoring.hunt.targets.views import ends, steps

cuts = st.sampled_from(["", "", "[None]"]) | st.builds("[{}:{}:{}]".format, ends, ends, steps)
tables = st.builds(
    "{}{}".format,
    st.builds(".reshape({}, {})".format, st.integers(0, 3), st.integers(0, 3)),
    st.sampled_from(["", "", ".T", "[1:]", "[:, 1:]", "[::-1]", "[:, :1]", "[None]"]),
)
sizes = st.sampled_from([0, 1, 2, 3, 4, 6, 9])
dtypes = st.sampled_from(["float32"] * 9 + ["int32", "float16", "complex64"])
adds = st.sampled_from(["add", "add_explicit", "add_labelled", "add_template_only"])
CALLS = st.one_of(
    st.builds("da.{}(a{}, b{})".format, adds, cuts, cuts),
    st.builds("da.add_into(a{}, b{}, c{})".format, cuts, cuts, cuts),
    st.builds("da.add_into(a{}, b{}, c{}, 0)".format, cuts, cuts, cuts),
    st.builds("da.rms_norm(a{}, b{}, c{})".format, tables, cuts, tables),
    st.builds("da.to_host(a{})".format, cuts | tables),
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Three arrays, and one call with parts of them."""
    arrays = st.builds("da.ramp({}, {!r})".format, sizes, dtypes)
    return "\n".join([*(f"{name} = {draw(arrays)}" for name in "abc"), draw(CALLS)])


FRAME = """# Needs native/ and casebook/authoring/hunt/inside on the path.
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

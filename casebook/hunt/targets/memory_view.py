"""cuda.core's StridedMemoryView of NumPy arrays, taken through DLPack. Runs without a GPU."""

from hypothesis import strategies as st

from casebook.hunt.targets import Target
from casebook.hunt.targets.arrays import DTYPES, shapes
from casebook.hunt.targets.views import indices

OTHERS = [">f4", ">i2", "S3", "M8[s]", "longdouble", "f2, i4", "O"]
CHANGES = st.one_of(
    indices,
    st.just(".T"),
    st.just("[..., None]"),
    st.builds(".view({!r})".format, st.sampled_from(DTYPES)),
)
STEPS = st.one_of(
    st.just("{}"),
    st.builds("np.broadcast_to({{}}, {})".format, shapes),
    st.just("np.lib.stride_tricks.as_strided({}, writeable=False)"),
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """An array, what is taken of it, and a view of that, perhaps as another dtype."""
    dtype = draw(st.sampled_from([*DTYPES, *OTHERS]))
    lines = [f"a = np.zeros({draw(shapes)}, {dtype!r}, {draw(st.sampled_from('CF'))!r})"]
    text = "a" + "".join(draw(st.lists(CHANGES, max_size=2)))
    lines.append(f"b = {draw(STEPS).format(text)}")
    after = draw(st.sampled_from(["", "", ".view(dtype=np.dtype({!r}))"]))
    return "\n".join([*lines, f"view(b){after.format(draw(st.sampled_from(DTYPES)))}"])


FRAME = """import numpy as np
from cuda.core.utils import StridedMemoryView


def program(view):
{program}


right = program(lambda array: array)
got = program(lambda array: StridedMemoryView.from_dlpack(array, stream_ptr=-1))
print("array:", right.dtype, right.shape, right.strides)
print("view: ", got.dtype, got.shape, got.strides)
assert (got.dtype, got.shape) == (right.dtype, right.shape)
"""

TARGET = Target(
    "cuda.core's StridedMemoryView against its array",
    (
        "cuda-core==1.2.2",
        "cuda-bindings==12.9.10",
        "cuda-pathfinder==1.9.0",
        "numpy==2.2.6",
        "nvidia-cuda-nvrtc-cu12==12.9.86",
        "nvidia-nvjitlink-cu12==12.9.86",
    ),
    programs(),
    FRAME,
)

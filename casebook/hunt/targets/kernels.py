"""Kernels of one expression, compiled by numba-cuda-mlir, against Python: the seeds are chapter
6's catalogue. Chapter 6's harness draws the numbers and compares."""

from hypothesis import strategies as st

from casebook.cells.repository import ADDRESS
from casebook.hunt.targets import Target
from casebook.hunt.targets.arrays import FLOATS, INTEGERS

COMMON = (
    "numpy==2.4.6",
    "cuda-core==1.2.2",
    "cuda-bindings==12.9.10",
    "cuda-pathfinder==1.9.0",
    "nvidia-cuda-nvcc-cu12==12.9.86",
    "nvidia-cuda-nvrtc-cu12==12.9.86",
    "nvidia-cuda-runtime-cu12==12.9.79",
    "nvidia-nvjitlink-cu12==12.9.86",
    "hypothesis==6.170.15",
    "sortedcontainers==2.4.0",
)
CONSTANTS = st.sampled_from(["0", "1", "2", "-1", "3", "7", "127", "255", "2**31", "-2**31"])
SAFE = ["+", "-", "*", "&", "|", "^", "<", "<=", "==", "!=", ">", ">=", "and", "or"]
UNARY = ["-{}", "~{}", "abs({})", "not {}", "int({})", "min({0}, 7)", "max({0}, -3)",
         "({0} if {0} > 2 else 5)", "bool({})"]  # fmt: skip


def grown(one: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, one, st.sampled_from(SAFE), one),
        st.builds("({} {} {})".format, one, st.sampled_from(["//", "%"]),
                  st.sampled_from(["3", "7", "-3", "16", "(b or 1)"])),
        st.builds("({} {} {})".format, one, st.sampled_from(["<<", ">>"]),
                  st.sampled_from(["1", "3", "(b & 7)"])),
        st.builds(lambda form, text: f"({form.format(text)})", st.sampled_from(UNARY), one),
    )  # fmt: skip


expressions = st.recursive(st.sampled_from(["a", "b"]) | CONSTANTS, grown, max_leaves=4)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Integers in, int64 out, as Python has it where nothing exceeds 64 bits; or floats, which are
    added, subtracted and compared."""
    if draw(st.integers(0, 4)):
        types = f"{draw(st.sampled_from(INTEGERS[:7]))} {draw(st.sampled_from(INTEGERS[:7]))}"
        text = draw(expressions)
        return f"op({text!r}, '{types} -> int64', 'abs({text}) < 2**62')"
    dtype = draw(st.sampled_from(FLOATS[1:]))
    text = draw(st.sampled_from(["a {} b", "-a {} b", "abs(a) {} b", "min(a, b) {} a"]))
    sign = draw(st.sampled_from(["+", "-", "<", ">=", "==", "!="]))
    result = dtype if sign in "+-" else "bool"
    types = f"{dtype} {dtype} -> {result}"
    return f"op({text.format(sign)!r}, {types!r})"


FRAME = """# with {repository}/blob/main/casebook/helpers/chapter_06 on the path
from differential import op, outcome


def program():
{program}


assert (said := outcome(program())).startswith("right"), said
""".replace("{repository}", ADDRESS)

TARGET = Target(
    "kernels of numba-cuda-mlir against Python",
    ("numba-cuda-mlir==0.6.0", "typing-extensions==4.15.0; python_version < '3.12'", *COMMON),
    programs(),
    FRAME,
    gpu=True,
    examples=3_000,
    seconds=60,
)

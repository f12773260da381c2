"""Kernels of one expression, compiled by numba-cuda-mlir, against Python, without a GPU: the
compiler's PTX runs on the CPU. More operations than `kernels` has, one or two at a time."""

from dataclasses import replace

from hypothesis import strategies as st

from casebook.hunt.targets import kernels

SMALL = ["int8", "int16", "int32", "uint8", "uint16", "uint32"]
ONE = ["abs({})", "~{}", "-{}", "+{}", "not {}", "int({})", "bool({})", "math.floor({})",
       "math.ceil({})", "math.trunc({})", "{} // -3", "{} % -3", "{} % 7", "{} >> 1", "{} << 3",
       "{} ** 2", "{} if {} > 2 else 5", "int({} * -0.5)", "{} / 4 > 0.5",
       "1 if {} in (1, 2, 7) else 0", "({}, 3)[0]", "int(min({}, 0.5) * 2)", "0 < {} < 100",
       "complex({}, 1).real > 0.5", "int(math.copysign({}, -1))"]  # fmt: skip
TWO = ["min({}, {})", "max({}, {})", "{} if {} else -1", "{} and {}", "{} or {}", "{} - {}",
       "{} + {}", "{} * {}", "{} ^ {}", "{} | {}", "{} & {}", "{} < {}", "{} == {}", "{} != {}",
       "{} << ({} & 7)", "{} >> ({} & 7)", "{} // ({} or 1)", "{} % ({} or 1)"]  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Integers of at most 32 bits in, int64 out: no step but the last one can wrap."""
    first, second = draw(st.sampled_from(SMALL)), draw(st.sampled_from(SMALL))
    text = "a"
    for _ in range(draw(st.integers(1, 2))):
        inner = text if text == "a" else f"np.int64({text})"
        form = draw(st.sampled_from(ONE + TWO))
        text = form.format(inner, "b" if form in TWO else inner)
    right = text.replace("np.int64", "int")
    return f"op({text!r}, '{first} {second} -> int64', judge={right!r})"


TARGET = replace(
    kernels.TARGET,
    about="PTX of numba-cuda-mlir, run on the CPU, against Python",
    programs=programs(),
    gpu=False,
)

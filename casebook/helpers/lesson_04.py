"""The checks of lesson 4, types."""

# mypy: allow-untyped-defs

import warnings
from linecache import getline

import numpy as np
from lesson import REPLY, Exercise, NotYet, few_blocks, numbers, script, writes_once

if REPLY:
    from float64 import float64_instructions, told_float64


class Without64(Exercise):
    """An exercise whose kernel must compile without float64 instructions."""

    def __call__(self, kernel, launch=None):
        self.kernel = kernel
        super().__call__(kernel, launch)

    def judge(self, kernel, call):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                return super().judge(kernel, call) + ", without a float64 instruction"
            except NotYet as wrong:
                if not any("overflow" in str(one.message) for one in warned):
                    raise
                raise NotYet(
                    f"{wrong}. In the simulator a NumPy integer has wrapped, which Numba's would "
                    "not: compute with the elements as they are"
                ) from None

    def compile(self, call):
        gpu = super().compile(call)
        for types in list(self.kernel.overloads):
            if found := float64_instructions(self.kernel, *types):
                line = found[0][0]
                raise NotYet(
                    f"the result is right, but the kernel has {told_float64(found)}. The first "
                    f"comes from line {line}, `{getline(script(), line).strip()}`"
                )
        return gpu


def bytes_(n, seed):
    """Numbers from 0 to 255, the largest and an odd sum among the first.

    In the simulator they are int64: NumPy adds two uint8 to a uint8, and Numba does not.
    """
    found = np.random.default_rng(n + seed).integers(0, 256, n)
    found[:1] = 255
    found[1:2] = seed
    return found.astype(np.uint8 if REPLY else np.int64)


def in_blocks(kernel, x, *arguments):
    kernel[x.size // 64 + 1, 64](x, *arguments)


check_scale32 = Without64(
    inputs=lambda n: [numbers(n, np.float32), np.arange(n, dtype=np.int32) % 7],
    expected=lambda x, k: x * np.float32(np.pi) * k.astype(np.float32),
    launch=in_blocks,
    tolerance=1e-6,
    rules=[writes_once, few_blocks],
)
check_mean8 = Without64(
    inputs=lambda n: [bytes_(n, 0), bytes_(n, 7)],
    expected=lambda a, b: ((a.astype(np.int64) + b) // 2).astype(np.uint8),
    launch=in_blocks,
    rules=[writes_once, few_blocks],
)

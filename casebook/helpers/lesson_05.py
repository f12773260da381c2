"""The checks of lesson 5, shared memory and a barrier."""

# mypy: allow-untyped-defs

from collections import Counter

import numpy as np
from lesson import Exercise, few_blocks, numbers, outside, reads_at_most, uses_shared


def smoothed(x):
    padded = np.pad(x, 1)
    return padded[:-2] + padded[1:-1] + padded[2:]


def one_sum_each(seen, x, sums):
    """Of each block one thread writes the sum."""
    if outside(seen, seen.writes) <= sums.size:
        return ""
    return "the sums are right, but several threads of a block write the same sum. One is enough"


def shares_the_work(seen, x, sums):
    """No thread reads more of shared memory than a tree of additions takes."""
    shared = {one._name for one in seen.shared.values()}
    reads = Counter(one.by for one in seen.accesses if one.kind == "reads" and one.array in shared)
    if (most := max(reads.values(), default=0)) <= 32:
        return ""
    return (
        f"the sums are right, but one thread reads shared memory {most} times while the others "
        "wait. Let half of the threads add two numbers each, then a quarter, and so on"
    )


check_reverse = Exercise(
    inputs=lambda n: [numbers(n, np.float32)],
    expected=lambda a: a[::-1],
    sizes=(1, 2, 33, 64, 128),
    launch=lambda kernel, a: kernel[1, a.size](a),
    in_place=True,
    rules=[uses_shared],
)
check_smooth = Exercise(
    inputs=lambda n: [numbers(n, np.float32)],
    expected=smoothed,
    rules=[
        uses_shared,
        reads_at_most(lambda seen, x, out: x.size + 2 * seen.grid[0]),
        few_blocks,
    ],
)
check_block_sums = Exercise(
    inputs=lambda n: [numbers(n, np.int32).astype(np.float32)],
    expected=lambda x: np.array(
        [x[at : at + 64].sum() for at in range(0, max(1, x.size), 64)], np.float32
    ),
    launch=lambda kernel, x, sums: kernel[sums.size, 64](x, sums),
    rules=[uses_shared, one_sum_each, shares_the_work],
)

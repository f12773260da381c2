"""The checks of lesson 2, rows and columns."""

# mypy: allow-untyped-defs

from collections import Counter

import numpy as np
from lesson import Exercise, few_blocks, numbers, writes_once

SHAPES = [(1, 1), (5, 7), (33, 2), (2, 33), (8, 8), (0, 3)]


def bordered(x):
    out = x.copy()
    out[:1] = out[-1:] = out[:, :1] = out[:, -1:] = 0
    return out


def one_element_each(seen, *arguments):
    """No thread loops over a row or a column."""
    writes = Counter(str(one) for one in seen.accesses if one.kind == "writes")
    ((busiest, count),) = writes.most_common(1) or [("", 0)]
    if count <= 1:
        return ""
    return (
        f"the result is right, but {busiest} writes {count} elements. Let each thread write one, "
        "and take threads along both axes"
    )


check_transpose = Exercise(
    inputs=lambda shape: [numbers(shape)],
    expected=np.transpose,
    sizes=SHAPES,
    rules=[writes_once, one_element_each, few_blocks],
)
check_add_row = Exercise(
    inputs=lambda shape: [numbers(shape), numbers(shape[1], np.int64) + 100.0],
    expected=np.add,
    sizes=SHAPES,
    rules=[writes_once, one_element_each, few_blocks],
)
check_border = Exercise(
    inputs=lambda shape: [numbers(shape)],
    expected=bordered,
    sizes=[(1, 1), (2, 2), (3, 3), (5, 9), (9, 5), (0, 3)],
    launch=lambda kernel, x, out: kernel[(x.shape[0] // 8 + 1, x.shape[1] // 8 + 1), (8, 8)](
        x, out
    ),
    rules=[writes_once, one_element_each],
)

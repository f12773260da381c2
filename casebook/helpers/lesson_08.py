"""The checks of lesson 8, a matrix product in tiles."""

# mypy: allow-untyped-defs

import numpy as np
from lesson import Exercise, numbers, reads_at_most, uses_shared, writes_once

TILE = 4


def matrices(size):
    """Whole numbers in float32, which multiply and add without rounding: rows, inner, columns."""
    rows, inner, columns = size
    return [
        numbers(shape, np.int32).astype(np.float32) for shape in ((rows, inner), (inner, columns))
    ]


def launched(kernel, a, b, out):
    kernel[tuple(length // TILE + 1 for length in out.shape), (TILE, TILE)](a, b, out)


def shares(seen, a, b, out):
    """Threads write into shared memory, unless there is nothing to multiply."""
    return uses_shared(seen) if a.size and b.size else ""


SIZES = [(1, 1, 1), (5, 3, 7), (4, 8, 4), (3, 10, 6), (3, 0, 2), (0, 3, 2)]
check_product = Exercise(
    inputs=matrices,
    expected=np.matmul,
    sizes=SIZES,
    launch=launched,
    rules=[writes_once],
)
check_tiled = Exercise(
    inputs=matrices,
    expected=np.matmul,
    sizes=SIZES,
    launch=launched,
    rules=[
        shares,
        reads_at_most(lambda seen, a, b, out: seen.grid[1] * a.size + seen.grid[0] * b.size),
        writes_once,
    ],
)

"""The checks of lesson 10, where does the time go, and its count of sectors."""

# mypy: allow-untyped-defs

from collections import Counter, defaultdict

import numpy as np
from lesson import Exercise, few_blocks, numbers, reads_at_most, writes_once

WARP, SECTOR = 32, 32  # threads, bytes


def sectors(seen, *names):
    """Sectors that the warps ask for, of the named arrays or of all that are not shared.

    The threads of a warp ask together: with their first access in a line, with their second, and
    so on. The lowest address is taken as the start of a sector, as that of Numba's arrays is.
    """
    shared = {one._name for one in seen.shared.values()}
    lowest = {}
    for one in seen.accesses:
        lowest[one.array] = min(lowest.get(one.array, one.address), one.address)
    turns = Counter()
    asked = defaultdict(set)
    for one in seen.accesses:
        if one.array in (names or lowest.keys() - shared):
            what = one.array, one.line, one.kind
            turns[one.by, what] += 1
            warp = one.block, one.by.number // WARP
            asked[warp, what, turns[one.by, what]].add((one.address - lowest[one.array]) // SECTOR)
    return sum(map(len, asked.values()))


def rows_of_warps(array):
    """Sectors that warps ask for if each reads up to 32 neighbours in a row."""
    rows, columns = array.shape
    step, line = array.strides[1], array.strides[0]
    return sum(
        len({(i * line + j * step) // SECTOR for j in range(at, min(at + WARP, columns))})
        for i in range(rows)
        for at in range(0, columns, WARP)
    )


def neighbours(seen, *arguments):
    """Warps ask for at most twice the sectors of the large arrays that rows of 32 would take."""
    large = [one for one in arguments if np.ndim(one) == 2]
    small = sum(one.size for one in arguments if np.ndim(one) == 1)
    allowed = 2 * sum(map(rows_of_warps, large)) + small
    if (count := sectors(seen)) <= allowed:
        return ""
    return (
        f"the result is right, but the warps ask for {count} sectors, and {allowed} would do. "
        "Which elements do thread 0 and thread 1 of a block read?"
    )


def one_launch(seen, *arguments):
    if seen.launches == 1:
        return ""
    return f"the result is right, but it takes {seen.launches} launches"


check_scale_columns = Exercise(
    inputs=lambda size: [
        numbers(size, np.float32),
        numbers(size[1], np.int32).astype(np.float32),
    ],
    expected=lambda x, factors: x * factors,
    sizes=[(3, 40), (9, 5), (1, 1), (0, 3)],
    rules=[neighbours, writes_once, few_blocks],
)
check_fused = Exercise(
    inputs=lambda size: [
        numbers(size, np.float32),
        (np.arange(np.prod(size)) % 7 + 1).reshape(size).astype(np.float32),
    ],
    expected=lambda x, y: ((x - y) ** 2).sum(axis=0),
    sizes=[(3, 40), (5, 65), (2, 64), (1, 1), (0, 3), (3, 0)],
    rules=[
        one_launch,
        reads_at_most(lambda seen, x, y, out: x.size + y.size),
        writes_once,
        neighbours,
        few_blocks,
    ],
)

"""The checks of lesson 6, many threads and one number."""

# mypy: allow-untyped-defs

from collections import Counter

import numpy as np
from lesson import Exercise, few_blocks, numbers, outside, uses_shared

BINS = 4
SIZES = (6, 65, 63, 64, 130, 1, 0)


def negative(n):
    """Numbers below 0, and from three numbers on a NaN every third time."""
    found = numbers(n) - 100
    if n > 2:
        found[1::3] = np.nan
    return found


def maximum_and_nans(out, x):
    found = x[~np.isnan(x)]
    return np.array([found.max(initial=-np.inf), x.size - found.size])


def shares_the_work(seen, *arguments):
    """No thread works through many of the numbers."""
    ((busiest, count),) = Counter(map(str, seen.accesses)).most_common(1) or [("", 0)]
    if count <= 24:
        return ""
    return (
        f"the result is right, but {busiest} reads and writes {count} times. Let each thread look "
        "at one number"
    )


def adds_a_block_at_once(seen, h, x):
    """Each block changes each count once at most."""
    count, allowed = outside(seen, seen.writes), BINS * seen.grid[0]
    if count <= allowed:
        return ""
    return (
        f"the result is right, but the threads change counts outside of shared memory {count} "
        f"times, and {allowed} times would do"
    )


def histogram(*rules):
    """Counts of earlier numbers, to which those of numbers from 0 to 3 are added."""
    return Exercise(
        inputs=lambda n: [np.arange(10, 10 + BINS, dtype=np.int32), numbers(n, np.int64) % BINS],
        expected=lambda h, x: h + np.bincount(x, minlength=BINS).astype(h.dtype),
        sizes=SIZES,
        launch=lambda kernel, h, x: kernel[x.size // 64 + 1, 64](h, x),
        in_place=True,
        rules=[*rules, shares_the_work],
    )


check_histogram = histogram()
check_shared_histogram = histogram(uses_shared, adds_a_block_at_once)
check_maximum = Exercise(
    inputs=lambda n: [np.full(2, -77.0), negative(n)],
    expected=maximum_and_nans,
    sizes=SIZES,
    in_place=True,
    rules=[shares_the_work, few_blocks],
)

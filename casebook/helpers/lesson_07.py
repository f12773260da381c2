"""The checks of lesson 7, more numbers than threads."""

# mypy: allow-untyped-defs

import inspect
from collections import Counter
from math import prod

import numpy as np
from lesson import (
    GPU,
    LAST,
    REPLY,
    Exercise,
    NotYet,
    counted,
    outside,
    report,
    second_process,
    verdict,
)
from numba import cuda

if not REPLY:
    from watch import SCHEDULES, watch


def whole(n, most):
    """Numbers from 1 to most, so that an exact sum tells of each of them."""
    return (np.random.default_rng(n + most).permutation(n) % most + 1).astype(np.float32)


def before(n, *arrays):
    return [np.array([10], np.float32), *arrays]


def launched(kernel, total, *arrays):
    kernel[arrays[0].size % 3 + 1, 64](total, *arrays)


class Sum(Exercise):
    """Where a sum is wrong, the reply says which numbers were left out or read twice."""

    def compare(self, after, before, right, negative=()):
        try:
            super().compare(after, before, right, negative)
        except NotYet as wrong:
            told = "" if REPLY or "element" not in str(wrong) else self.reads(after)
            raise NotYet(f"{wrong}{told}") from None

    def reads(self, after):
        names = list(inspect.signature(LAST[0].kernel.fn).parameters)[1:]
        for name, array in zip(names, after[1:], strict=True):
            counts = Counter(
                one.index for one in LAST[0].accesses if one.kind == "reads" and one.array == name
            )
            for i in range(array.size):
                if counts[i] != 1:
                    often = f"read {counts[i]} times" if counts[i] else "never read"
                    return f". {name}[{i}] is {often}"
        return f". Each number of {' and '.join(names)} is read once" * bool(after[1].size)


def shares_evenly(seen, total, *arrays):
    """No thread reads more numbers than its share."""
    shared = {one._name for one in seen.shared.values()}
    reads = [one for one in seen.accesses if one.kind == "reads" and one.array not in shared]
    allowed = len(arrays) * -(-arrays[0].size // prod(seen.grid + seen.block))
    for who, count in Counter(map(str, reads)).most_common(1):
        if count > allowed:
            return (
                f"the sum is right, but {who} reads {counted(count, 'number')}, and "
                f"{allowed} would do if all {prod(seen.grid + seen.block)} threads took their share"
            )
    return ""


def changes_at_most(most, advice):
    """The sum is changed most(seen) times at most."""

    def rule(seen, *arguments):
        if (count := outside(seen, seen.writes)) <= most(seen):
            return ""
        return (
            f"the sum is right, but the threads change it {counted(count, 'time')}, and "
            f"{counted(most(seen), 'time')} would do. {advice}"
        )

    return rule


SIZES = (1, 65, 63, 64, 130, 300, 0)
check_grid_sum = Sum(
    inputs=lambda n: before(n, whole(n, 300)),
    expected=lambda total, x: total + x.sum(dtype=np.float32),
    sizes=SIZES,
    launch=launched,
    in_place=True,
    rules=[
        shares_evenly,
        changes_at_most(
            lambda seen: prod(seen.grid + seen.block), "Let each thread add up its numbers first"
        ),
    ],
)
check_dot = Sum(
    inputs=lambda n: before(n, whole(n, 300), whole(n, 7)),
    expected=lambda total, x, y: total + x @ y,
    sizes=SIZES,
    launch=launched,
    in_place=True,
    rules=[
        shares_evenly,
        changes_at_most(lambda seen: prod(seen.grid), "Let each block add up its numbers first"),
    ],
)


def arrays():
    """Float32 numbers whose sums round in different ways, by name."""
    many = np.random.default_rng(0).random(300) + 0.5
    mixed = np.random.default_rng(1).permutation(np.append(many[:150], -many[:150]))
    found = {
        "300 numbers from 0.5 to 1.5": many,
        "300 numbers that cancel": mixed * 1000,
        "300 tiny numbers": many * 1e-30,
        "300 negative numbers": -many,
        "300 times 1.000007": np.full(300, 1.000007),
        "a 1 and 299 times 5e-8": np.append(1, np.full(299, 5e-8)),
        "1e8, three ones, -1e8, three ones": [1e8, 1, 1, 1, -1e8, 1, 1, 1],
        "no numbers": [],
    }
    return {name: np.array(x, np.float32) for name, x in found.items()}


def added(kernel, x):
    total = np.zeros(1, np.float32)
    kernel[1, 8](total, x)
    return total[0]


def ask(close_enough, name, what, found, x, right):
    """Raise NotYet unless close_enough(found, x) is `right`."""
    said = close_enough(found, x.copy())
    if not isinstance(said, (bool, np.bool_)):
        raise NotYet(f"close_enough returns {said!r}, and True or False is wanted")
    if said != right:
        exact = x.sum(dtype=np.float64)
        raise NotYet(
            f" ({name}): {found:.9g} is {what}, and {exact:.9g} is the exact one. close_enough "
            f"should return {right}"
        )


def check_close_enough(close_enough, kernel):
    if REPLY:
        report(lambda: on_gpu(close_enough, kernel))
    verdict(lambda: judge_close_enough(close_enough, kernel))


def judge_close_enough(close_enough, kernel):
    wrong = {
        "without the first number": lambda x: x[1:].sum(),
        "with the first number twice": lambda x: x.sum() + x[0],
        "that is nan": lambda x: np.float32(np.nan),
        "that is inf": lambda x: np.float32(np.inf),
    }
    for name, x in arrays().items():
        for order in SCHEDULES:
            with watch(order):
                found = added(kernel, x)
            ask(close_enough, name, f"the kernel's sum ({order})", found, x, True)
    for name, x in arrays().items():
        for how, other in wrong.items() if name.startswith("300") else ():
            ask(close_enough, name, f"a sum {how}", other(x), x, False)
    with second_process() as words:
        return (
            "20 wrong sums are refused and 24 right ones accepted. The kernel made the right ones "
            f"in three orders of its threads{words()}"
        )


def on_gpu(close_enough, kernel):
    for name, x in arrays().items():
        found = added(kernel, x)
        if GPU:
            ask(close_enough, name, "the kernel's sum on the GPU", found, x, True)
    return str(cuda.get_current_device().name) if GPU else ""

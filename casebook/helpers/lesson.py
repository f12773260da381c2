"""Check the kernel of a lesson's exercise, and reply to the mistake in it without the solution.

    from lesson import Exercise, numbers, writes_once

    check_double = Exercise(
        inputs=lambda n: [numbers(n)],
        expected=lambda x: 2 * x,
        rules=[writes_once],
    )

A learner's cell ends with `check_double(double, launch)`. The simulator runs the launch on each
size in three orders of the threads, under watch. A second process then runs the cell's script
without the simulator: there each launch compiles its kernel for a GPU, and runs on the same inputs
where there is a GPU. `check_double.show_threads()` as one more line draws the launch that is
wrong, or of a right answer the first one with more than one number.
"""
# mypy: allow-untyped-defs

import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda
from numba.core.errors import NumbaError

REPLY = os.environ.get("CASEBOOK_LESSON")  # of the second process: the file for what it finds
GPU = bool(REPLY) and cuda.is_available()
if not REPLY:
    from watch import NEGATIVE, RAISED, SCHEDULES, STOPPED, show, watch
elif not GPU:
    import sm_90  # noqa: F401
    from numba.cuda import dispatcher

    class Stored(np.ndarray):
        """Stands for an array on the GPU."""

        def copy_to_host(self, *arguments, **options):
            return self

    dispatcher._Kernel.launch = lambda *arguments: None  # a launch compiles, and that is all
    cuda.to_device = lambda array, *arguments, **options: np.asarray(array).view(Stored)
    cuda.synchronize = lambda: None

BEFORE = -77  # what results hold before a launch
MOST = 4096  # threads that the simulator runs in a short time
ORDERS = {"in_order": ", one thread after the other", "random": ", threads in random order"}
LAST: list[Any] = []  # the launch that was watched last
FIRST: list[Any] = []  # the first one of this check with more than one number
# what Numba says about a kernel, and the same for a learner
HINTS = {
    r">>> array\((?:u?int\d+|UniTuple|Tuple\((?:Literal\[int\]\(\d+\), )*u?int\d+)": "the size of "
    "a shared array must be a number that Numba knows when it compiles the kernel (case 52). "
    "Numba does not compute it from a name: give the size a name of its own, outside of the kernel",
    r">>> array\(.*Function\(<class": "Python's own types are no types of a shared array: name one "
    "of Numba or NumPy, such as float32 (case 52)",
}
WHOLE = (
    "the kernel computes with a whole array. Let each thread compute with one element, such as x[i]"
)
TELLING = r"\s*(>>>|No |Unknown|Untyped|Invalid use|Unsupported|Use of|Cannot|CUDA kernel must)"

Call = Callable[..., None]
Rule = Callable[..., str]  # rule(seen, *arguments) gives a reply, or "" where all is well


class NotYet(Exception):
    """What is wrong with an answer, in words without a full stop."""


@dataclass
class Exercise:
    """A kernel to write or repair, and what it must do. Called with it, it prints the verdict.

    inputs: new arguments of the kernel from a size, without the result, which comes last
    expected: the right result from these arguments, by NumPy
    sizes: what `inputs` is called with, small ones first
    launch: launch(kernel, *arguments), where the learner writes none
    in_place: the first argument is the result
    rules: what else an answer must keep; they are asked when the result is right
    tolerance: relative difference that rounding may make
    """

    inputs: Callable[[Any], list[Any]]
    expected: Callable[..., Any]
    sizes: Sequence[Any] = (1, 65, 63, 64, 130, 0)
    launch: Call | None = None
    in_place: bool = False
    rules: Sequence[Rule] = ()
    tolerance: float = 0

    def __call__(self, kernel: Any, launch: Call | None = None) -> None:
        def call(*arguments):
            launch(*arguments) if launch else self.launch(kernel, *arguments)

        if REPLY:
            report(lambda: self.compile(call))
        verdict(lambda: self.judge(kernel, call))

    def show_threads(self) -> None:
        """Draw the launch that is wrong, or else the first one with more than one number."""
        if LAST and LAST[0].launches:
            show(LAST[0])

    def judge(self, kernel: Any, call: Call) -> str:
        """What stands behind "Correct". Raises NotYet, and what the learner's code raises."""
        if not hasattr(kernel, "grid_dim"):
            raise NotYet(f": {kernel.__name__} is an ordinary function: put @cuda.jit above it")
        FIRST.clear()
        self.simulate_all(call, SCHEDULES[0], self.cases())
        with second_process() as found:  # meanwhile
            for schedule in SCHEDULES[1:]:
                self.simulate_all(call, schedule, ((size, 1) for size in self.sizes))
            LAST[:] = FIRST or LAST
            *most, last = sorted(self.sizes, key=np.prod)
            tried = f"{', '.join(map(shape, most))} and {described(last)}"
            return f"right for {tried}, in three orders of the threads{found()}"

    def simulate_all(self, call: Call, schedule: str, cases: Iterator[tuple[Any, int]]) -> None:
        for size, step in cases:
            with label(described(size, step) + ORDERS.get(schedule, ""), step):
                self.simulate(call, size, step, schedule)
            if not FIRST and np.prod(size) > 1 and LAST[0].launches:
                FIRST[:] = LAST

    def cases(self) -> Iterator[tuple[Any, int]]:
        """Sizes and steps; a step of 2 is for arrays that are every second element of another."""
        yield from ((size, 1) for size in self.sizes)
        yield max(self.sizes, key=np.prod), 2

    def prepare(self, size: Any, step: int) -> tuple[list[Any], Any]:
        """Arguments, of which `every(step, ...)` is for the kernel, and the right result."""
        arguments = self.inputs(size)
        with np.errstate(all="ignore"):
            right = self.expected(*map(np.copy, arguments))
        if not self.in_place:
            arguments.append(np.full(right.shape, BEFORE).astype(right.dtype))
        return [widened(step, one) for one in arguments], right

    def simulate(self, call: Call, size: Any, step: int, schedule: str) -> None:
        before, right = self.prepare(size, step)
        seen = Watched(schedule, seed=3, seconds=5)
        LAST[:] = [seen]
        with seen, np.errstate(all="ignore"):
            after = launched(call, before, step)
        races = {str(race): told_race(race) for race in seen.races}
        late = {STOPPED: RAISED + 0.5}  # an error may be why a loop goes on
        found = sorted(seen.found.values(), key=lambda one: late.get(one[0], one[0]))
        negative = [text for rank, text, _ in found if rank == NEGATIVE]
        if serious := [text for rank, text, _ in found if rank != NEGATIVE]:
            text = WHOLE if "'Traced'" in serious[0] else races.get(serious[0], serious[0])
            raise NotYet(text.rstrip("."))
        if right.size and not seen.launches:
            raise NotYet("no kernel was launched")
        self.compare(after, every(step, before), right, negative)
        for rule in self.rules if seen.launches and np.prod(size) else ():
            if words := rule(seen, *after):
                raise NotYet(words)

    def compare(self, after: list[Any], before: list[Any], right: Any, negative=()) -> None:
        """Raise NotYet where an input has changed, or the result is wrong."""
        at = 0 if self.in_place else len(after) - 1
        for place, (one, old) in enumerate(zip(after, before, strict=True)):
            if place != at and not equal(one, old).all():
                raise NotYet(f"the kernel changes an input, its argument number {place + 1}")
        out, filled = after[at], before[at]
        wrong = ~equal(out, right, self.tolerance)
        if not wrong.any():
            return
        untouched = equal(out, filled) & (not self.in_place)
        if negative:
            raise NotYet(negative[0].rstrip("."))
        if untouched.all():
            raise NotYet("no thread has written into the result")
        first, more = ", ".join(map(str, np.argwhere(wrong)[0])), wrong.sum() - 1
        if untouched[wrong].all():
            others = f", like {more} more" if more else ""
            raise NotYet(f"element [{first}] of the result is not written{others}{axes(out)}")
        if not self.in_place and equal(out - filled, right).all():
            raise NotYet(f"the kernel adds to what the result held before, which is {BEFORE} here")
        raise NotYet(
            f"element [{first}] of the result is {out[wrong][0]:g} and should be "
            f"{right[wrong][0]:g}" + f", and so on for {more} more" * bool(more)
        )

    def compile(self, call: Call) -> str:
        """Compile for a GPU, and run there if one is at hand: its name, or "" without one."""
        if os.environ["NUMBA_ENABLE_CUDASIM"] != "0":
            raise RuntimeError("the script turns the simulator on itself")
        if not GPU:
            call(*self.prepare(max(self.sizes, key=np.prod), 1)[0])
            return ""
        for size, step in self.cases():
            wide, right = self.prepare(size, step)
            with label("on the GPU, " + described(size, step), step):
                self.compare(launched(call, wide, step), every(step, wide), right)
        return str(cuda.get_current_device().name)


# Rules


def writes_once(seen, *arguments):
    """Each element of the result is written by one thread, once."""
    results = arguments[-1].size
    if (count := outside(seen, seen.writes)) <= results:
        return ""
    return (
        f"the result is right, but the threads write {count:,} times for "
        f"{counted(results, 'result')}. Let each thread write one element"
    )


def few_blocks(seen, *arguments):
    """Along each axis at most one block without a result, whichever axis of the result it is."""
    shapes = list(permutations(arguments[-1].shape))
    needed, allowed = (
        max(
            prod(max(1, -(-n // t)) + more for n, t in zip(s, seen.block, strict=False))
            for s in shapes
        )
        for more in (0, 1)
    )
    if (blocks := prod(seen.grid)) <= allowed:
        return ""
    return (
        f"the launch has {blocks} blocks of {counted(prod(seen.block), 'thread')}, and {needed} "
        "would do. Let the number of blocks follow from the size"
    )


def uses_shared(seen, *arguments):
    """Threads write into a shared array."""
    if outside(seen, seen.writes) < sum(seen.writes.values()):
        return ""
    return "the result is right, but the threads write nothing into shared memory"


def reads_at_most(most: Callable[..., int]) -> Rule:
    """The launch reads its arguments at most most(seen, *arguments) times."""

    def rule(seen, *arguments):
        count, allowed = outside(seen, seen.reads), most(seen, *arguments)
        if count <= allowed:
            return ""
        return (
            f"the result is right, but the threads read their arguments {counted(count, 'time')}, "
            f"and {counted(allowed, 'read')} would do"
        )

    return rule


def outside(seen, counts):
    """Number of accesses of arrays that are not shared."""
    shared = {one._name for one in seen.shared.values()}
    return sum(count for name, count in counts.items() if name not in shared)


# For the checks of lesson_NN.py


def numbers(shape: Any, dtype: Any = np.float64) -> np.ndarray:
    """Whole numbers from -50 to 49, which sum without rounding; a NaN in the middle of floats.

    One or two numbers have no NaN.
    """
    found = np.random.default_rng(np.prod(shape)).integers(-50, 50, shape).astype(dtype)
    if found.size > 2 and found.dtype.kind == "f":
        found.flat[found.size // 2] = np.nan
    return found


def verdict(judge: Callable[[], str]) -> None:
    """Print "Correct" and what `judge` returns, or "Not yet" and the reply that it raises.

    For an exercise that is no kernel, judge calls the learner's function and raises NotYet.
    """
    try:
        print(f"Correct: {judge()}.")
    except NotYet as wrong:
        lead, end = str(wrong).startswith((":", " (")), str(wrong).endswith("?")
        print(f"Not yet{'' if lead else ': '}{wrong}{'' if end else '.'}")
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        mine = [f for f in frames if f.filename == script()] or frames
        where = f"line {mine[-1].lineno}, `{mine[-1].line}`"
        print(f"Not yet: {where}, raises {type(error).__name__}: " + " ".join(str(error).split()))


@contextmanager
def label(words: str, step: int) -> Iterator[None]:
    """Begin a reply with what was tried."""
    try:
        yield
    except NotYet as wrong:
        raise NotYet(f" ({words}): {wrong}") from None
    except Exception:
        if step == 1:
            raise  # else a launch that copies arrays itself, which Numba refuses with a step


if not REPLY:

    class Watched(watch):
        """Refuses a launch that would take the simulator too long."""

        def launch(self, kernel, *arguments):
            threads = prod((kernel.grid_dim or ()) + (kernel.block_dim or ()))
            if threads > MOST:
                raise NotYet(
                    f"the launch has {threads:,} threads. Let the number of blocks follow from the "
                    "size"
                )
            return super().launch(kernel, *arguments)


def counted(number, noun):
    return f"{number:,} {noun}{'s' * (number != 1)}"


def described(size, step=1):
    words = counted(size, "number") if np.ndim(size) == 0 else shape(size) + " numbers"
    return words + ", every second element of a larger array" * (step == 2)


def shape(size):
    return f"{size:,}" if np.ndim(size) == 0 else " x ".join(map(str, size))


def equal(one, other, tolerance=0):
    return np.isclose(one, other, tolerance, 0, equal_nan=True)


def widened(step, one):
    """An array of which every `step`th element along the last axis is `one`; a number as it is."""
    if not np.ndim(one):
        return one
    wide = np.full((*one.shape[:-1], one.shape[-1] * step), BEFORE).astype(one.dtype)
    wide[..., ::step] = one
    return wide


def every(step, arrays):
    return [one[..., ::step] if step > 1 and np.ndim(one) else one for one in arrays]


def launched(call, wide, step):
    """The arguments after a launch. Arrays with a step are on the GPU: Numba copies no others."""
    there = [cuda.to_device(one) if step > 1 and np.ndim(one) else np.copy(one) for one in wide]
    there = [one if np.ndim(old) else old for one, old in zip(there, wide, strict=True)]
    call(*every(step, there))
    return every(
        step, [one.copy_to_host() if hasattr(one, "copy_to_host") else one for one in there]
    )


def axes(out):
    """The threads along each axis of a launch for a result with rows and columns."""
    if out.ndim < 2 or not (LAST and LAST[0].launches):
        return ""
    along = zip("xyz", LAST[0].grid, LAST[0].block, strict=True)
    many = [f"{blocks * threads:,} along {axis}" for axis, blocks, threads in along][: out.ndim]
    return f". The launch has these threads: {', '.join(many)}"


def told_race(race):
    """What watch says of a race, and where a barrier would not help, that."""
    one, other = race.first, race.second
    barrier = "no barrier lies between."
    if one.block != other.block:
        return str(race).replace(barrier, "no barrier reaches from block to block.")
    if race.lost and one.line == other.line:
        return str(race).replace(barrier, "no barrier can lie within one line.")
    return str(race)


def script():
    return sys.modules["__main__"].__file__


# The second process


@contextmanager
def second_process():
    """Start it; what comes is a function that waits, and gives words about what it found."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "reply")
        env = {**os.environ, "CASEBOOK_LESSON": str(path), "NUMBA_ENABLE_CUDASIM": "0"}
        env.pop("CASEBOOK_REPORTS", None)
        command = [sys.executable, script()]
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=env, **pipes) as process:
            try:
                yield lambda: words_about(process.communicate()[1], path)
            finally:
                process.kill()


def words_about(errors, path):
    """Raises NotYet where the second process found a mistake."""
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if "wrong" in found:
        raise NotYet(found["wrong"])
    if "gpu" in found:
        return f", and on {found['gpu']}" if found["gpu"] else ", and Numba compiles it for a GPU"
    why = found.get("error") or (errors.strip().splitlines() or ["it ended early"])[-1]
    return f". It was not tried without the simulator: {why}"


def report(find: Callable[[], str]) -> None:
    """Write what `find` returns or raises, and end this process."""
    try:
        found = {"gpu": find()}
    except NotYet as wrong:
        found = {"wrong": str(wrong)}
    except Exception as error:
        refused = isinstance(error, NumbaError) or type(error).__name__ == "NvvmError"
        found = {"wrong" if refused else "error": told(error)}
    Path(REPLY or "").write_text(json.dumps(found), "utf-8")
    sys.exit()


def told(error):
    """The part of Numba's message that tells a learner something."""
    text = re.sub(r"\x1b\[\d*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if re.match(TELLING, line)]
    words = next((words for pattern, words in HINTS.items() if re.search(pattern, text)), "")
    words = words or f"{type(error).__name__}: {'; '.join(lines[:2]) or text.partition(chr(10))[0]}"
    refused = "the result is right in the simulator, but Numba cannot compile the kernel for a GPU"
    return f"{refused}: {words}" if isinstance(error, NumbaError) else words

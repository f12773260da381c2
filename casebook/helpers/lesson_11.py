"""The checks of lesson 11, prove it and report it: two causes to find and one to repair."""

# mypy: allow-untyped-defs

import io
import pdb
import sys

import numpy as np
from lesson import (
    GPU,
    REPLY,
    Exercise,
    NotYet,
    numbers,
    report,
    second_process,
    verdict,
    writes_once,
)
from numba import cuda

CAUSES = "A", "B", "C"


class Echo(pdb.Pdb):
    """A debugger that repeats its commands, and not the line, which depends on the Python."""

    def precmd(self, line):
        print(line)
        return super().precmd(line)

    def print_stack_entry(self, *arguments, **options):
        pass


def typed(*commands):
    """Give these commands to breakpoint(), since a cell has no keyboard.

    When they are used up, the kernel goes on, and breakpoint() does nothing any more.
    """
    end = [] if commands[-1:] in ((), ("c",)) else ["c"]
    text = "".join(f"{line}\n" for line in (*commands, *end))
    debugger = Echo(stdin=(lines := io.StringIO(text)), stdout=sys.stdout, nosigint=True)

    def stop():
        if lines.tell() < len(text):
            debugger.set_trace(sys._getframe(1))

    sys.breakpointhook = stop


typed()


class Edited:
    """A pretended program whose helper.py was edited, and that still multiplies by 3."""

    def __init__(self, cause):
        self._cause, self._stale, self._seen = cause, True, []
        self._texts = {
            "helper.py": f"return x * {3 if cause == 'C' else 5}",
            "kernel.py": "from helper import scale",
        }

    def run(self):
        return self._note("run()", 3 if self._stale else 5)

    def read(self, name):
        return self._note(f'read("{name}")', self._text(name))

    def touch(self, name):
        self._text(name)
        self._stale &= (self._cause, name) not in (("A", "helper.py"), ("B", "kernel.py"))
        self._seen.append(f'touch("{name}")')

    def delete_caches(self):
        self._stale &= self._cause == "C"
        self._seen.append("delete_caches()")

    def _text(self, name):
        if name not in self._texts:
            raise FileNotFoundError(f"there are helper.py and kernel.py, and no {name}")
        return self._texts[name]

    def _note(self, what, found):
        self._seen.append(f"{what} gave {found}")
        return found


class Unmarked:
    """A pretended program that leaves a part of an array unmarked."""

    n = 2**31 + 2**20

    def __init__(self, cause):
        self._cause, self._seen = cause, []
        self._blocks = (2**31 if cause == "A" else self.n) // 1024

    def run(self, blocks=None, wait=False):
        if blocks is not None and (not isinstance(blocks, int) or not 0 < blocks < 2**31):
            raise ValueError(f"blocks is {blocks}; a whole number from 1 to 2**31 - 1 is wanted")
        reached = threads = 1024 * (blocks or self._blocks)
        if (
            self._cause == "B"
        ):  # from thread 2**31 on, the index is negative and counts from the end
            again = min(threads, 2**32) - 2**31
            reached = max(min(threads, 2**31), self.n - 2**31 + again if again > 0 else 0)
        if self._cause == "C" and not wait:
            reached = min(reached, 2**31)
        left = max(0, self.n - reached)
        given = [f"blocks={blocks or 0:,}"] * bool(blocks) + ["wait=True"] * bool(wait)
        self._seen.append(f"run({', '.join(given)}) gave {left:,}")
        return left


def check_edited(kernel, cause):
    find_causes(kernel, cause, Edited)


def check_unmarked(kernel, cause):
    find_causes(kernel, cause, Unmarked)


def find_causes(kernel, cause, program):
    if REPLY:
        report(lambda: launch(kernel))
    verdict(lambda: judge_causes(cause, program))


def launch(kernel):
    kernel[1, 32](cuda.to_device(np.ones(32)))
    return str(cuda.get_current_device().name) if GPU else ""


def judge_causes(cause, program):
    """Three programs, each with another cause, and once more in the other order."""
    if not callable(cause) or cause.__code__.co_argcount != 1:
        raise NotYet(": cause is a function with one argument, the program")
    said, seen = [], {}
    for letter in CAUSES + CAUSES[::-1]:
        one = program(letter)
        said.append((letter, cause(one), "; ".join(one._seen)))
        if said[-1][1] not in CAUSES:
            raise NotYet(
                f': where {letter} is the cause, you return {said[-1][1]!r}. Return "A", "B" or "C"'
            )
    for letter, answer, steps in said:
        if not steps:
            raise NotYet(f": where {letter} is the cause, you say {answer} and have tried nothing")
        if (other := seen.setdefault(steps, letter)) != letter:
            raise NotYet(
                f": with {other} and with {letter} as the cause you see the same: {steps}. What "
                "matters to one of them alone?"
            )
    for letter, answer, steps in said:
        if answer != letter:
            raise NotYet(f": where {letter} is the cause, you say {answer}, having seen: {steps}")
    with second_process() as found:
        return f"you name all three causes. The programs have one kernel{found()}"


def no_breakpoint(seen, *arguments):
    """Nothing is left of the search."""
    if "breakpoint" not in seen.kernel.fn.__code__.co_names:
        return ""
    return "the result is right, but a breakpoint() is left in the kernel"


check_tail = Exercise(
    inputs=lambda n: [numbers(n), 5],
    expected=lambda x, window: x[-window:],
    sizes=(3, 65, 5, 4, 1, 0),
    launch=lambda kernel, x, window, out: kernel[1, 8](x, window, out),
    rules=[writes_once, no_breakpoint],
)

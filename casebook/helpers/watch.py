"""Watch what the threads of a kernel do, in Numba's simulator: NUMBA_ENABLE_CUDASIM=1, no GPU.

    with watch("lockstep") as seen:     # or "in_order", or "random" with seed=3
        kernel[1, 8](out, x)
    print(seen)                         # races and other problems, in sentences
    show(seen)                          # a drawing of it

`python watch.py my_kernel.py` runs a script of yours and watches each of its launches.

One thread runs at a time, and the schedule says which one. "lockstep" goes on with the threads
that are furthest behind, "in_order" runs a thread until it ends or waits at a barrier, "random"
picks a thread before each access. Lockstep hides missing barriers and shows lost updates; in_order
does the reverse. A race comes from the barriers, so every schedule names it: two threads access one
element, one of them writes, not both are atomic, and no barrier lies between.

What it cannot tell:
- "No race" is true of this launch and these values only.
- Two plain writes of an equal value are no race here, because many right kernels set a flag so.
- The order is the simulator's. A GPU chooses its own, and may change it from run to run.
- Time, memory traffic, caches, fences, streams and asynchronous calls do not exist here.
- Types are NumPy's and Python's: integers wrap and floats round in another way than on a GPU.
- Accesses are those of the source. A compiler reorders them, merges them and drops some.
- Order from locks and flags is not understood, so a right lock is called a race.
- grid.sync is a barrier of each block for itself. Warps have no functions: no shuffle, no syncwarp.
- An access out of bounds, or `raise`, ends its thread; on a GPU the thread may go on.
- Shared memory starts with zeros; on a GPU it starts with anything.
- Local and constant arrays, global arrays and records are not watched.
"""
# mypy: allow-untyped-defs

import ast
import ctypes
import inspect
import linecache
import os
import random
import runpy
import sys
import textwrap
import threading
import time
import traceback
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import version
from math import prod
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before Numba is imported

import numpy as np
from numba import cuda
from numba.cuda.core import config

TRIED = "0.30.4"
if (here := version("numba-cuda")) != TRIED:
    raise ImportError(f"watch was tried with numba-cuda {TRIED} only, and this is {here}")
if not config.ENABLE_CUDASIM:
    raise ImportError("set the environment variable NUMBA_ENABLE_CUDASIM=1 before Python starts")

from numba.cuda.simulator import kernel as simulator  # noqa: E402
from numba.cuda.simulator import kernelapi  # noqa: E402
from numba.cuda.simulator.cudadrv.devicearray import FakeShape  # noqa: E402

MOST_THREADS, MOST_SHARED = 1024, 48 * 1024  # of one block
TOGETHER = 2048  # threads that take turns; further blocks run after them, as on a GPU
SCHEDULES = "lockstep", "in_order", "random"
LAUNCH = simulator.FakeCUDAKernel.__call__
SKIPPED = (  # files whose frames are not the kernel's
    (lambda: 0).__code__.co_filename,
    threading.__file__,
    str(Path(simulator.__file__).parent),
    str(Path(np.__file__).parent),
)
# problems, the most serious ones first
OUTSIDE, UNSET, MISSED, STUCK, REFUSED, STOPPED, RAISED, RACE, NEGATIVE = range(9)


@dataclass(slots=True, eq=False)
class Access:
    """What a thread did in a line: kind is "reads", "writes" or "atomic".

    block, thread and index are integers, or tuples where they have more than one dimension.
    The drawing knows two more kinds, "barrier" and "outside".
    """

    block: Any
    thread: Any
    line: int
    kind: str
    code: str  # text of the line
    phase: int  # number of barriers that the block has passed
    by: "Thread" = field(repr=False)
    array: str = ""
    index: Any = None
    value: Any = None
    address: int = field(default=0, repr=False)
    note: str = ""  # "lost" or "unset"

    def __str__(self) -> str:
        return f"thread {self.thread} of block {self.block}"

    @property
    def element(self) -> str:
        index = self.index if isinstance(self.index, tuple) else (self.index,)
        return f"{self.array}[{', '.join(map(str, index))}]"

    @property
    def place(self) -> str:
        return f"in line {self.line}, `{self.code}`"


@dataclass
class Race:
    """Two accesses without an order, and all elements for which their lines race."""

    element: str
    first: Access
    second: Access
    elements: list[str] = field(default_factory=list)
    lost: int = 0

    def __str__(self) -> str:
        a, b = self.first, self.second
        did = {"reads": "reads", "writes": "writes", "atomic": "atomically changes"}
        where = "" if a.line == b.line else f" it {a.place},"
        text = (
            f"Race on {self.element}: {a} {did[a.kind]}{where} and {b} {did[b.kind]} it {b.place}"
        )
        text += ", and no barrier lies between."
        if more := len(self.elements) - 1:
            text += f" The same goes for {count(more, 'more element')} of {a.array}."
        if self.lost:
            text += f" In this order {count(self.lost, 'update')} got lost."
        return text


class Stop(BaseException):
    """Ends a thread of a kernel."""


class Outside(Exception):
    """Ends a thread that left an array, after the access was noted."""


class Thread(threading.Thread):
    """A thread of a kernel. It runs only while it has the turn."""

    def __init__(self, seen, target, group, block, number, index):
        super().__init__(daemon=True)
        self.seen, self.target, self.group, self.number = seen, target, group, number
        self.blockIdx, self.threadIdx = kernelapi.Dim3(*block), kernelapi.Dim3(*index)
        self.names = flat(block, seen.grid), flat(index, seen.block)
        self.thread_id = number  # cuda.laneid asks for it
        self.turn = taken()
        self.state, self.position, self.line, self.code = "ready", (), 0, ""
        self.vote = self.abort = self.failed = False

    def run(self):
        self.turn.acquire()
        try:
            self.target()
        except Outside:
            self.failed = True
        except Stop:
            pass
        except Exception as error:
            self.failed = True
            self.locate(reversed(list(traceback.walk_tb(error.__traceback__))))
            what = self.access("raises")
            self.seen.add(
                RAISED,
                f"{str(what).capitalize()} raises {type(error).__name__} {what.place}: {error}.",
                self.line,
            )
        self.state = "done"
        if not self.abort:
            self.seen.back.release()

    def locate(self, walk):
        """Find the line of the kernel, and the place in the bytecode of it and of its callers."""
        frames = [one for one in walk if not one[0].f_code.co_filename.startswith(SKIPPED)]
        self.position = tuple(frame.f_lasti for frame, _ in reversed(frames))
        if frames:
            self.line = frames[0][1]
            self.code = linecache.getline(frames[0][0].f_code.co_filename, self.line).strip()

    def pause(self, state="ready"):
        """Give the turn back until the schedule chooses this thread again."""
        self.locate(traceback.walk_stack(sys._getframe(1)))
        if state == "ready" and self.seen.schedule == "in_order":
            return
        self.state = state
        self.seen.back.release()
        self.turn.acquire()
        if self.abort:
            raise Stop

    def access(self, kind, *more):
        phase = self.seen.phases[self.group]
        return Access(*self.names, self.line, kind, self.code, phase, self, *more)

    def syncthreads(self):
        self.pause("barrier")

    def poll(self, value, answer):
        self.vote = bool(value)
        self.pause("barrier")
        return int(answer(self.votes))

    def syncthreads_count(self, value):
        return self.poll(value, sum)

    def syncthreads_and(self, value):
        return self.poll(value, all)

    def syncthreads_or(self, value):
        return self.poll(value, any)


class Traced:
    """An array as a kernel sees it. `cells` are the places of its elements in the whole array."""

    def __init__(self, seen, name, array, shared, whole=None, cells=None):
        self._seen, self._name, self._array, self._shared = seen, name, array, shared
        self._whole = array if whole is None else whole
        self._cells = np.arange(array.size).reshape(array.shape) if cells is None else cells

    def _view(self, array, cells):
        return Traced(self._seen, self._name, array, self._shared, self._whole, cells)

    def _find(self, kind, index):
        """Wait for the turn, check the index, and return the places of the elements."""
        thread = threading.current_thread()
        thread.pause()
        parts = index if isinstance(index, tuple) else (index,)
        for part, length in zip(parts, self._array.shape, strict=False):
            if part is Ellipsis:
                break
            if isinstance(part, slice) or 0 <= part < length:
                continue
            shown = (
                parts[0]
                if len(parts) == 1
                else tuple(part if isinstance(part, slice) else int(part) for part in parts)
            )
            access = thread.access(kind, self._name, shown)
            self._seen.note_outside(access, self._array.shape, part, length)
        return self._cells[index]

    def _note(self, kind, cells, values):
        whole = self._whole
        for cell, value in zip(np.ravel(cells), np.ravel(values), strict=True):
            index = tuple(map(int, np.unravel_index(cell, whole.shape)))
            address = whole.ctypes.data + sum(map(int.__mul__, index, whole.strides))
            access = threading.current_thread().access(
                kind, self._name, index if len(index) > 1 else index[0], value.item(), address
            )
            self._seen.note(access, self._shared)
        return values

    def __getitem__(self, index):
        cells = self._find("reads", index)
        if isinstance(cells, np.ndarray):
            return self._view(self._array[index], cells)
        return self._note("reads", cells, self._array[index])

    def __setitem__(self, index, value):
        value = plain(value)
        cells = self._find("writes", index)
        self._array[index] = value
        self._note("writes", cells, self._array[index])

    def __len__(self):
        return len(self._array)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getattr__(self, name):
        if name.startswith("__"):  # NumPy takes the elements one by one instead
            raise AttributeError(name)
        if name == "T":
            return self.transpose()
        if name in ("reshape", "ravel", "transpose"):
            array, cells = getattr(self._array, name), getattr(self._cells, name)
            return lambda *shape: self._view(array(*shape), cells(*shape))
        value = getattr(self._array, name)
        if callable(value):  # such as x.sum()
            return getattr(plain(self), name)
        return FakeShape(value) if name == "shape" else value


def plain(value):
    """The values of a watched array, all of which are read; other values stay."""
    if not isinstance(value, Traced):
        return value
    return value._note("reads", value._find("reads", ...), value._array.copy())


class Atomic:
    """The simulator's atomic operations, for watched arrays."""

    def __init__(self, original):
        self.original = original

    def __getattr__(self, name):
        function = getattr(self.original, name)

        def call(array, *arguments):
            if not isinstance(array, Traced):
                return function(array, *arguments)
            index = (0,) * array.ndim if name == "compare_and_swap" else arguments[0]
            cells = array._find("atomic", index)
            before = function(array._array, *arguments)
            array._note("atomic", cells, array._array[index])
            return before

        return call


class watch:
    """Watch the launches in a `with` block; each ends after so many `events` or `seconds`.

    Raises ValueError for an unknown schedule. A problem of a kernel is never raised: even where it
    ends the launch the block goes on, and `problems` says what happened.
    """

    def __init__(
        self, schedule: str = "lockstep", seed: int = 0, events: int = 200_000, seconds: float = 10
    ) -> None:
        if schedule not in SCHEDULES:
            raise ValueError(f"no schedule {schedule!r}: choose from {', '.join(SCHEDULES)}")
        self.schedule, self.random = schedule, random.Random(seed)
        self.events, self.seconds, self.launches = events, seconds, 0
        self.accesses: list[Access] = []
        self.races: list[Race] = []
        self.found: dict[Any, list] = {}  # by what makes a repeat: rank, text, number of repeats

    def __enter__(self):
        seen, atomic = self, kernelapi.FakeCUDAAtomic

        class Blocks:
            """Takes the place of the class that runs a block; collects all, and runs them."""

            def __init__(self, function, *sizes):
                self.function = function

            def run(self, point, *arguments):
                if point == tuple(size - 1 for size in seen.grid):  # the last one
                    seen.run(self.function, arguments)

        new = (
            (simulator.FakeCUDAKernel, "__call__", lambda *a: seen.launch(*a)),
            (simulator, "BlockManager", Blocks),
            (kernelapi.FakeCUDAShared, "array", lambda *a, **k: seen.shared_array(*a, **k)),
            (kernelapi, "FakeCUDAAtomic", lambda: Atomic(atomic())),
        )
        self.replaced = [(owner, name, getattr(owner, name)) for owner, name, _ in new]
        for one in new:
            setattr(*one)
        return self

    def __exit__(self, *error):
        for one in self.replaced:
            setattr(*one)

    def launch(self, kernel, *arguments):
        scope = kernel.fn.__globals__
        if context := simulator._kernel_context:  # a device function
            if id(scope) not in self.scopes:  # stays changed, since threads take turns in it
                before = {name: value for name, value in scope.items() if value is cuda}
                self.scopes[id(scope)] = scope, before
                scope.update(dict.fromkeys(before, context))
            return kernel.fn(*arguments)
        inspect.signature(kernel.fn).bind(*arguments)
        if kernel.grid_dim is None:
            return LAUNCH(kernel, *arguments)  # which says what is missing
        self.kernel, self.grid, self.block = kernel, kernel.grid_dim, kernel.block_dim
        self.launches += 1
        self.steps = []
        self.memory = {}
        self.shared = {}
        self.scopes = {}
        self.written = set()
        self.phases = Counter()
        self.stopped, self.back = False, taken()
        if text := refused(self.grid, self.block):
            self.add(REFUSED, text)
            return None
        try:
            return LAUNCH(kernel, *arguments)
        finally:
            for scope, before in self.scopes.values():
                scope.update(before)

    def shared_array(self, memory, shape, dtype, alignment=None):
        thread, frame = threading.current_thread(), sys._getframe(2)
        key = thread.group, frame.f_code, frame.f_lasti
        if key in self.shared:
            return self.shared[key]
        thread.locate([(frame, frame.f_lineno)])
        is_type = isinstance(dtype, kernelapi.types.Type)
        dtype = kernelapi.numpy_support.as_dtype(dtype) if is_type else np.dtype(dtype)
        mine = [array for known, array in self.shared.items() if known[0] == thread.group]
        name, size = declaration(frame, [array._name for array in mine])
        if size:
            text = f"The shared array {name} {thread.access('').place} has a variable size, {size}"
            self.add(
                REFUSED, text + ": Numba wants a number that it knows when it compiles.", key[1:]
            )
        if dynamic := np.size(shape) == 1 and shape == 0:  # the block's dynamic arrays are one
            buffers = [array._array.base for array in mine if array._array.base is not None]
            buffer = buffers[0] if buffers else memory._dynshared.copy()
            array = buffer[: len(buffer) // dtype.itemsize * dtype.itemsize].view(dtype)
        else:
            array = np.zeros(shape, dtype)
        used = sum(a._array.nbytes for a in mine if a._array.base is None)
        used += memory._dynshared_size + array.nbytes * (not dynamic)
        if used > MOST_SHARED:
            self.stopped = True
            self.add(
                REFUSED,
                f"A block asks for {used:,} bytes of shared memory, and it can have "
                f"{MOST_SHARED:,}, so a GPU refuses the kernel.",
            )
            raise Stop
        self.shared[key] = self.wrap(name, array, f" of block {thread.names[0]}")
        return self.shared[key]

    def wrap(self, name, array, block=""):
        self.memory[name + block] = name, array
        return Traced(self, name, array, bool(block))

    # The schedule

    def run(self, function, arguments):
        wrapped = list(arguments)
        for at, name in enumerate(list(inspect.signature(function).parameters)[: len(wrapped)]):
            array = getattr(getattr(wrapped[at], "_item", None), "_ary", None)
            if isinstance(array, np.ndarray) and not array.dtype.names:
                wrapped[at] = self.wrap(name, array)
        places = [index[::-1] for index in np.ndindex(*self.block[::-1])]  # x runs fastest
        blocks = list(enumerate(point[::-1] for point in np.ndindex(*self.grid[::-1])))
        self.end = time.monotonic() + self.seconds
        while blocks and not self.stopped:
            many = max(1, TOGETHER // len(places))
            self.take_turns(
                [
                    Thread(self, lambda: function(*wrapped), *block, *place)
                    for block in blocks[:many]
                    for place in enumerate(places)
                ]
            )
            blocks = blocks[many:]
        self.judge()
        self.memory = {  # the values as they are now, for a drawing
            title: (name, array.shape, [v.item() for v in array.flat[:16]])
            for title, (name, array) in self.memory.items()
        }

    def take_turns(self, threads):
        self.blocks = defaultdict(list)
        for thread in threads:
            self.blocks[thread.group].append(thread)
        ready = Counter(thread.group for thread in threads)
        try:
            while chosen := self.choose([thread for thread in threads if thread.state == "ready"]):
                for thread in chosen:
                    self.resume(thread)
                    if self.stopped:
                        return
                    ready[thread.group] -= thread.state != "ready"
                    if not ready[thread.group]:
                        ready[thread.group] = self.open_barrier(self.blocks[thread.group])
        finally:
            for thread in threads:
                if thread.state != "done" and thread.ident:
                    thread.abort = True
                    if thread.turn.locked():
                        thread.turn.release()
                    thread.join(1)

    def choose(self, ready):
        if not ready or self.stopped:
            return []
        if self.schedule == "in_order":
            return ready
        if self.schedule == "random":
            return [self.random.choice(ready)]
        behind = min(thread.position for thread in ready)
        return [thread for thread in ready if thread.position == behind]

    def resume(self, thread):
        thread.turn.release()
        if not thread.ident:
            thread.start()
        if not self.back.acquire(timeout=max(0, self.end - time.monotonic())):
            stop = ctypes.c_ulong(thread.ident), ctypes.py_object(Stop)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(*stop)
            self.stop(thread, f"{self.seconds:g} seconds")

    def stop(self, thread, limit):
        self.stopped = True
        last = thread.access("")
        where = f"whose last access was {last.place}" if last.line else "which accessed nothing yet"
        self.add(
            STOPPED,
            f"The launch was stopped after {limit} in {last}, {where}. Does a loop never end?",
        )

    def open_barrier(self, block):
        """Let the threads of a block go on; returns how many do."""
        waiting = [thread for thread in block if thread.state == "barrier"]
        sites = defaultdict(list)
        for thread in waiting:
            sites[thread.number // 32, thread.position].append(thread)
            self.steps.append(thread.access("barrier"))
        if len(sites) > len({warp for warp, _ in sites}):  # a warp waits at one barrier
            text = ", ".join(f"{say(site)} in line {site[0].line}" for site in sites.values())
            if len({site[0].line for site in sites.values()}) == 1:
                text += ", which is there twice in the bytecode"
            self.add(
                STUCK,
                f"Threads of block {block[0].names[0]} wait at different barriers: "
                f"{text}. On a GPU they may wait for ever.",
            )
            self.stopped = True
            return 0
        missing = [thread for thread in block if thread.state == "done" and not thread.failed]
        if waiting and missing:
            at = waiting[0].access("")
            verb = "ends" if len(missing) == 1 else "end"
            self.add(
                MISSED,
                f"{say(missing).capitalize()} of block {at.block} {verb} before the "
                f"barrier {at.place}, at which the others wait.",
                at.line,
            )
        votes = [thread.vote for thread in waiting]  # before one of them goes on to vote again
        for thread in waiting:
            thread.state = "ready"
            thread.votes = votes
        self.phases[block[0].group] += 1
        return len(waiting)

    # The findings

    def add(self, rank, text, repeat=None):
        """Note a problem; one with a `repeat` that was there before in this launch is counted."""
        key = (self.launches, rank, repeat or text)
        self.found.setdefault(key, [rank, text, -1])[2] += 1

    def note(self, access, shared):
        if len(self.steps) >= self.events:
            self.stop(access.by, f"{self.events:,} accesses")
            raise Stop
        if access.kind != "writes" and shared and access.address not in self.written:
            access.note = "unset"
            self.add(
                UNSET,
                f"{str(access).capitalize()} reads {access.element} {access.place}, "
                "before any thread has set this shared memory.",
                (access.array, access.line),
            )
        if access.kind != "reads":
            self.written.add(access.address)
        self.accesses.append(access)
        self.steps.append(access)

    def note_outside(self, access, shape, part, length):
        did = "changes" if access.kind == "atomic" else access.kind
        text = f"{str(access).capitalize()} {did} {access.element} {access.place}, "
        if -length <= part < 0:
            self.add(
                NEGATIVE,
                text + "with a negative index: Numba counts from the end, so -1 is "
                "the last element.",
                (access.array, access.line),
            )
            return
        size = (
            f"{shape[0]} element{'s' * (shape != (1,))}"
            if len(shape) == 1
            else f"the shape {shape}"
        )
        self.add(OUTSIDE, f"{text}but {access.array} has {size}.", (did, access.array, access.line))
        access.kind, access.note = "outside", access.kind
        self.steps.append(access)
        raise Outside

    def judge(self):
        """Find the lost updates and the races of a launch that has ended."""
        history = defaultdict(list)
        for access in self.steps:
            if access.kind in FILL:
                history[access.address].append(access)
        races = {}
        for past in history.values():
            mark_lost(past)
            lost = sum(access.note == "lost" for access in past)
            for first, second in conflicts(past):
                key = first.array, frozenset((first.line, second.line))
                race = races.setdefault(key, Race(first.element, first, second))
                if first.element not in race.elements:
                    race.elements.append(first.element)
                    race.lost += lost
                    lost = 0
        self.races += races.values()
        for race in races.values():
            self.add(RACE, str(race))

    @property
    def problems(self) -> list[str]:
        """What is wrong, in sentences, the most serious first."""
        return [
            text + f" The same happens {count(more, 'more time')}." * (more > 0)
            for _, text, more in sorted(self.found.values(), key=lambda one: one[0])
        ]

    @property
    def reads(self) -> dict[str, int]:
        """How often each array was read. An atomic operation reads and writes."""
        return dict(Counter(one.array for one in self.accesses if one.kind != "writes"))

    @property
    def writes(self) -> dict[str, int]:
        """How often each array was written. An atomic operation reads and writes."""
        return dict(Counter(one.array for one in self.accesses if one.kind != "reads"))

    def __str__(self):
        if not self.launches:
            return "No kernel was launched."
        which = "this launch" if self.launches == 1 else f"these {self.launches} launches"
        threads = count(prod(self.grid + self.block), "thread")
        good = f"No race and no other problem in {which} ({self.schedule}, {threads})."
        return "\n".join(self.problems) or good

    def svg(self) -> str:
        """The last launch as a drawing: threads side by side, time downwards, memory below."""
        return Drawing(self).svg()


def taken():
    lock = threading.Lock()
    lock.acquire()
    return lock


def count(number, noun):
    return f"{number:,} {noun}{'s' * (number != 1)}"


def flat(index, sizes):
    """The index of a thread or a block, with as many dimensions as the launch has."""
    used = max(axis for axis in range(3) if sizes[axis] > 1 or axis == 0) + 1
    return index[:used] if used > 1 else index[0]


def say(threads):
    """Such as "threads 0 to 5, 7"."""
    parts = []
    for thread in threads:
        if parts and thread.number == parts[-1][-1].number + 1:
            parts[-1].append(thread)
        else:
            parts.append([thread])
    names = [" to ".join(str(end.names[1]) for end in dict.fromkeys((p[0], p[-1]))) for p in parts]
    return f"thread{'s' * (len(threads) > 1)} {', '.join(names)}"


def refused(grid, block):
    """Why a GPU refuses a launch, or nothing."""
    for sizes, noun in (grid, "blocks"), (block, "threads"):
        if min(sizes) < 1:
            return f"The launch has {min(sizes)} {noun}, so a GPU refuses it."
    if prod(block) > MOST_THREADS or block[2] > 64:
        return (
            f"The launch has {prod(block):,} threads in a block, so a GPU refuses it: a block "
            f"has at most {MOST_THREADS:,}, and at most 64 in z."
        )
    if grid[0] >= 2**31 or max(grid[1:]) > 65535:
        return f"The launch has {grid} blocks; a GPU takes 2,147,483,647 in x, 65,535 in y and z."
    return ""


def source_of(function):
    try:
        return inspect.getsourcelines(function)
    except OSError:  # such as a kernel that exec made
        return [], 0


def declaration(frame, taken):
    """Name of the shared array that a line makes, and its size if that is not constant."""
    lines, first = source_of(frame.f_code)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    values = defaultdict(list)  # that each local name gets
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            for one in node.args:
                values[one.arg] += [None, None]
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            for part in ast.walk(target) if target else ():
                if isinstance(part, ast.Name):
                    values[part.id].append(getattr(node, "value", None))

    def varies(size):
        return any(
            getattr(node, "attr", "") in ("blockDim", "gridDim", "threadIdx", "blockIdx")
            or len(known := values.get(getattr(node, "id", ""), ())) > 1
            or any(value is None or varies(value) for value in known)
            for node in ast.walk(size)
        )

    for name, (value, *_) in values.items():
        if name not in taken and isinstance(value, ast.Call):
            here = value.lineno <= frame.f_lineno - first + 1 <= (value.end_lineno or 0)
            if here and ast.unparse(value.func).endswith("shared.array"):
                size = [*value.args, *(k.value for k in value.keywords if k.arg == "shape")][0]
                return name, ast.unparse(size) if varies(size) else ""
    return f"shared{len(taken)}", ""


def conflicts(past):
    """Pairs of accesses of one element that nothing orders, for each two lines at least one.

    Of a line it keeps two values of two threads, or of two blocks: enough to find a pair.
    """
    kept = defaultdict(list)
    for access in past:
        by = access.by
        for scope, who in ((by.group, access.phase), "number"), ("all blocks", "group"):
            known, own = kept[scope], 0
            for other in known:
                if getattr(other.by, who) == getattr(by, who):
                    if (other.kind, other.line) == (access.kind, access.line):
                        own += 2 if same(other.value, access.value) else 1
                elif {other.kind, access.kind} not in ({"reads"}, {"atomic"}) and not (
                    other.kind == access.kind and same(other.value, access.value)
                ):
                    yield other, access
            alike = [o for o in known if (o.kind, o.line) == (access.kind, access.line)]
            if own < 2 and len(alike) < 4:
                known.append(access)


def same(one, other):
    return one == other or (one != one and other != other)


def mark_lost(past):
    """Follow the last value of an element back. An update on which it does not rest is lost.

    An update is a write of a thread that read the element just before, in the same line.
    """
    before = []  # the write before each access
    rests = []  # the write on which an update rests
    last, own = -1, {}
    for at, access in enumerate(past):
        mine = own.get(access.by, -1)
        before.append(last)
        update = mine >= 0 and past[mine].kind == "reads" and past[mine].line == access.line
        rests.append(last if access.kind == "atomic" else before[mine] if update else None)
        own[access.by] = at
        if access.kind != "reads":
            last = at
    while last >= 0:
        top, rest = last, rests[last]
        last = before[top] if rest is None else rest
        for between in range(last + 1, top):
            if past[between].kind != "reads" and rests[between] is not None:
                past[between].note = "lost"


INK, OK, BAD = "#6e6e6e", "#1a7f5a", "#c1440e"
BLUE, OCHRE, VIOLET = "#3f6ac4", "#876500", "#8f4fa5"
FILL = {"reads": BLUE, "writes": OCHRE, "atomic": VIOLET}
WIDTH, LEFT, MOST_COLUMNS, MOST_ROWS = 480, 92, 8, 60
COLUMN = (WIDTH - LEFT) / MOST_COLUMNS
ORDER = "This is the simulator's order. A GPU chooses its own."
MONO = 'font-family="ui-monospace, Menlo, Consolas, monospace" xml:space="preserve"'


class Drawing:
    """The last launch as SVG, made from the top to the bottom; `y` is how far it is."""

    def __init__(self, seen):
        self.seen, self.parts, self.y = seen, [], 4.0
        if seen.launches:
            self.columns = min(MOST_COLUMNS, prod(seen.grid + seen.block))
            self.steps = [step for step in seen.steps if self.column(step) < self.columns]
            self.source()
            self.legend()
            self.timeline()
            self.memory()
        for sentence in str(seen).splitlines()[:4]:
            self.sentence(sentence, BAD if seen.found else OK)
        self.sentence(ORDER, INK)

    def column(self, step):
        return step.by.group * prod(self.seen.block) + step.by.number

    def text(self, x, y, words, fill=INK, anchor="start", more=""):
        self.parts.append(
            f'<text x="{x:.1f}" y="{self.y + y:.1f}" font-size="13" fill="{fill}" '
            f'text-anchor="{anchor}" {more}>{escape(str(words))}</text>'
        )

    def box(self, x, y, width, height, fill, edge):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{self.y + y:.1f}" width="{width:.1f}" '
            f'height="{height}" rx="3" fill="{fill}" stroke="{edge}"/>'
        )

    def sentence(self, words, fill):
        for line in textwrap.wrap(words, 68):
            self.text(4, 13, line, fill)
            self.y += 18
        self.y += 5

    def source(self):
        lines, first = source_of(self.seen.kernel.fn)
        for number, line in enumerate(lines, first):
            if not line.lstrip().startswith("@"):
                self.text(28, 13, number, INK, "end", MONO)
                self.text(38, 13, short(line.rstrip(), 55), INK, "start", MONO)
                self.y += 17
        self.y += 8

    def legend(self):
        there = {step.kind for step in self.steps} | {step.note for step in self.steps}
        x = 4.0
        for key, word, fill in (
            ("reads", "read", BLUE),
            ("writes", "write", OCHRE),
            ("atomic", "atomic", VIOLET),
            ("barrier", "barrier", OK),
            ("lost", "lost", "none"),
            ("unset", "not set", "none"),
            ("outside", "outside", "none"),
        ):
            if key in there:
                self.box(x, 2, 12, 12, fill, BAD if fill == "none" else fill)
                self.text(x + 17, 13, word)
                x += 30 + 7 * len(word)
        self.y += 22
        words = "In each box the index of the element is above its value."
        total = prod(self.seen.grid + self.seen.block)
        self.sentence(
            words + f" {self.columns} of {total:,} threads are shown." * (total > self.columns), INK
        )

    def timeline(self):
        self.text(4, 13, "line")
        self.text(LEFT - 6, 13, "thread", INK, "end")
        for column in range(self.columns):
            number = column % prod(self.seen.block)
            self.text(LEFT + (column + 0.5) * COLUMN, 13, number, INK, "middle")
        self.y += 20
        rows = []
        for step in self.steps:  # beside the one before, if that is of the same line and array
            last = rows[-1][-1] if rows else step
            like = (last.line, last.array, last.kind == "barrier") == (
                step.line,
                step.array,
                step.kind == "barrier",
            )
            kinds = {last.kind, step.kind} - {"outside"}
            if self.column(last) < self.column(step) and like and len(kinds) < 2:
                rows[-1].append(step)
            else:
                rows.append([step])
        for row in rows[:MOST_ROWS]:
            barrier = row[0].kind == "barrier"
            self.text(4, 14 if barrier else 22, row[0].line)
            words = "barrier" if barrier else short(row[0].array, 7)
            self.text(LEFT - 6, 14 if barrier else 22, words, INK, "end")
            for step in row:
                x = LEFT + self.column(step) * COLUMN
                if barrier:
                    self.box(x, 7, COLUMN, 4, OK, OK)
                else:
                    self.cell(x, step.element[len(step.array) :], step)
            self.y += 19 if barrier else 37
        if len(rows) > MOST_ROWS:
            self.sentence(f"{count(len(rows) - MOST_ROWS, 'more row')} not shown.", INK)

    def cell(self, x, index, step):
        fill, edge, ink = FILL.get(step.kind), FILL.get(step.kind), "#ffffff"
        if step.note:
            fill, edge, ink = "none", BAD, BAD
        middle, most = x + COLUMN / 2, 6
        self.box(x + 1, 1, COLUMN - 2, 34, fill, edge)
        self.text(middle, 15, short(index, most), ink, "middle")
        value = "outs." if step.kind == "outside" else figure(step.value)
        struck = 'text-decoration="line-through"' if step.note == "lost" else ""
        self.text(middle, 30, short(value, most), ink, "middle", struck)

    def memory(self):
        """The first elements of each array after the launch."""
        used = {step.array for step in self.seen.steps}
        raced = {element for race in self.seen.races for element in race.elements}
        for title, (name, shape, values) in self.seen.memory.items():
            if name not in used:
                continue
            more = f", the first {len(values)} elements" * (len(values) < prod(shape))
            self.y += 6
            self.text(4, 13, f"{title} at the end{more}")
            self.y += 18
            for at, value in enumerate(values):
                x = LEFT + at % 8 * COLUMN
                index = f"[{', '.join(map(str, map(int, np.unravel_index(at, shape))))}]"
                race = name + index in raced
                self.text(x + COLUMN / 2, 13, short(index, 6), BAD if race else INK, "middle")
                self.box(x + 1, 17, COLUMN - 2, 19, "none", BAD if race else INK)
                self.text(x + COLUMN / 2, 31, short(figure(value), 6), INK, "middle")
                if race:
                    self.text(LEFT - 6, 31, "race", BAD, "end")
                if at % 8 == 7 or at == len(values) - 1:
                    self.y += 40
        self.y += 6

    def svg(self):
        seen = self.seen
        title = f"{seen.kernel.__name__}, {seen.schedule}" if seen.launches else "nothing"
        said = escape(" ".join(f"{title}: {seen} {ORDER}".split()))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.y:.0f}" '
            f'width="{WIDTH}" height="{self.y:.0f}" font-family="sans-serif" role="img" '
            f'aria-label="{said}">\n<title>{escape(title)}</title>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


def short(words, most):
    return words if len(words) <= most else words[: most - 1] + "…"


def figure(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def show(seen: watch) -> None:
    """Show the drawing, in a pinned cell or in IPython; elsewhere write it to picture.svg."""
    folder, ipython = os.environ.get("CASEBOOK_FOLDER"), sys.modules.get("IPython")
    if folder is None and ipython and ipython.get_ipython():
        ipython.display.display(ipython.display.SVG(seen.svg()))
        return
    path = Path(folder or "").resolve() / "picture.svg"
    path.write_text(seen.svg(), "utf-8")
    if folder is None:
        print(path)


def main(script: str) -> None:
    """Run a script, and each launch of it in two orders, both from the same values."""

    def twice(kernel, *arguments):
        if simulator._kernel_context:
            return LAUNCH(kernel, *arguments)
        arrays = [getattr(one, "_ary", one) for one in arguments]
        before = [(one, one.copy()) for one in arrays if isinstance(one, np.ndarray)]
        for schedule in "lockstep", "in_order":
            for array, values in before:
                if array.flags.writeable:
                    array[...] = values
            with watch(schedule) as seen:
                kernel(*arguments)
            print(f"{kernel.__name__}[{kernel.grid_dim}, {kernel.block_dim}], {schedule}:")
            print(seen, end="\n\n")

    simulator.FakeCUDAKernel.__call__ = twice
    sys.modules["watch"] = sys.modules["__main__"]  # for a script that imports watch
    sys.path[0], sys.argv = str(Path(script).resolve().parent), sys.argv[1:]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])

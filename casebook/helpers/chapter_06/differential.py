"""Compares kernels, compiled by whichever of two packages is installed, with Python and NumPy.

    from differential import op, kernel, run

    run([op("a % b", "int32 int32 -> int32", "b != 0"), …])

Each entry gets several hundred inputs, the same in every process: the edges of the types in all
pairs, and what Hypothesis draws. Its results are compared with those of its judge (Python or
NumPy): integers, booleans and records exactly, floating point within `ulp` units in the last place.
Where they differ, the failing input with the smallest numbers is printed. Entries are distributed
over processes, because compiling takes most of the time, and because an entry may end its process:
the others go on in a new one.
"""

import hashlib
import itertools
import json
import linecache
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import from_dtype

try:
    from numba_cuda_mlir import cuda

    PACKAGE = "numba-cuda-mlir"
except ModuleNotFoundError:
    try:
        from numba import cuda

        PACKAGE = "numba-cuda"
    except ModuleNotFoundError:
        cuda = PACKAGE = None  # inputs and judges only

ROWS, TABLES = 64, 8
EXACT = [s * (2**n + k) for n in (24, 31, 53) for k in (-1, 0, 1) for s in (1, -1)]
PROCESSES, SECONDS = min(12, os.cpu_count()), 60  # at once; for one entry
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, -3.7, 1e-3, 1e6, math.inf, -math.inf, math.nan]


@dataclass(frozen=True)
class Entry:
    """A kernel over columns of equal length, and the right results."""

    name: str
    function: Callable  # the kernel: columns, then the result
    columns: tuple  # their dtypes
    result: np.dtype
    judge: Callable  # columns -> array of the right results
    where: Callable  # a row of Python values -> is this input allowed
    ulp: int = 0  # allowed error of floating point results
    rows: int = 0  # exact number of rows, in one block; 0 for any number


def op(expression, signature, where="True", judge=None, ulp=0):
    """An entry for one expression of a, b, c: `op("a % b", "int32 int32 -> int32", "b != 0")`.

    The judge evaluates `judge`, or the same expression, in Python, where integers do not wrap;
    storing wraps them.
    """
    columns, result = dtypes(signature)
    names = "abc"[: len(columns)]
    right = eval(f"lambda {', '.join(names)}: {judge or expression}", NAMES)

    def judged(*values):
        return stored(
            [right(*row) for row in zip(*(column.tolist() for column in values), strict=True)],
            result,
        )

    loads = "; ".join(f"{name} = {name.upper()}[i]" for name in names)
    source = (
        f"def kernel({', '.join(names.upper())}, out):\n"
        "    i = cuda.grid(1)\n"
        "    if i < out.size:\n"
        f"        {loads}\n"
        f"        out[i] = {expression}\n"
    )
    return Entry(
        f"{expression} ({signature})",
        compiled(source),
        columns,
        result,
        judged,
        eval(f"lambda {', '.join(names)}: {where}", NAMES),
        ulp,
    )


def kernel(signature, judge, rows=64, where=lambda *row: True, ulp=0):
    """Decorator: an entry for a kernel; `judge` maps arrays of `rows` values to right results."""
    columns, result = dtypes(signature)

    def entry(function):
        return Entry(
            f"{function.__name__.replace('_', ' ')} ({signature})",
            function,
            columns,
            result,
            judge,
            where,
            ulp,
            rows,
        )

    return entry


def run(entries, keep=None):
    """Print a line for each entry, then how many are right.

    The calling script is started again for each share of the entries. With `keep`, the name of a
    file, only the number is printed, and {entry: outcome} is written to that file as JSON.
    """
    if len(sys.argv) > 1:
        return share(entries, int(sys.argv[1]))
    with ThreadPoolExecutor(PROCESSES) as pool:
        answers = dict(
            itertools.chain.from_iterable(
                pool.map(lambda first: answered(entries, first), range(PROCESSES))
            )
        )
    said = {entry.name: answers[number] for number, entry in enumerate(entries)}
    print(PACKAGE, version(PACKAGE))
    if keep:
        Path(keep).write_text(json.dumps(said))
    else:
        print(*(f"{name}: {said[name]}" for name in said), sep="\n")
    print(sum(line.startswith("right") for line in said.values()), "of", len(said), "right")


def answered(entries, first):
    """[(number, outcome)] of every PROCESSES-th entry; after a crash a new process goes on."""
    answers, number = [], first
    while number < len(entries):
        process = subprocess.run(
            [sys.executable, sys.argv[0], str(number)], capture_output=True, text=True
        )
        answers += [
            (int(found[1]), found[2]) for found in re.finditer(r"(?m)^(\d+)\|(.*)$", process.stdout)
        ]
        number = answers[-1][0] + PROCESSES if answers else number
        if process.returncode and number < len(entries):
            last = (process.stderr.strip().splitlines() or [""])[-1]
            answers.append(
                (number, f"the process ended with {process.returncode} {last[:70]}".rstrip())
            )
            number += PROCESSES
    return answers


def share(entries, first):
    """Run every PROCESSES-th entry from `first`; a lost context or a time-out ends the process."""
    for number in range(first, len(entries), PROCESSES):
        signal.alarm(SECONDS)
        print(number, outcome(entries[number]), sep="|", flush=True)
        try:
            cuda.synchronize()
        except Exception:
            os._exit(0)  # the context is lost; a normal exit would fail


def outcome(entry):
    """The outcome of an entry, in one line."""
    try:
        columns = inputs(entry)
        got, want = results(entry, columns), right(entry, columns)
    except Exception as error:
        return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:70]}"
    bits = hashlib.sha256(repr(got.tolist()).encode()).hexdigest()[:8]
    wrong = np.flatnonzero(~same(got, want, entry.ulp))
    far = f", {units(got, want).max():.2g} of {entry.ulp} units off" if entry.ulp else ""
    if not wrong.size:
        return f"right{far}, bits {bits}"
    row = min(wrong, key=lambda number: sum(map(magnitude, (column[number] for column in columns))))
    shown = ", ".join(
        f"{name} = {column[row]!s}"
        for name, column in zip("abc", columns, strict=False)
        if not entry.rows
    )
    found = f"{got[row]!s}, not {want[row]!s}, {wrong.size} of {got.size}{far}, bits {bits}"
    return f"WRONG{' for ' * bool(shown)}{shown}: {found}"


def magnitude(value):
    """Distance of a value from zero; 0 for records and NaN."""
    return 0 if value.dtype.names or value != value else abs(float(abs(value)))


def inputs(entry):
    """Columns of several hundred rows, always the same: all pairs of edges, and random ones."""
    types = (*entry.columns, entry.result)
    mixed = any(t.kind in "iu" for t in types) and any(t.kind == "f" for t in types)
    pairs = itertools.product(*(edges(dtype, mixed) for dtype in entry.columns))
    tables = [] if entry.rows else [list(pairs)]
    rows = st.tuples(*map(values, entry.columns))

    @settings(
        max_examples=TABLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(rows, min_size=ROWS, max_size=ROWS))
    def draw(table):
        tables.append(table)

    draw()
    allowed = [row for table in tables for row in table if entry.where(*row)]
    if not allowed:
        raise ValueError("no input is allowed")
    if entry.rows:  # whole launches only
        allowed = (allowed * entry.rows)[: max(len(allowed) // entry.rows, 1) * entry.rows]
    return [
        np.array(list(column), dtype)
        for column, dtype in zip(zip(*allowed, strict=True), entry.columns, strict=True)
    ]


def values(dtype):
    """Strategy for Python values of a dtype: its edges as often as anything else."""
    strategies = [
        from_dtype(dtype).map(lambda value: value.item() if hasattr(value, "item") else value)
    ]
    if edges(dtype):
        strategies.insert(0, st.sampled_from(edges(dtype)))
    if dtype.kind == "f":
        strategies += [
            st.floats(-100, 100, width=8 * dtype.itemsize),
            st.integers(-999, 999).map(float),
        ]
    return st.one_of(strategies)


def edges(dtype, mixed=False):
    """Python values where something changes: the ends and middle of the type, zero, infinity.

    `mixed`: integers meet floats, so the limits of exact integers in a float count too.
    """
    exact = EXACT if mixed else []
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        near = {low, low + 1, -1, 0, 1, 2, 3, 7, high // 2, high // 2 + 1, high - 1, high, *exact}
        return [edge for edge in sorted(near, key=abs) if low <= edge <= high]
    if dtype.kind == "f":
        info = np.finfo(dtype)
        near = [*FLOATS, info.max, info.tiny, info.smallest_subnormal, 1 + info.eps, *exact]
        return [
            float(dtype.type(edge))
            for edge in near
            if not abs(edge) > float(info.max) or math.isinf(edge)
        ]
    if dtype.kind == "c":
        return [complex(*parts) for parts in itertools.product((0.0, 1.0, -2.5, 3.0), repeat=2)]
    return [False, True] if dtype.kind == "b" else []


def results(entry, columns):
    """Run the kernel on the GPU, one thread a row."""
    launched = cuda.jit(entry.function)
    parts = []
    for part in launches(entry, columns):
        size = len(part[0])
        out = fenced(np.zeros(size, entry.result))
        blocks, threads = (1, size) if entry.rows else (-(-size // 128), 128)
        launched[blocks, threads](*map(fenced, part), out)
        parts.append(out.copy_to_host())
    return np.concatenate(parts)


def fenced(column):
    """The column on the GPU, between rows of bytes of 1, so that wrong indices do no harm.

    A wrong index near the column reads the same value every time.
    """
    rows = np.frombuffer(b"\1" * (len(column) + 2 * ROWS) * column.itemsize, column.dtype).copy()
    rows[ROWS:-ROWS] = column
    return cuda.to_device(rows)[ROWS:-ROWS]


def right(entry, columns):
    """The judge's results for the same launches."""
    return np.concatenate(
        [np.asarray(entry.judge(*part), entry.result) for part in launches(entry, columns)]
    )


def launches(entry, columns):
    """The columns of each launch: all rows, or `entry.rows` of them."""
    step = entry.rows or len(columns[0])
    return [[column[k : k + step] for column in columns] for k in range(0, len(columns[0]), step)]


def same(got, want, ulp):
    """Where two arrays agree: equal, both NaN, or at most `ulp` units in the last place apart."""
    return units(got, want) <= ulp


def units(got, want):
    """Distance of two arrays in units in the last place of `want`; 0 or infinity if not floats."""
    if got.dtype.names:
        return np.max([units(got[name], want[name]) for name in got.dtype.names], axis=0)
    if got.dtype.kind == "c":
        return np.maximum(units(got.real, want.real), units(got.imag, want.imag))
    equal = (got == want) | (got != got) & (want != want)
    if got.dtype.kind != "f":
        return np.where(equal, 0, math.inf)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(equal, 0, np.abs(got - want) / np.spacing(np.abs(want)))


def stored(values, dtype):
    """Python values as an array of a dtype: integers wrap, floats are rounded."""
    if dtype.kind in "iu":
        bits = 8 * dtype.itemsize
        return (
            np.array([int(value) % 2**bits for value in values], np.uint64)
            .astype(f"u{dtype.itemsize}")
            .view(dtype)
        )
    with np.errstate(over="ignore"):
        return np.array(values, dtype)


def dtypes(signature):
    """ "int32 int32 -> bool" as dtypes of the columns and of the result."""
    columns, _, result = signature.partition(" -> ")
    return tuple(np.dtype(column, align=True) for column in columns.split()), np.dtype(
        result, align=True
    )


def compiled(source):
    """The function in a source text, whose lines tracebacks and compilers find in linecache."""
    name = f"<kernel {hashlib.sha256(source.encode()).hexdigest()[:8]}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    names = dict(NAMES)
    exec(compile(source, name, "exec"), names)
    return names[source.split("(")[0].removeprefix("def ")]


NAMES = {"cuda": cuda, "math": math, "np": np}

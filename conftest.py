"""Notebooks through nbval, a worker for each processor, and a summary of what ran.

Cells that need more GPUs than there are, one or two, are skipped. With the receipt's GPU model
every other cell runs and is compared. With another model every other cell runs and its outcome is
checked, but outputs of GPU cells are not compared. CASEBOOK_REQUIRE_GPU=1 makes a missing GPU an
error, and a missing second one not; CASEBOOK_REQUIRE_ALL=1 makes every other skip an error.

With CASEBOOK_REMEMBER=1, which `make test` sets, the cells and answers that passed on this machine
with the same inputs do not run again. Where a GPU is, or every skip is an error, all of them run.
"""

import collections
import datetime
import functools
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import nbval.kernel
import pytest
from jupyter_client.manager import KernelManager
from nbval.plugin import IPyNbCell

from casebook.cells.hashes import digest, tree
from casebook.cells.header import Header
from casebook.cells.notebook import Receipt
from casebook.cells.repository import ROOT
from casebook.chapters import Cell, Chapter, at, receipts
from casebook.environments import create, gpu
from casebook.environments.build import build
from casebook.errors import EnvironmentFailure, MissingPython
from casebook.execution.kernel import over_files
from casebook.magics import too_few

PASSED = "casebook/passed"  # in pytest's cache: for each subject its inputs, and the day it passed
CACHED = "casebook/seconds"  # in pytest's cache: seconds of each file in its last run
# Seconds of the longest tests where nothing is cached; a notebook's are those of its receipt.
SECONDS = {
    "test_lessons.py": 90,
    "test_exercises.py": 60,
    "test_native.py": 30,
    "test_browser.py": 30,
    "test_seen.py": 60,
}


def pytest_configure(config: pytest.Config) -> None:
    if gpu.required() and not gpu.find():
        raise pytest.UsageError("CASEBOOK_REQUIRE_GPU is set and this machine has no NVIDIA GPU")
    if gpu.find():
        os.environ["CASEBOOK_REQUIRE_GPU"] = "1"  # a busy GPU is no reason to skip a cell
    nbval.kernel.KernelManager = IpcKernelManager
    memory = Memory(config)
    config.pluginmanager.register(memory, "memory")
    config.pluginmanager.register(Cells(), "cells")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Summary(config, memory), "summary")


class IpcKernelManager(KernelManager):
    """A kernel manager that connects over files, and never kills.

    nbval kills each kernel at its end: the folders that cells of case 28 share, 1.2 GB, would stay.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**over_files(), shutdown_wait_time=60, **options)

    def shutdown_kernel(self, now: bool = False, restart: bool = False) -> None:
        super().shutdown_kernel(restart=restart)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than processors: on two, some test nearly always waits for something else than them,
    a time limit or a disk. Each worker more costs the time to collect all tests."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Longest files first, so that all workers end at the same time."""
    cache = getattr(config, "cache", None)
    known = cache.get(CACHED, {}) if cache else {}

    def seconds(item: pytest.Item) -> float:
        if isinstance(item, IPyNbCell):
            guess = (at(item.path).receipt or {}).get("seconds", 0)
        else:
            guess = SECONDS.get(item.path.name, 0)
        return known.get(file_of(item.nodeid), guess)

    items.sort(key=seconds, reverse=True)


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def counted(things: Collection[object], noun: str) -> str:
    return f"{len(things)} {noun}{'s' * (len(things) != 1)}"


def same_gpu(receipt: Receipt | None) -> bool:
    found = gpu.find()
    return bool(receipt and found and found.name == receipt["gpu"])


def all_required() -> bool:
    return os.environ.get("CASEBOOK_REQUIRE_ALL") == "1"


def allowed(reason: str) -> bool:
    """True for a skip for want of a GPU or its driver, the one that no setting forbids."""
    return bool(re.search("GPU|driver", reason))


cells_inputs = functools.cache(receipts.inputs)


@functools.cache
def answers_inputs(book: Chapter) -> str:
    """Hash of all that decides how the answers to a chapter's exercises are judged."""
    files = [ROOT / "tests" / name for name in ("attempts.py", "content/test_exercises.py")]
    texts = [file.read_text("utf-8") for file in files]
    grading = tree(ROOT / "casebook/teaching/grading")
    return digest(str([cells_inputs(book), book.sidecar.get("answers"), texts, grading]))


class Memory:
    """Leaves out the cells of a chapter, and the answers to its exercises, that passed here with
    the same inputs; remembers which passed."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        cache = getattr(config, "cache", None)
        self.passed: dict[str, list[str]] = cache.get(PASSED, {}) if cache else {}
        self.left_out: dict[str, str] = {}  # the day on which each subject passed
        self.running: dict[str, tuple[str, int]] = {}  # a subject's inputs, its number of items
        self.ended: collections.Counter[str] = collections.Counter()
        self.failed: set[str] = set()

    def subject(self, item: pytest.Item) -> tuple[str, str]:
        """What an item belongs to, and its inputs; two empty texts for a test that always runs."""
        if isinstance(item, IPyNbCell):
            return item.path.name, cells_inputs(at(item.path))
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if item.path.name == "test_exercises.py" and "answer" in parameters:
            book = parameters["book"]
            return f"answers of {book.name}", answers_inputs(book)
        return "", ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        subjects = {item: self.subject(item) for item in items}
        sizes = collections.Counter(name for name, _ in subjects.values())
        every = gpu.required() or all_required() or os.environ.get("CASEBOOK_REMEMBER") != "1"
        for item, (name, inputs) in subjects.items():
            stored, day = self.passed.get(name, ("", ""))
            if name and stored == inputs and not every:
                self.left_out[name] = day
                items.remove(item)
            elif name:
                item.user_properties.append(("subject", (name, inputs, sizes[name])))
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["left_out"] = self.left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.left_out |= getattr(node, "workeroutput", {}).get("left_out", {})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        subject: Any = dict(report.user_properties).get("subject")
        if subject:
            name, inputs, size = subject
            self.running[name] = inputs, size
            self.ended[name] += report.when == "teardown"
            if report.failed or (report.skipped and not allowed(str(report.longrepr))):
                self.failed.add(name)

    def pytest_sessionfinish(self) -> None:
        cache = getattr(self.config, "cache", None)
        part = any("::" in name for name in self.config.args)
        if not cache or part or hasattr(self.config, "workerinput") or gpu.find():
            return
        today = datetime.date.today().isoformat()
        for name, (inputs, size) in self.running.items():
            if name not in self.failed and self.ended[name] == size:
                self.passed[name] = [inputs, today]
        cache.set(PASSED, self.passed)


class Cells:
    """Runs notebook cells as readers count them, after their environments are made."""

    def __init__(self) -> None:
        self.ready: list[Header] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if isinstance(item, IPyNbCell):
                book = at(item.path)
                self.place(item, book.cells[item.cell_num], book)

    def place(self, item: IPyNbCell, cell: Cell, book: Chapter) -> None:
        item.casebook_cell = cell
        # Seconds from a cell's end to its last output: nbval's 5 are few on a busy machine.
        item.output_timeout = 60
        # Receipts from before 2026-11-28 have the last line below a check's "Not yet", too.
        item.parent.sanitize_patterns[r"(?ms)(^Not yet.*)^as expected: exit status 0\n"] = r"\1"
        item.cell_num = cell.number
        # pytest has no public way to rename an item
        item._id = item._id.parse(f"{item.parent.nodeid}::cell {cell.number}")
        if cell.needs_gpu and (reason := too_few(cell.gpus)):
            item.add_marker(pytest.mark.skip(reason=reason))
        elif cell.needs_gpu and (not same_gpu(book.receipt) or cell.node.id in book.pending):
            item.options["check"] = False

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Make what `casebook prepare` has not made: the cell itself would print its progress."""
        header = isinstance(item, IPyNbCell) and item.casebook_cell.header
        if not header or header in self.ready:
            return
        start, reported = time.monotonic(), list[str]()
        try:
            made = create.make(header, reported.append)
            if header.build:
                build(header, made, reported.append)
        except MissingPython as error:
            pytest.skip(str(error))
        except EnvironmentFailure:
            return  # the cell says it
        self.ready.append(header)
        if reported:
            item.user_properties.append(("prepared", time.monotonic() - start))


class Summary:
    """What ran, what was skipped and why. With workers, this is in the process they report to."""

    def __init__(self, config: pytest.Config, memory: Memory) -> None:
        self.config = config
        self.memory = memory
        self.start = time.monotonic()
        self.books: dict[str, Chapter] = {}
        self.ended: dict[str, collections.Counter[str]] = collections.defaultdict(
            collections.Counter
        )
        self.skipped: collections.Counter[str] = collections.Counter()
        self.seconds: dict[str, float] = collections.defaultdict(float)
        self.prepared: list[float] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        self.expect(ids)

    def expect(self, ids: Iterable[str]) -> None:
        for name in {file_of(nodeid) for nodeid in ids}:
            if name.endswith(".ipynb"):
                self.books[name] = at(self.config.rootpath / name)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = file_of(report.nodeid)
        self.seconds[file] += report.duration
        if report.when == "call" or report.outcome != "passed":
            self.ended[file][report.outcome] += 1
            self.prepared += (
                float(str(s)) for key, s in report.user_properties if key == "prepared"
            )
        if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
            self.skipped[report.longrepr[2].replace("Skipped: ", "")] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.OK and (self.lost() or self.forbidden()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if cache := getattr(self.config, "cache", None):
            cache.set(CACHED, cache.get(CACHED, {}) | self.seconds)

    def lost(self) -> dict[str, int]:
        """Number of cells that neither ran nor were skipped, unless only a part was asked for."""
        option = self.config.option
        some = any("::" in name for name in self.config.args)
        if option.collectonly or option.keyword or option.markexpr or some:
            return {}
        counts = {
            name: len(book.cells) - self.ended[name].total() for name, book in self.books.items()
        }
        return {name: count for name, count in counts.items() if count}

    def forbidden(self) -> list[str]:
        """Reasons of skips that CASEBOOK_REQUIRE_ALL forbids: all that do not speak of a GPU."""
        return [why for why in self.skipped if all_required() and not allowed(why)]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.seconds:
            return
        terminalreporter.section("summary")
        for title, lines in (
            ("chapters", self.chapters()),
            ("left out", self.left_out()),
            ("tests", self.tests()),
            ("skipped", self.reasons()),
            ("time", self.times()),
        ):
            for number, line in enumerate(lines):
                terminalreporter.line(f"{'' if number else title:10}{line}")

    def total(self, files: Iterable[str]) -> str:
        ended: collections.Counter[str] = sum(
            (self.ended[file] for file in files), collections.Counter()
        )
        return ", ".join(f"{ended[key]} {key}" for key in ("passed", "failed", "skipped"))

    def chapters(self) -> Iterator[str]:
        if not self.books:
            return
        yield f"{self.total(self.books)} (cells of {counted(self.books, 'notebook')})"
        for name, book in sorted(self.books.items()):
            if self.ended[name]["failed"]:
                yield f"{book.name}: {self.total([name])}"
            if lost := self.lost().get(name):
                yield f"{book.name}: {lost} of {len(book.cells)} cells NOT ACCOUNTED FOR"
        found = gpu.find()
        if found and (other := [b for b in self.books.values() if not same_gpu(b.receipt)]):
            yield (
                f"outputs of GPU cells in {counted(other, 'notebook')} not compared: "
                f"no receipt of an {found.name}"
            )

    def left_out(self) -> Iterator[str]:
        """What did not run, because it passed here with the same inputs."""
        if days := self.memory.left_out:
            notebooks = [name for name in days if name.endswith(".ipynb")]
            yield (
                f"cells of {counted(notebooks, 'notebook')}, answers to exercises of "
                f"{counted(days.keys() - {*notebooks}, 'notebook')}"
            )
            yield (
                f"They passed here with the same inputs, the first on {min(days.values())}. "
                "`make test FRESH=1` runs everything."
            )

    def tests(self) -> Iterator[str]:
        if files := self.ended.keys() - self.books.keys():
            yield f"{self.total(files)} (in {counted(files, 'file')})"

    def reasons(self) -> Iterator[str]:
        """At most ten lines, those that are not allowed first."""
        forbidden = self.forbidden()
        counts = sorted(self.skipped.items(), key=lambda item: (item[0] not in forbidden, -item[1]))
        for why, count in counts[:9]:
            yield f"{count} × {why}{' NOT ALLOWED' * (why in forbidden)}"
        if len(counts) > 9:
            yield f"{sum(count for _, count in counts[9:])} × other reasons; `-rs` shows them"

    def times(self) -> Iterator[str]:
        slowest = ", ".join(
            f"{Path(file).stem} {seconds:.0f}"
            for file, seconds in sorted(self.seconds.items(), key=lambda item: -item[1])[:5]
        )
        yield f"{time.monotonic() - self.start:.0f} s; the longest files, in seconds: {slowest}"
        if self.prepared:
            yield (
                f"{sum(self.prepared):.0f} s of it for {counted(self.prepared, 'environment')} "
                "that `casebook prepare` would have made before"
            )

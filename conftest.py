"""nbval over the chapters: which cells run on this machine, which outputs are compared, and the count of both.

Cells that need more GPUs than there are, one or two, are skipped. With the receipt's GPU model every other cell runs and is compared.
With another model every other cell runs and its outcome is checked, but outputs of GPU cells are not compared. CASEBOOK_REQUIRE_GPU=1
makes a missing GPU an error, and a missing second one not.
"""

import collections
import os
import tempfile
import uuid

import nbval.kernel
import pytest
from jupyter_client.manager import KernelManager
from nbval.plugin import IPyNbCell

from casebook.authoring import chapters
from casebook.cells.verdict import OLD_WORDS
from casebook.environments import gpu
from casebook.magics import too_few


def pytest_configure(config):
    if gpu.required() and not gpu.find():
        raise pytest.UsageError("CASEBOOK_REQUIRE_GPU is set and this machine has no NVIDIA GPU")
    nbval.kernel.KernelManager = over_files
    config.pluginmanager.register(Places(), "places")
    if hasattr(config, "workerinput"):
        take_turns(int(config.workerinput["workerid"].removeprefix("gw")))
    else:
        config.pluginmanager.register(Count(config), "count")


def over_files(**named):
    """The manager of a kernel that is spoken to over files of its own.

    A port that is free when one manager chooses it may be chosen by another one too, in 19 of 40 tries with 24 kernels in the same second.
    The second kernel then dies, or it never answers.
    """
    return KernelManager(
        transport="ipc",
        connection_file=f"{tempfile.gettempdir()}/kernel-{uuid.uuid4().hex[:12]}.json",
        **named,
    )


def take_turns(number):
    """Each worker's first GPU is another one, where there are several; it sees the rest behind its own."""
    if gpu.find():
        seen = (
            os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(gpu.find().count)))
        ).split(",")
        turn = number % len(seen)
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(seen[turn:] + seen[:turn])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """For `-n auto`: two more than processors, since a script that must hang, a browser and uv let a worker wait."""
    return len(os.sched_getaffinity(0)) + 2


def same_gpu(book):
    return bool(book.receipt) and gpu.find().name == book.receipt["gpu"]


class Places:
    """Gives every cell the number that its reader sees, and its part on this machine. Each worker does that for itself."""

    def pytest_collection_modifyitems(self, items):
        for item in items:
            if isinstance(item, IPyNbCell):
                self.place(item, chapters.at(item.path))

    def place(self, item, book):
        cell = book.cells[item.cell_num]
        item.output_timeout = (
            60  # seconds from a cell's end to its last output: nbval's 5 are few on a busy machine
        )
        item.parent.sanitize_patterns.update(OLD_WORDS)
        item.cell_num = cell.number
        item._id = item._id.parse(
            f"{item.parent.nodeid}::cell {cell.number}"
        )  # pytest has no public way to rename an item
        if not cell.needs_gpu:
            return
        if reason := too_few(cell.gpus):
            item.add_marker(pytest.mark.skip(reason=reason))
        elif not same_gpu(book):
            item.options["check"] = False


class Count:
    """How the cells of each chapter ended. With workers (pytest -n) this is in the process that they report to."""

    def __init__(self, config):
        self.config = config
        self.books = {}
        self.ended = collections.defaultdict(collections.Counter)

    def pytest_collection_finish(self, session):
        self.expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        self.expect(ids)

    def expect(self, ids):
        for name in {nodeid.partition("::")[0] for nodeid in ids}:
            if name.endswith(".ipynb") and name not in self.books:
                self.books[name] = chapters.at(self.config.rootpath / name)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.ended[report.nodeid.partition("::")[0]][report.outcome] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if self.uncounted() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def uncounted(self):
        """Chapters of which some cell neither ran nor was skipped, unless only a part was asked for."""
        option = self.config.option
        if (
            option.collectonly
            or option.keyword
            or option.markexpr
            or any("::" in name for name in self.config.args)
        ):
            return []
        return [
            name for name, book in self.books.items() if self.ended[name].total() != len(book.cells)
        ]

    def pytest_terminal_summary(self, terminalreporter):
        if not self.books:
            return
        terminalreporter.section("chapters")
        for name, book in sorted(self.books.items()):
            ended = self.ended[name]
            counts = ", ".join(
                f"{ended[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped")
            )
            line = f"{book.name:24} {len(book.cells):3} cells: {counts}"
            if ended["skipped"]:
                line += " for want of a GPU"
            elif book.receipt and gpu.find() and not same_gpu(book):
                line += f"; outputs of GPU cells not compared: they come from an {book.receipt['gpu']}, this is an {gpu.find().name}"
            if name in self.uncounted():
                line += f"; {len(book.cells) - ended.total()} NOT ACCOUNTED FOR"
            terminalreporter.line(line)

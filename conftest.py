"""nbval over the chapters: which cells run on this machine, which outputs are compared, and the count of both.

Without a GPU, GPU cells are skipped. With the receipt's GPU model every cell runs and is compared. With another model every
cell runs and its outcome is checked, but outputs of GPU cells are not compared. CASEBOOK_REQUIRE_GPU=1 makes a missing GPU an error.
"""
import collections

import pytest
from nbval.plugin import IPyNbCell

from casebook import gpu
from casebook.chapters import Chapter
from casebook.magic import NO_GPU


def pytest_configure(config):
    config.pluginmanager.register(Chapters(), "chapters")


class Chapters:
    """The chapters of this run, and how their cells ended."""

    def __init__(self):
        self.books = {}
        self.ended = collections.defaultdict(collections.Counter)

    def pytest_collection_modifyitems(self, items):
        cells = [item for item in items if isinstance(item, IPyNbCell)]
        if cells and gpu.required() and not gpu.find():
            raise pytest.UsageError("CASEBOOK_REQUIRE_GPU is set and this machine has no NVIDIA GPU")
        for item in cells:
            if item.parent.nodeid not in self.books:
                self.books[item.parent.nodeid] = Chapter(item.path)
            self.place(item, self.books[item.parent.nodeid])

    def place(self, item, book):
        """Give a cell's item the number that its reader sees, and its part on this machine."""
        cell = book.cells[item.cell_num]
        item.cell_num = cell.number
        item._id = item._id.parse(f"{item.parent.nodeid}::cell {cell.number}")     # pytest has no public way to rename an item
        if not cell.needs_gpu:
            return
        if not gpu.find():
            item.add_marker(pytest.mark.skip(reason=NO_GPU))
        elif not self.same_gpu(book):
            item.options["check"] = False

    @staticmethod
    def same_gpu(book):
        return bool(book.receipt) and gpu.find().name == book.receipt["gpu"]

    def pytest_runtest_logreport(self, report):
        chapter = report.nodeid.split("::")[0]
        if chapter in self.books and (report.when == "call" or report.outcome != "passed"):
            self.ended[chapter][report.outcome] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if self.uncounted() and session.exitstatus == pytest.ExitCode.OK and not session.config.option.collectonly:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def uncounted(self):
        """Chapters of which some cell neither ran nor was skipped."""
        return [name for name, book in self.books.items() if self.ended[name].total() != len(book.cells)]

    def pytest_terminal_summary(self, terminalreporter):
        if not self.books:
            return
        terminalreporter.section("chapters")
        for name, book in self.books.items():
            ended = self.ended[name]
            counts = ", ".join(f"{ended[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped"))
            line = f"{book.name:24} {len(book.cells):3} cells: {counts}"
            if ended["skipped"]:
                line += " for want of a GPU"
            elif book.receipt and gpu.find() and not self.same_gpu(book):
                line += f"; outputs of GPU cells not compared: they come from an {book.receipt['gpu']}, this is an {gpu.find().name}"
            if name in self.uncounted():
                line += f"; {len(book.cells) - ended.total()} NOT ACCOUNTED FOR"
            terminalreporter.line(line)

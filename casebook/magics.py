"""The cell magics: `%load_ext casebook`, then %%environments names environments, %%pinned runs
a cell as a script in one of them, and %%gpu marks a cell that needs a GPU."""

import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from IPython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand
from IPython.display import clear_output, display
from packaging.specifiers import SpecifierSet

from casebook.cells import environments_cell
from casebook.cells import line as lines
from casebook.cells.header import Header
from casebook.cells.plots import use_style
from casebook.cells.timed import is_timed
from casebook.environments import gpu
from casebook.errors import GpuRequired, HeaderError, MissingPython
from casebook.execution.modules import folders
from casebook.execution.replay import environments_of, show
from casebook.execution.script import check, run

NO_GPU = "Skipped: this cell needs an NVIDIA GPU, and this machine has none."
BUSY = (
    "Skipped: others use this GPU ({}% busy), so a measurement would say nothing, and slow them "
    "down. Below is the stored output. To run the cell all the same, run it again."
)
AFTER = "Skipped: a measurement above was. To run this cell all the same, run it again."
FAILED = (
    "raise __import__('casebook.errors').errors.CasebookError("
    "'the last cell ended with an error: first run the cell with your answer')"
)


@magics_class
class PinnedMagic(Magics):
    shell: InteractiveShell

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self.folders: dict[str, TemporaryDirectory[str]] = {}
        self.headers: Mapping[str, Header] | None = None

    @no_var_expand
    @cell_magic
    def environments(self, line: str, cell: str) -> None:
        """Name environments for the %%pinned cells of this notebook, in TOML: one table for each,
        with requires-python, dependencies, and, where needed, cuda-home, build and env."""
        self.headers = environments_cell.read(cell)

    @no_var_expand
    @cell_magic
    def pinned(self, line: str, cell: str) -> None:
        options = lines.parse(line)
        source = f"{lines.MAGIC} {line}".rstrip() + f"\n{cell}"
        header = lines.header(options, cell, self.known(source) if options.name else {})
        reason = why_skip(header)
        if not reason and header.gpu and not (options.out or options.folder):
            reason = busy.decide(source, follows=False)
        if reason:
            print(reason)
            show(source, self.shell.user_ns)
            return
        place = self.folder(options.folder) if options.folder else None
        progress = Progress(len(header.dependencies))
        try:
            outcome = run(cell, header, progress.emit, progress.report, place)
        except MissingPython:
            show(source, self.shell.user_ns)
            raise
        finally:
            progress.clear()
        if options.out:
            self.shell.user_ns[options.out] = outcome.output
        if outcome.picture:
            display({"image/svg+xml": outcome.picture, "text/plain": "<picture>"}, raw=True)
        check(header, outcome)
        if not re.search("(?m)^Not yet", outcome.output):  # as the check of an exercise says
            print(f"as expected: {header.expected.ending}")

    pinned.__doc__ = lines.HELP

    def known(self, source: str) -> Mapping[str, Header]:
        """The environments of this notebook: as its cell was run, or as the file has them.

        Raises HeaderError where neither is known.
        """
        if self.headers is None:
            self.headers = environments_of(source, self.shell.user_ns)
        if self.headers is None:
            raise HeaderError(
                f"the environments are not known yet: first run the cell that begins with "
                f"{environments_cell.MAGIC}, near the top of the notebook"
            )
        return self.headers

    def folder(self, name: str) -> Path:
        """The folder that cells share under this name; removed when the kernel ends."""
        folder = self.folders.setdefault(name, TemporaryDirectory(ignore_cleanup_errors=True))
        return Path(folder.name)

    def check_cell(self, lines: list[str]) -> list[str]:
        """Input transformer: a check judges no answer that is older than an error."""
        last = self.shell.last_execution_result
        return [FAILED] if lines[:1] == ["# The check\n"] and last and not last.success else lines


class Progress:
    """Shows how a new environment is made, and clears that before the script's own output."""

    def __init__(self, packages: int) -> None:
        self.packages, self.start, self.visible = packages, time.monotonic(), False

    def report(self, line: str) -> None:
        self.visible = True
        seconds = time.monotonic() - self.start
        sys.stdout.write(
            f"\rMaking an environment of {self.packages} packages, {seconds:.0f} s: {line[:70]:70}"
        )
        sys.stdout.flush()

    def emit(self, text: str) -> None:
        self.clear()
        sys.stdout.write(text)
        sys.stdout.flush()

    def clear(self) -> None:
        if self.visible:
            clear_output()
            self.visible = False


class Busy:
    """Which cells were not run because others used the GPU; a second run of one goes ahead."""

    def __init__(self) -> None:
        self.skipped: set[str] = set()
        self.names_missing = False
        self.decided: tuple[tuple[int, str], str] = ((0, ""), "")

    def why_skip(self, source: str, follows: bool) -> str:
        """What `decide` says, once for each run of a cell: a kernel transforms a cell twice."""
        run = (get_ipython().execution_count, source)
        if self.decided[0] != run:
            self.decided = (run, self.decide(source, follows))
        return self.decided[1]

    def decide(self, source: str, follows: bool) -> str:
        """One sentence if a cell must not run now, else "".

        `follows`: the cell may use names of the cells above, as %%gpu cells do.
        """
        if gpu.required() or source in self.skipped:
            return ""
        reason = AFTER if follows and self.names_missing else ""
        if not reason and is_timed(source) and (load := gpu.load()) > gpu.IDLE:
            reason = BUSY.format(load)
        if reason:
            self.skipped.add(source)
            self.names_missing |= follows
        return reason


busy = Busy()


def why_skip(header: Header) -> str:
    """One sentence if the cell cannot run on this machine, else "".

    Raises GpuRequired if no cell may be skipped.
    """
    if not header.gpu:
        return ""
    reason, found = too_few(header.gpus), gpu.find()
    if found and not reason and header.driver and found.driver not in SpecifierSet(header.driver):
        return (
            f"Skipped: this cell shows what happens on drivers {header.driver}; "
            f"this machine's is {found.driver}."
        )
    return reason


def too_few(wanted: int) -> str:
    """One sentence if this machine has fewer GPUs than a cell wants, else "".

    Raises GpuRequired if it has none and must have one.
    """
    if found := gpu.find():
        lacks = f"Skipped: this cell needs {wanted} GPUs, this machine has {found.count}."
        return lacks if found.count < wanted else ""
    if gpu.required():
        raise GpuRequired(
            "this cell needs an NVIDIA GPU, this machine has none, "
            "and CASEBOOK_REQUIRE_GPU forbids to skip it"
        )
    return NO_GPU


def skip(source: str, reason: str) -> None:
    print(reason)
    show(source, get_ipython().user_ns)


def skip_gpu(source: str, wanted: int) -> None:
    skip(source, too_few(wanted))


def gpu_cell(lines: list[str]) -> list[str]:
    """Input transformer: a %%gpu cell is an ordinary cell if there is a GPU, else one sentence.

    `%%gpu 2` needs two. A cell that measures waits for a GPU that nobody else uses.
    """
    marked = re.fullmatch(r"%%gpu(?: +([1-9]))?\s*", lines[0]) if lines else None
    if not marked:
        return lines
    source, wanted, found = "".join(lines), int(marked[1] or 1), gpu.find()
    if found and found.count >= wanted:
        if not (reason := busy.why_skip(source, follows=True)):
            return [f"# {lines[0]}", *lines[1:]]
        return [f"__import__('casebook.magics').magics.skip({source!r}, {reason!r})\n"]
    return [f"__import__('casebook.magics').magics.skip_gpu({source!r}, {wanted})\n"]


# so a terminal does not try it on a cell's first line, but waits for the whole cell
gpu_cell.has_side_effects = True  # type: ignore[attr-defined]


def extend_path(info: Any) -> None:
    """Before a cell runs: it imports what a pinned one with its source does, behind all else."""
    for folder in map(str, folders(info.raw_cell or "")):
        if folder not in sys.path:
            sys.path.append(folder)


def load(ipython: InteractiveShell) -> None:
    use_style(ipython)
    ipython.register_magics(magics := PinnedMagic(ipython))
    if extend_path not in ipython.events.callbacks["pre_run_cell"]:
        ipython.events.register("pre_run_cell", extend_path)
    if gpu_cell not in ipython.input_transformers_cleanup:
        ipython.input_transformers_cleanup.extend((gpu_cell, magics.check_cell))

"""The cell magics: `%load_ext casebook`, then %%pinned runs a cell as a script of its own and %%gpu marks a cell that needs a GPU."""

import re
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from IPython import get_ipython
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import clear_output
from packaging.specifiers import SpecifierSet

from casebook.cells.header import read
from casebook.cells.plots import use_style
from casebook.environments import gpu
from casebook.errors import CasebookError, GpuRequired
from casebook.execution.modules import FOLDERS
from casebook.execution.replay import show
from casebook.execution.script import check, run

NO_GPU = "Skipped: this cell needs an NVIDIA GPU, and this machine has none."
WORDS = {1: "one", 2: "two", 3: "three", 4: "four"}


@magics_class
class PinnedMagic(Magics):
    def __init__(self, shell):
        super().__init__(shell)
        self.folders = {}

    @cell_magic
    def pinned(self, line, cell):
        """Run the cell as a script in the environment of its PEP 723 header, and check that it ends as the header says.

        `%%pinned --out NAME` also stores the shown output in the variable NAME. Cells with the same `--folder NAME` share their
        working folder: what one leaves there, the next finds.
        """
        options = read_options(line)
        header = read(cell)
        if reason := why_skip(header):
            print(reason)
            show(f"%%pinned {line}".rstrip() + f"\n{cell}", self.shell.user_ns)
            return
        with Progress(len(header.dependencies)) as progress:
            outcome = run(
                cell, header, progress.emit, progress.report, self.folder(options.get("--folder"))
            )
        if name := options.get("--out"):
            self.shell.user_ns[name] = outcome.output
        check(header, outcome)
        print(f"as expected: {header.ending}")

    def folder(self, name):
        """The folder that the kernel's cells share under this name; None for no name. It goes when the kernel does."""
        return name and Path(
            self.folders.setdefault(name, TemporaryDirectory(ignore_cleanup_errors=True)).name
        )


class Progress:
    """Shows how a new environment is made, and wipes that away before the script's own output."""

    def __init__(self, packages):
        self.packages, self.start, self.shown = packages, time.monotonic(), False

    def __enter__(self):
        return self

    def report(self, line):
        self.shown = True
        seconds = time.monotonic() - self.start
        sys.stdout.write(
            f"\rMaking an environment of {self.packages} packages, {seconds:.0f} s: {line[:70]:70}"
        )
        sys.stdout.flush()

    def emit(self, text):
        self.wipe()
        sys.stdout.write(text)
        sys.stdout.flush()

    def wipe(self):
        if self.shown:
            clear_output()
            self.shown = False

    def __exit__(self, *_):
        self.wipe()


def read_options(line):
    """{"--out": NAME, "--folder": NAME} of the magic's line, either or both."""
    words = line.split()
    options = dict(zip(words[::2], words[1::2], strict=False))
    if (
        len(words) != 2 * len(options)
        or not options.keys() <= {"--out", "--folder"}
        or not all(map(str.isidentifier, options.values()))
    ):
        raise CasebookError(f"%%pinned takes `--out NAME` and `--folder NAME`, not {line!r}")
    return options


def why_skip(header):
    """One sentence where the cell cannot run on this machine, else None. Raises GpuRequired where that is not allowed."""
    if not header.gpu:
        return None
    if reason := too_few(header.gpus):
        return reason
    found = gpu.find()
    if header.driver and found.driver not in SpecifierSet(header.driver):
        return f"Skipped: this cell shows what happens on drivers {header.driver}; this machine's is {found.driver}."
    return None


def too_few(wanted):
    """One sentence where this machine has fewer GPUs than a cell wants, else None. Raises GpuRequired where it has none and must."""
    found = gpu.find()
    if not found:
        refuse_skipping()
        return NO_GPU
    if found.count < wanted:
        wanted, found = (WORDS.get(number, number) for number in (wanted, found.count))
        return f"Skipped: this cell needs {wanted} GPUs, this machine has {found}."
    return None


def refuse_skipping():
    if gpu.required():
        raise GpuRequired(
            "this cell needs an NVIDIA GPU, this machine has none, and CASEBOOK_REQUIRE_GPU forbids to skip it"
        )


def skip(source, wanted):
    print(too_few(wanted))
    show(source, get_ipython().user_ns)


def gpu_cell(lines):
    """Input transformer: a %%gpu cell is an ordinary cell where there is a GPU, and one sentence where there is none.

    `%%gpu 2` needs two.
    """
    marked = re.fullmatch(r"%%gpu(?: +([1-9]))?\s*", lines[0]) if lines else None
    if not marked:
        return lines
    wanted, found = int(marked[1] or 1), gpu.find()
    if found and found.count >= wanted:
        return [f"# {lines[0]}", *lines[1:]]
    return [f"__import__('casebook.magics').magics.skip({''.join(lines)!r}, {wanted})\n"]


gpu_cell.has_side_effects = (
    True  # so a terminal does not try it on a cell's first line, but waits for the whole cell
)


def load(ipython):
    sys.path += [
        str(folder) for folder in FOLDERS if str(folder) not in sys.path
    ]  # at the end: a kernel cell imports what a pinned one does
    use_style(ipython)
    ipython.register_magics(PinnedMagic)
    if gpu_cell not in ipython.input_transformers_cleanup:
        ipython.input_transformers_cleanup.append(gpu_cell)

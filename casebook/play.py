"""`python -m casebook run`: a notebook's cells, one after the other in a fresh IPython, and how each of them ended.

No Jupyter is needed. %%pinned cells check themselves; another cell must not raise, unless its tag `raises-exception` allows it. After a
cell that failed the others run too, for pinned cells do not depend on it.
"""
import collections
import contextlib
import faulthandler
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from IPython.terminal.interactiveshell import TerminalInteractiveShell
from traitlets.config import Config

from .errors import CasebookError, WrongUse
from .notebook import Notebook

WIDTH = 48                  # of the column that says what a cell is
SHOWN = 12                  # lines that are shown of what a failing cell printed
AS_TOLD, OK, SKIPPED, FAILED = "as told", "ok", "skipped", "FAILED"
STYLES = re.compile(r"\x1b\[[\d;]*[A-Za-z]|\r")


def command(path, pinned=False):
    """Run a notebook, or its pinned cells alone: a line for each, with the end of what it printed where it failed. 1 where one did."""
    notebook = Notebook(path)
    cells = [cell for cell in notebook.cells if cell.pinned or not pinned]
    if not cells:
        raise WrongUse(f"{path} has no {'%%pinned' if pinned else 'code'} cell")
    os.chdir(Path(path).parent)
    sys.path.insert(0, os.getcwd())
    shell = fresh_shell()
    if pinned:
        shell.run_line_magic("load_ext", "casebook")
    ended = collections.Counter(play(shell, cell) for cell in cells)
    print(f"{len(cells)} cells: {', '.join(f'{ended[how]} {how}' for how in (AS_TOLD, OK, SKIPPED, FAILED) if ended[how])}")
    return bool(ended[FAILED])


def fresh_shell():
    """IPython without history, colours and prompt."""
    config = Config()
    config.HistoryManager.enabled = False
    config.TerminalInteractiveShell.simple_prompt = True
    config.InteractiveShell.colors = "NoColor"
    return TerminalInteractiveShell.instance(config=config)


def play(shell, cell):
    """Run one cell and print how it ended; returns that. The line begins before the cell does: should it end the process, it is named."""
    print(f"[{cell.number:2}] {label(cell):{WIDTH}.{WIDTH}} ", end="", flush=True)
    start = time.monotonic()
    with tempfile.TemporaryFile() as file:
        with everything_to(file):
            result = shell.run_cell(cell.source, store_history=True)
        file.seek(0)
        said = STYLES.sub("", file.read().decode("utf-8", "replace"))
    error = result.error_before_exec or result.error_in_exec
    if isinstance(error, KeyboardInterrupt):
        raise error
    how, words = verdict(cell, error, said)
    print(f"{words}, {time.monotonic() - start:.1f} s", flush=True)
    if how == FAILED:
        ending = str(error).splitlines()[1:] if isinstance(error, CasebookError) else said.rstrip().splitlines()[-SHOWN:]
        print("".join(f"     {line}\n" for line in ending), end="", flush=True)
    return how


def label(cell):
    """What a cell is, in few words: its packages, or its first line."""
    if cell.header:
        return ", ".join(cell.header.dependencies) or "the standard library"
    return next(iter(cell.source.splitlines()), "")


def verdict(cell, error, said):
    """How a cell ended, and the words for it."""
    if error and (cell.pinned or "raises-exception" not in cell.tags):
        name = [] if isinstance(error, CasebookError) else [type(error).__name__]
        return FAILED, ": ".join([FAILED, *name, *str(error).splitlines()[:1]])
    if error:
        return OK, f"{OK}: {type(error).__name__}, which its tag allows"
    if said.startswith("Skipped: "):
        return SKIPPED, SKIPPED + said.splitlines()[0].removeprefix("Skipped").rstrip(".")
    if cell.pinned:
        return AS_TOLD, f"{AS_TOLD}: {cell.header.ending}"
    return OK, OK


@contextlib.contextmanager
def everything_to(file):
    """Sends what this process and its children print into a file, C code and `!commands` too."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(number) for number in (1, 2)]
    faulthandler.enable(kept[1])
    try:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
        faulthandler.enable(sys.stderr)
        for copy in kept:
            os.close(copy)

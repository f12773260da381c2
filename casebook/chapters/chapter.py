"""The chapters as data: their cells, headers and case cards."""

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from casebook.cells.header import Header
from casebook.cells.notebook import Cell, Notebook
from casebook.cells.repository import notebooks
from casebook.chapters import facts
from casebook.environments.store import write_atomically

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CLAIMS = re.compile(
    r"(?m)^## What the (?:article|threads) said$"
)  # above the table of claims and verdicts
MACHINE_PATH = re.compile(r"/(?:home|root|Users)/\S+|/tmp/\w\S+")


class Chapter(Notebook):
    """One notebook of the book."""

    folder = "notebooks"  # of its file in the repository, and of its page on the site

    def read(self) -> NotebookNode:
        return nbformat.from_dict(super().read())

    @functools.cached_property
    def facts(self) -> facts.Facts:
        """What NN-name.yml says. Raises WrongUse, one sentence, where it is missing or wrong."""
        return facts.load(self.path.with_suffix(".yml"))

    @property
    def sidecar(self) -> dict[str, Any]:
        """The whole of NN-name.yml."""
        return self.facts.raw

    @property
    def long(self) -> bool:
        """Whether it is a chapter, with exercises; others are short cases."""
        return self.name < "10"

    def needs(self) -> str:
        """What a run takes: cells with a GPU, what the facts add, the minutes of the receipt."""
        gpu = len(self.gpu_cells)
        two = sum(cell.gpus > 1 for cell in self.cells)
        many = f", two GPUs for {two}" if two else ""
        parts = [f"a GPU for {gpu} of {len(self.cells)} cells{many}" if gpu else "no GPU"]
        parts += [self.facts.needs] if self.facts.needs else []
        if self.receipt:
            minutes = max(1, round(self.receipt["seconds"] / 60))
            parts.append(f"about {minutes} minute{'s' * (minutes > 1)}")
        return "; ".join(parts)

    @property
    def gpu_cells(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.needs_gpu]

    @property
    def preamble(self) -> list[Cell]:
        """What every other cell may need: the set-up cell, and the one of the environments."""
        return [cell for cell in self.cells if {"setup", "environments"} & set(cell.tags)]

    def write(self) -> None:
        """Store the notebook in the book's normal form, in one step."""
        write_atomically(self.path, f"{nbformat.writes(self.notebook).rstrip()}\n".encode())

    def headers(self, gpu: bool) -> list[Header]:
        """One header for each environment and build that the chapter uses.

        Without `gpu` those of GPU cells are left out.
        """
        return distinct(c.header for c in self.cells if c.header and (gpu or not c.needs_gpu))


def distinct(headers: Iterable[Header]) -> list[Header]:
    """One header for each environment, and for each build in it, on the GPU or on the host."""
    return list(
        {(h.environment_key, h.build, bool(h.build) and h.gpu): h for h in headers}.values()
    )


def load(names: Sequence[str] = ()) -> list[Chapter]:
    """The chapters with these names (`01-default-arguments` or `01`), or all of them, in order.

    A process reads each of them once, so what it gets is shared: `Chapter(path)` is one to change.
    """
    return [at(path) for path in notebooks(names)]


def at(path: Path) -> Chapter:
    """The chapter in a file, shared by all who ask, and read anew when a file of it has changed."""
    files = [file for file in (path, path.with_suffix(".yml")) if file.exists()]
    return _read(path, *(file.stat().st_mtime_ns for file in files))


@functools.cache
def _read(path: Path, *changed: int) -> Chapter:
    return Chapter(path)

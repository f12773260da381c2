"""The status page's table, through the directive `status`: each chapter and the GPUs it ran on."""

import re
from collections.abc import Iterable, Iterator, Sequence

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.chapters import Chapter
from casebook.chapters.receipts import receipt_problems, standing_confirmations

from . import notebook

COLUMNS = ("Case", "Executed", "On", "CPU", "GPU", "Receipt")
FILE = "_static/gpus.csv"
KEYS = ("gpu", "compute_capability", "driver", "date", "ended", "cells")  # of a run, in FILE


class Status(SphinxDirective):
    """A table with a row for each notebook, and a column for each GPU that confirmed some."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        chapters = notebook.chapters(self.env)
        gpus = sorted(
            {one["gpu"] for chapter in chapters for one, _ in standing_confirmations(chapter)}
        )
        columns = (*COLUMNS, *(f"Also on {short(gpu)}" for gpu in gpus))
        return [table("status", columns, [self.chapter(chapter, gpus) for chapter in chapters])]

    def chapter(self, chapter: Chapter, gpus: list[str]) -> list[str | nodes.Node]:
        number, _, name = chapter.name.partition("-")
        link = notebook.link(self.env, chapter, "", f"{number} {name}")
        receipt = notebook.link(self.env, chapter, "receipt", standing(chapter))
        runs = {one["gpu"]: str(n) for one, n in standing_confirmations(chapter) if n}
        return [link, *facts(chapter), receipt, *(runs.get(gpu, "") for gpu in gpus)]


def short(gpu: str) -> str:
    """A GPU's name without its maker and its memory."""
    return re.sub(r"^NVIDIA | \d+ ?GB.*", "", gpu)


def facts(chapter: Chapter) -> tuple[str, str, str, str]:
    """When, on what, and the cells without and with a GPU."""
    gpu = len(chapter.gpu_cells)
    cells = str(len(chapter.cells) - gpu), f"{gpu or ''}"
    if not chapter.receipt:
        return "never", "", *cells
    waiting = f" ({len(chapter.pending)} not run yet)" if chapter.pending else ""
    return chapter.receipt["date"], short(chapter.receipt["gpu"]), cells[0], cells[1] + waiting


def standing(chapter: Chapter) -> str:
    """Whether the receipt still matches the notebook."""
    if not chapter.receipt:
        return "none"
    return "stale" if any(receipt_problems(chapter)) else "holds"


def table(
    name: str, columns: Sequence[str], rows: Iterable[Sequence[str | nodes.Node]]
) -> nodes.table:
    """A table with a head; `name` is its class."""
    group = nodes.tgroup(
        "",
        *(nodes.colspec(colwidth=1) for _ in columns),
        nodes.thead("", row(*columns)),
        nodes.tbody("", *(row(*cells) for cells in rows)),
        cols=len(columns),
    )
    return nodes.table("", group, classes=[name])


def row(*cells: str | nodes.Node) -> nodes.row:
    inside = [notebook.element(nodes.paragraph, cell) for cell in cells]
    return nodes.row("", *(nodes.entry("", one) for one in inside))


def runs(chapter: Chapter) -> Iterator[dict[str, object]]:
    """A line for the run of the outputs and for each on another GPU; GPU cells are counted."""
    if chapter.receipt:
        cells = len(chapter.gpu_cells)
        own = chapter.receipt, cells - len(chapter.pending)
        for one, ended in [own, *standing_confirmations(chapter)]:
            outputs = "yes" if one is chapter.receipt else "no"
            counts = {"ended": ended, "cells": cells}
            machine = {key: value for key, value in one.items() if key in KEYS}
            yield {"case": chapter.name, "outputs": outputs} | machine | counts


def setup(app: Sphinx) -> None:
    app.add_directive("status", Status)
    notebook.offer_file(app, FILE, ["case", "outputs", *KEYS], runs)

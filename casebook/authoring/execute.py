"""Runs chapters on a GPU and stores their outputs with a receipt.

The stored form is normalised: an unchanged chapter that is run again differs only in its receipt
and in cells tagged nbval-ignore-output.
"""

import os
import platform
import re
import time
from collections.abc import Sequence

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from casebook.authoring import publish, receipts
from casebook.authoring.chapters import Chapter, load
from casebook.authoring.checks.code import written_problems
from casebook.authoring.releases import evidence
from casebook.cells.repository import ROOT
from casebook.environments import gpu
from casebook.errors import CasebookError

BUSY = "GPU or host is busy"  # casebook/helpers/timing.py prints it where no claim is checked
FOLDED = {"check", "solution", "hide-input", "environments"}


def command(names: Sequence[str]) -> int:
    """Run chapters one after the other and store them. The first that fails ends it."""
    books = load(names)
    for number, book in enumerate(books, 1):
        execute(book)
        print(f"[{number}/{len(books)}] {book.name}: stored, {len(book.cells)} cells", flush=True)
    return 0


def execute(chapter: Chapter) -> None:
    """Run all cells of a chapter in order, then store outputs and receipt.

    Nothing is stored unless every cell ends as expected, and nothing is run where a check of the
    code would fail afterwards. Raises CasebookError.
    """
    found = this_gpu()
    if faults := [f"{chapter.name}{fault}" for fault in written_problems(chapter)]:
        raise CasebookError("\n".join(faults))
    confirmed = (chapter.receipt or {}).get("confirmed", [])
    fold(chapter.notebook)
    seconds, skipped = run(chapter)
    if skipped:
        raise CasebookError(
            f"{chapter.name}, cell {skipped}: skipped on this machine, so its output cannot be "
            "stored"
        )
    normalise(chapter.notebook)
    chapter.notebook.metadata["casebook"] = {
        "gpu": found.name,
        "gpus": found.count,
        "compute_capability": found.compute_capability,
        "driver": found.driver,
        "python": platform.python_version(),
        "date": evidence.today(),
        "seconds": seconds,
        "environment": receipts.environment(chapter),
        "modules": receipts.modules(chapter),
        "cells": {c.node.id: c.stamp() for c in chapter.cells},
    }
    now = receipts.code(chapter)
    if kept := [one for one in confirmed if one["code"] == now]:
        chapter.notebook.metadata.casebook["confirmed"] = kept
    chapter.notebook.cells[0].source = publish.with_card(chapter)
    chapter.write()


def this_gpu() -> gpu.Gpu:
    """The GPU of this machine. Raises CasebookError where there is none."""
    if found := gpu.find():
        return found
    raise CasebookError(
        "chapters are executed on a GPU, and this machine has none; "
        "`make test` checks what can run here"
    )


def run(chapter: Chapter) -> tuple[int, list[int]]:
    """Run all cells in order, outputs into the chapter: seconds, and numbers of skipped cells.

    Raises CasebookError for a cell that fails or measures nothing.
    """
    os.environ["CASEBOOK_REQUIRE_GPU"] = "1"
    start, skipped = time.monotonic(), []
    client = NotebookClient(
        chapter.notebook,
        kernel_name="python3",
        timeout=900,
        coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": str(ROOT / "notebooks")}},
    )
    numbers = {c.node.id: c.number for c in chapter.cells}
    with client.setup_kernel():
        for index, node in enumerate(chapter.notebook.cells):
            if node.cell_type == "code" and not run_cell(
                client, chapter, numbers[node.id], node, index
            ):
                skipped.append(numbers[node.id])
    return round(time.monotonic() - start), skipped


def run_cell(
    client: NotebookClient, chapter: Chapter, number: int, node: NotebookNode, index: int
) -> bool:
    """Run one cell; returns whether it ran. Raises CasebookError where it fails or proves nothing.

    Where GPU or host is busy, no claim about time is checked.
    """
    place = f"{chapter.name}, cell [{number}]"
    start = time.monotonic()
    try:
        client.execute_cell(node, index)
    except CellExecutionError as error:
        raise CasebookError(f"{place}: {error.ename}: {error.evalue}") from None
    texts = [output.get("text", "") for output in node.outputs]
    if line := re.search(rf"(?m)^{BUSY}.*", "\n".join(texts)):
        raise CasebookError(f"{place}: {line[0]}")
    seconds = time.monotonic() - start
    print(
        f"{chapter.name} [{number:2}/{len(chapter.cells)}] {seconds:6.1f} s  "
        f"{node.source.splitlines()[0][:60]}",
        flush=True,
    )
    return not any(text.startswith("Skipped: ") for text in texts)


def normalise(notebook: NotebookNode) -> None:
    """Bring a notebook into the stored form: cells numbered, metadata of outputs dropped."""
    notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    code = (cell for cell in notebook.cells if cell.cell_type == "code")
    for number, cell in enumerate(code, 1):
        cell.execution_count = number
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number
            if "metadata" in output:
                output.metadata = {}


def fold(notebook: NotebookNode) -> None:
    """Reduce the cells' metadata to their tags, and fold answers and drawings.

    In JupyterLab `source_hidden` folds, which shows the first line; on Colab `cellView` does.
    """
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        cell.metadata = {"tags": tags} if tags else {}
        if cell.cell_type == "code" and FOLDED & set(tags):
            cell.metadata.update(cellView="form", jupyter={"source_hidden": True})
            if "solution" in tags:
                cell.metadata.jupyter.outputs_hidden = True

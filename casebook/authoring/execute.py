"""Runs chapters on a GPU and stores their outputs with a receipt.

The stored form is normal: an unchanged chapter that is run again differs only in its receipt and in cells tagged nbval-ignore-output.
"""

import datetime
import os
import platform
import re
import time

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from casebook.authoring import receipts
from casebook.authoring.checks.code import written_problems
from casebook.cells.repository import ROOT
from casebook.environments import gpu
from casebook.environments.store import write_whole
from casebook.errors import CasebookError

BUSY = "GPU or host is busy"  # casebook/helpers/timing.py prints it where no claim is checked
FOLDED = {"check", "solution", "hide-input"}
FIRST_LINES = {"check": "# The check", "solution": "# A solution"}


def execute(chapter):
    """Run all cells of a chapter in order, then write outputs and receipt. Nothing is written unless every cell ends as it should.

    Nothing is run where the code as it is written would be refused afterwards.
    """
    found = gpu.find()
    if not found:
        raise CasebookError(
            "the stored outputs come from a GPU, and this machine has none; `make test` checks what can run here"
        )
    if faults := [f"{chapter.name}{fault}" for fault in written_problems(chapter)]:
        raise CasebookError("\n".join(faults))
    os.environ["CASEBOOK_REQUIRE_GPU"] = "1"
    start = time.monotonic()
    client = NotebookClient(
        chapter.notebook,
        kernel_name="python3",
        timeout=900,
        coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": str(ROOT / "notebooks")}},
    )
    fold(chapter.notebook)
    numbers = {c.node.id: c.number for c in chapter.cells}
    with client.setup_kernel():
        for index, node in enumerate(chapter.notebook.cells):
            if node.cell_type == "code":
                run_cell(client, chapter, numbers[node.id], node, index)
    seconds = round(time.monotonic() - start)
    normalise(chapter.notebook)
    write_needs(chapter, seconds)
    chapter.notebook.metadata["casebook"] = {
        "gpu": found.name,
        "gpus": found.count,
        "compute_capability": found.compute_capability,
        "driver": found.driver,
        "python": platform.python_version(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seconds": seconds,
        "environment": receipts.environment(chapter),
        "modules": receipts.modules(chapter),
        "cells": {c.node.id: c.stamp() for c in chapter.cells},
    }
    write(chapter)


def run_cell(client, chapter, number, node, index):
    label = f"{chapter.name} [{number:2}/{len(chapter.cells)}]"
    start = time.monotonic()
    try:
        client.execute_cell(node, index)
    except CellExecutionError as error:
        raise CasebookError(
            f"{chapter.name}, cell [{number}]: {error.ename}: {error.evalue}"
        ) from None
    if any(o.get("text", "").startswith("Skipped: ") for o in node.outputs):
        raise CasebookError(
            f"{chapter.name}, cell [{number}]: was skipped on this machine, so its output cannot be stored"
        )
    if line := re.search(
        rf"(?m)^{BUSY}.*", "\n".join(o.get("text", "") for o in node.outputs)
    ):
        raise CasebookError(f"{chapter.name}, cell [{number}]: {line[0]}")
    print(
        f"{label} {time.monotonic() - start:6.1f} s  {node.source.splitlines()[0][:60]}", flush=True
    )


def write_needs(chapter, seconds):
    """Write the card's row Needs: the cells that need a GPU, and the minutes that the run took."""
    first = chapter.notebook.cells[0]
    first.source = re.sub(
        r"(?m)^(\| \*\*Needs\*\* \|) .* \|$",
        lambda row: f"{row[1]} {chapter.needs(seconds)} |",
        first.source,
    )


def normalise(notebook):
    """Bring a notebook into the stored form, in place; its outputs stay as they are, but for numbers and metadata."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        }
    )
    number = 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            number += 1
            cell.execution_count = number
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = number
                if "metadata" in output:
                    output.metadata = nbformat.from_dict({})


def fold(notebook):
    """Leave of the cells' metadata the tags; fold what would give an answer away, and what draws: in JupyterLab, and on Colab (cellView).

    JupyterLab shows the first line of a folded cell, so that an answer's says what is folded.
    """
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell.cell_type == "code" and FOLDED & set(tags):
            cell.metadata |= nbformat.from_dict(
                {"cellView": "form", "jupyter": {"source_hidden": True}}
            )
            cell.metadata.jupyter |= {"outputs_hidden": True} if "solution" in tags else {}
        for tag, line in FIRST_LINES.items():
            if tag in tags and cell.cell_type == "code" and not cell.source.startswith(("#", "%%")):
                cell.source = f"{line}\n{cell.source}"


def write(chapter):
    write_whole(chapter.path, f"{nbformat.writes(chapter.notebook).rstrip()}\n".encode())

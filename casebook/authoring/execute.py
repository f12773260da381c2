"""Runs chapters and stores their outputs with a receipt.

A cell that needs more GPUs than this machine has keeps what an earlier run stored, if that still
fits; otherwise it is pending, without an output, until `execute` runs where it can. The stored
form is normalised: an unchanged chapter that is run again differs only in its receipt and in cells
tagged nbval-ignore-output.
"""

import os
import platform
import re
import sys
import time
from collections.abc import Sequence
from typing import cast

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from casebook.authoring import publish
from casebook.authoring.checks.code import written_problems
from casebook.cells.notebook import Confirmation, Receipt
from casebook.cells.repository import ROOT
from casebook.chapters import KERNEL, Chapter, evidence, load, markup, receipts
from casebook.chapters.stamps import entries, stamps
from casebook.environments import gpu
from casebook.errors import CasebookError
from casebook.execution.kernel import FileKernelManager

BUSY = "GPU or host is busy"  # casebook/helpers/timing.py prints it where no claim is checked
FOLDED = {"check", "solution", "hide-input", "environments"}


def command(names: Sequence[str]) -> int:
    """Run chapters one after the other and store them. The first that fails ends it."""
    books = load(names)
    for number, book in enumerate(books, 1):
        execute(book)
        pending = len(book.pending)
        wait = f", {pending} pending: they need more GPUs than this machine has" if pending else ""
        print(f"[{number}/{len(books)}] {book.name}: stored, {len(book.cells)} cells{wait}")
        sys.stdout.flush()
    return 0


def execute(chapter: Chapter) -> None:
    """Run all cells of a chapter in order, then store outputs and receipt.

    Nothing is stored unless every cell ends as expected, and nothing is run where a check of the
    code would fail afterwards. Raises CasebookError.
    """
    found = gpu.find()
    chapter.facts  # noqa: B018  a wrong .yml ends here, before any cell runs
    if faults := [f"{chapter.name}{fault}" for fault in written_problems(chapter)]:
        raise CasebookError("\n".join(faults))
    before, fitting = chapter.receipt, fitting_outputs(chapter)
    fold(chapter.notebook)
    seconds, skipped = run(chapter)
    kept = keep(chapter, skipped, fitting, found)
    normalise(chapter.notebook)
    receipt: Receipt = {
        **machine(found, seconds),
        "cells": entries(chapter),
    }
    if before and kept:
        receipt = with_machine_of(before, receipt)
    ids = [cell.node.id for cell in chapter.cells if cell.number in skipped]
    if pending := [one for one in ids if one not in fitting]:
        receipt["pending"] = pending
    chapter.notebook.metadata["casebook"] = receipt
    if before and (confirmed := still_confirmed(chapter, before)):
        chapter.notebook.metadata.casebook["confirmed"] = confirmed
    chapter.notebook.cells[0].source = publish.with_card(chapter)
    chapter.write()


def still_confirmed(chapter: Chapter, before: Receipt) -> list[Confirmation]:
    """The runs on other GPU models, with the cells that are as they were there.

    A run whose outputs this one replaces is one of them.
    """
    made = stamps(chapter)
    own = chapter.notebook.metadata.casebook["gpu"]
    outputs = {name: entry.split()[0] for name, entry in before["cells"].items()}
    waiting = before.get("pending", [])
    of_gpu = [c.node.id for c in chapter.gpu_cells if c.node.id not in waiting]
    replaced = confirmation(before, {name: outputs.get(name, "") for name in of_gpu})
    found = {}
    for one in [replaced, *before.get("confirmed", [])]:
        fitting = {n: s for n, s in one["stamps"].items() if n in made and str(made[n]) == s}
        if fitting and one["gpu"] not in (own, receipts.NO_GPU):
            found[one["gpu"]] = confirmation(one, fitting)
    return [found[name] for name in sorted(found)]


def confirmation(run: Receipt | Confirmation, fitting: dict[str, str]) -> Confirmation:
    return Confirmation(
        gpu=run["gpu"],
        compute_capability=run["compute_capability"],
        driver=run["driver"],
        date=run["date"],
        stamps=fitting,
    )


def machine(found: gpu.Gpu | None, seconds: int) -> Receipt:
    """What a receipt says of this machine and this run."""
    return {
        "gpu": found.name if found else receipts.NO_GPU,
        "gpus": found.count if found else 0,
        "compute_capability": found.compute_capability if found else "",
        "driver": found.driver if found else "",
        "python": platform.python_version(),
        "date": evidence.today(),
        "seconds": seconds,
    }


def with_machine_of(before: Receipt, receipt: Receipt) -> Receipt:
    """A receipt that keeps the machine of an earlier one, whose outputs it keeps in part.

    `rerun` says when and with which Python the other cells ran again.
    """
    rerun = {"date": receipt["date"], "python": receipt["python"]}
    kept = {key: value for key, value in before.items() if key not in ("confirmed", "pending")}
    return cast(Receipt, kept | {"cells": receipt["cells"], "rerun": rerun})


def fitting_outputs(chapter: Chapter) -> dict[str, list[NotebookNode]]:
    """The stored outputs of GPU cells that still match the receipt, by cell."""
    stored, now = chapter.receipt["cells"] if chapter.receipt else {}, entries(chapter)
    return {
        cell.node.id: cell.node.outputs
        for cell in chapter.gpu_cells
        if cell.node.id not in chapter.pending
        if stored.get(cell.node.id) == now[cell.node.id]
    }


def keep(
    chapter: Chapter,
    skipped: list[int],
    fitting: dict[str, list[NotebookNode]],
    found: gpu.Gpu | None,
) -> bool:
    """Give the cells that were skipped the outputs that they had, or none; returns whether any had.

    Raises CasebookError for a skipped cell that needs no GPU, and where this machine has a GPU of
    another model than the outputs name: one receipt names one model.
    """
    cells = [cell for cell in chapter.cells if cell.number in skipped]
    if wrong := [cell.number for cell in cells if not cell.needs_gpu]:
        raise CasebookError(f"{chapter.name}, cell {wrong}: skipped, though it needs no GPU")
    for cell in cells:
        cell.node.outputs = fitting.get(cell.node.id, [])
    kept = [cell for cell in cells if cell.node.id in fitting]
    if kept and found and chapter.receipt and found.name != chapter.receipt["gpu"]:
        raise CasebookError(
            f"{chapter.name}: {len(kept)} cells cannot run here and hold outputs of "
            f"{chapter.receipt['gpu']}; execute it on such a machine"
        )
    return bool(kept)


def this_gpu() -> gpu.Gpu:
    """The GPU of this machine. Raises CasebookError where there is none."""
    if found := gpu.find():
        return found
    raise CasebookError(
        "`confirm` runs chapters on a second GPU model, but this machine has no GPU; "
        "`make test` checks what can run here"
    )


def run(chapter: Chapter) -> tuple[int, list[int]]:
    """Run all cells in order, outputs into the chapter: seconds, and numbers of skipped cells.

    Raises CasebookError for a cell that fails or measures nothing.
    """
    if gpu.find():
        os.environ["CASEBOOK_REQUIRE_GPU"] = "1"
    start, skipped = time.monotonic(), []
    client = NotebookClient(
        chapter.notebook,
        kernel_name="python3",
        kernel_manager_class=FileKernelManager,
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
        "kernelspec": dict(KERNEL),
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
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = markup.clean(output.data["text/html"])


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

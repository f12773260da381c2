"""A room of learners on one GPU: how long each waits for the cells of a chapter's class copy.

    .venv/bin/python tests/places/room.py 1 10 20 --chapter 01 --pause 3 9

All learners start at the same moment and read before each cell for a random time between the two
seconds of `--pause`. Prints a row of the workshop page's table for each number of learners. Their
kernels talk over files, because the ports of twenty kernels that start at once collide.
"""

import argparse
import asyncio
import copy
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from casebook.chapters import load
from casebook.execution.kernel import FileKernelManager
from casebook.teaching.workshop import unsolved

HEAD = (
    "| Participants | A participant waits, in all | 95% of cells answer within | Slowest cell "
    "| Failed cells | Showed the stored output |\n|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Wait:
    """A learner's cell: seconds until its answer, whether it failed or showed what was stored."""

    seconds: float
    failed: bool
    stored: bool


async def learner(notebook: NotebookNode, pause: Sequence[float], folder: str) -> list[Wait]:
    """Run the code cells of a copy of the notebook in a kernel of their own."""
    mine = copy.deepcopy(notebook)
    client = NotebookClient(
        mine,
        kernel_name="python3",
        kernel_manager_class=FileKernelManager,
        timeout=600,
        resources={"metadata": {"path": folder}},
    )
    waits = []
    async with client.async_setup_kernel():
        for index, cell in enumerate(mine.cells):
            if cell.cell_type != "code":
                continue
            await asyncio.sleep(random.uniform(*pause))
            start, failed = time.perf_counter(), False
            try:
                await client.async_execute_cell(cell, index)
            except CellExecutionError:
                failed = True
            shown = "".join(output.get("text", "") for output in cell.outputs)
            waits.append(Wait(time.perf_counter() - start, failed, "stored output" in shown))
    return waits


async def room(learners: int, notebook: NotebookNode, pause: Sequence[float]) -> list[list[Wait]]:
    """The waits of each of the learners, who work at the same time."""
    with tempfile.TemporaryDirectory() as folder:
        return await asyncio.gather(*(learner(notebook, pause, folder) for _ in range(learners)))


def row(waits: list[list[Wait]]) -> str:
    """A row of the table."""
    cells = [wait for mine in waits for wait in mine]
    seconds = sorted(wait.seconds for wait in cells)
    in_all = statistics.median(sum(wait.seconds for wait in mine) for mine in waits)
    within = seconds[int(0.95 * len(seconds))]
    failed = sum(wait.failed for wait in cells) or "none"
    stored = f"{sum(wait.stored for wait in cells)} of {len(cells)}"
    return (
        f"| {len(waits)} | {in_all:.0f} s | {within:.1f} s | {seconds[-1]:.0f} s "
        f"| {failed} | {stored} |"
    )


def main() -> None:
    """Print the table for the numbers of learners on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("learners", nargs="+", type=int)
    parser.add_argument("--chapter", default="01")
    parser.add_argument("--pause", nargs=2, type=float, default=(3, 9), metavar="SECONDS")
    options = parser.parse_args()
    (chapter,) = load([options.chapter])
    print(HEAD)
    for learners in options.learners:
        waits = asyncio.run(room(learners, unsolved(chapter.notebook), options.pause))
        print(row(waits), flush=True)


if __name__ == "__main__":
    main()

"""The program that measures a room of learners counts what its table says."""

import asyncio

from nbformat.v4 import new_code_cell, new_notebook
from room import room, row


def test_each_learner_waits_for_each_cell_and_failures_are_counted():
    cells = [new_code_cell("import time; time.sleep(0.2)"), new_code_cell("1 / 0")]
    cells.append(new_code_cell("print('Below is the stored output.')"))
    waits = asyncio.run(room(2, new_notebook(cells=cells), (0, 0.01)))
    assert [[wait.failed for wait in mine] for mine in waits] == [[False, True, False]] * 2
    assert all(mine[0].seconds > 0.2 for mine in waits)
    assert row(waits).startswith("| 2 |") and row(waits).endswith("| 2 | 2 of 6 |")

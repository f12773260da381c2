"""The first cell that a class runs: it needs no GPU, and shows how a failing cell reads."""

from casebook.cells import environments_cell
from casebook.cells.header import Header

NAME = "numpy-2.4.6"
ENVIRONMENT = Header(">=3.11,<3.14", ("numpy==2.4.6",))
TEXT = """# How to read a failing cell

Run the cells one after the other. The last one must fail: its first line names its environment, \
and says how it must end. The line below its output says whether it did.

1. Change `--match` so that it no longer fits, and run the cell again. What does it say?
2. Put it back, and change `--raises` to `ValueError`. What does it say now?
3. Take both out, and let the cell print only the first line."""
CELL = f"""%%pinned {NAME} --raises OverflowError --match "out of bounds for uint8"
import numpy as np

print(np.arange(3, dtype=np.uint8) + 255)
print(np.arange(3, dtype=np.uint8) + 256)"""


def environments() -> str:
    """The cell that names the environment."""
    return environments_cell.written({NAME: ENVIRONMENT})

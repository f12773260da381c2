"""Kernels compiled for other GPUs: the two cells that broke there are found as they were."""

import json

import pytest
from helpers import cell

from casebook import chapters
from casebook.authoring import architectures
from casebook.chapters import load

pytestmark = pytest.mark.timeout(300)

SUM = """import numpy as np
from numba import cuda

@cuda.jit
def add(total, x):
    cuda.atomic.add(total, 0, x[cuda.grid(1)])

add[1, 64](np.zeros(1), np.ones(64))
"""
BLOCK = """import numpy as np
from numba import cuda

def reverse(x, out, n):
    i = min(cuda.grid(1), n - 1)
    mine = cuda.local.array(140, np.float64)
    for k in range(140):
        mine[k] = x[k, i]
    cuda.syncthreads()
    for k in range(140):
        out[i, k] = mine[139 - k]

kernel = cuda.jit("void(float64[:, ::1], float64[:, ::1], int64)")(reverse)
fit = kernel.get_max_threads_per_block()
assert 256 <= fit < 416
"""


def pinned(body):
    """A GPU cell in the environment of case 34."""
    header = next(c.header for c in load(["34"])[0].cells if c.header and c.header.gpu)
    source = cell(body, "gpu = true", dependencies=header.dependencies)
    node = {"source": f"%%pinned\n{source}", "metadata": {}}
    return chapters.Cell(1, node)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        # case 18, as it was
        (SUM, "for compute capability 12.0 it ends with cuda.bindings.nvvm.nvvmError in line"),
        # case 34, as it was
        (BLOCK, "for compute capability 12.0 it ends with AssertionError in line"),
    ],
)
def test_a_claim_that_another_gpu_breaks_is_found(body, said, monkeypatch):
    monkeypatch.setattr(architectures, "CAPABILITIES", ("7.5", "9.0", "12.0"))
    row = architectures.ends(pinned(body))
    (found,) = architectures.differences(row)
    assert found.startswith(said), row


def test_each_cell_stands_in_the_table_as_it_is_and_holds_for_all():
    table = json.loads(architectures.TABLE.read_text())
    problems = [
        f"{b.name}{one}" for b in load() for one in architectures.architecture_problems(b, table)
    ]
    assert problems == []
    assert len(table) >= 70

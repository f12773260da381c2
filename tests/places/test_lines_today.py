"""Two install lines beside PyTorch, as the package index has them today."""

import pytest

from casebook.authoring.installs import Need, tried
from casebook.chapters import installs


@pytest.mark.parametrize(
    ("line", "run"),
    [
        (
            'pip install "numba-cuda[cu12]>=0.30.4" "numpy<2.5"',
            'pip install "numba-cuda[cu13]>=0.30.4" "numpy<2.5"',
        ),
        ('pip install "cuda-python<13"', ""),
    ],
)
def test_what_a_line_does_beside_pytorch(network, line, run):
    trial = tried(Need(line, frozenset(), {}), installs.hosts()["torch-cuda-13"])
    assert trial.run == run, trial
    assert run or trial.problem.startswith("torch 2.")

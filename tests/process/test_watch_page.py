"""The page on watching a kernel: its examples print what it says."""

import re
import subprocess

import pytest
from helpers import ROOT
from test_watch import python  # noqa: F401  a fixture

from casebook.execution.modules import HELPERS

PAGE = (ROOT / "book/watch.md").read_text("utf-8")
EXAMPLES = re.findall(r"(?s):class: watched\n(.*?)```\n\n```\{code-block\} text\n(.*?)```", PAGE)
DRAWN = """import numpy as np
from my_kernel import total
from watch import watch
with watch("lockstep") as seen:
    total[1, 4](np.zeros(1), np.arange(1.0, 5.0))
print(seen.svg())
"""


@pytest.mark.parametrize(("source", "output"), EXAMPLES)
def test_an_example_prints_what_the_page_says(source, output, python, tmp_path):  # noqa: F811
    (tmp_path / "my_kernel.py").write_text(source)
    command = [python, HELPERS / "watch.py", "my_kernel.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == output.strip()


def test_the_drawing_is_that_of_the_first_example(python, tmp_path):  # noqa: F811
    assert len(EXAMPLES) == 3
    (tmp_path / "my_kernel.py").write_text(EXAMPLES[0][0])
    env = {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(HELPERS)}
    command = [python, "-c", DRAWN]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    drawn = done.stdout.partition("<svg")[2].strip()
    assert (ROOT / "book/_static/watched.svg").read_text("utf-8").strip() == f"<svg {drawn}"

"""The folder of case 13, whose files one cell writes and another runs."""

import subprocess
import sys

import pytest

from casebook.execution.modules import FOLDERS

sys.path += map(str, FOLDERS)
from project import Project

KERNEL = """import os, helper
print(helper.FACTOR, os.environ["NUMBA_CACHE_DIR"], os.environ["CUPY_CACHE_DIR"], os.getpid())
raise SystemExit(int(os.environ.get("STATUS", "0")))"""


def test_each_run_is_a_process_that_sees_the_files_as_they_are(monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    project = Project(helper="FACTOR = 3", kernel=KERNEL)
    *first, process = project.run("kernel.py").split()
    project.write("helper.py", "FACTOR = 5")
    *second, other = project.run("kernel.py").split()
    cache = str(project.folder / "cache")
    assert (first, second) == (["3", cache, cache], ["5", cache, cache])
    assert process != other
    bytecode = project.folder / "__pycache__"
    assert not bytecode.exists()  # an edit within the same second would be overlooked
    with pytest.raises(subprocess.CalledProcessError):
        project.run("kernel.py", STATUS="3")

"""The exporter of short case 11 and the folder of case 13."""

import subprocess
import sys
import weakref

import numpy as np
import pytest

from casebook.execution.modules import FOLDERS

sys.path += map(str, FOLDERS)
from dlpack_tail import Tail, data_and_offset
from project import Project


@pytest.mark.parametrize("offset, expected", [(True, (0, 64)), (False, (64, 0))])
def test_both_descriptions_name_the_same_elements(offset, expected):
    base = np.arange(12.0)
    address, memory = base.ctypes.data, weakref.ref(base)
    assert data_and_offset(base[8:]) == (address + 64, 0)
    tail = Tail(base, 8, address, offset=offset)
    del base
    assert memory() is not None
    data, byte_offset = data_and_offset(tail)
    assert (data - address, byte_offset) == expected
    assert np.from_dlpack(tail).tolist() == [8, 9, 10, 11]
    assert tail.__dlpack_device__() == (1, 0)
    del tail
    assert memory() is None


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

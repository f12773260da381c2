"""The exporter of short case 11 and the folder of case 13: what the cells rest on."""

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
    tail = Tail(base, 8, base.ctypes.data, offset=offset)
    data, byte_offset = data_and_offset(tail)
    assert (data - base.ctypes.data, byte_offset) == expected
    assert np.from_dlpack(tail).tolist() == [8, 9, 10, 11]
    assert tail.__dlpack_device__() == (1, 0)


def test_the_memory_lives_as_long_as_the_description():
    base = np.arange(12.0)
    tail, memory = Tail(base, 8, base.ctypes.data), weakref.ref(base)
    del base
    assert memory() is not None
    del tail
    assert memory() is None


def test_a_numpy_view_has_no_offset():
    base = np.arange(12.0)
    assert data_and_offset(base[8:]) == (base.ctypes.data + 64, 0)


def test_each_run_is_a_process_that_sees_the_files_as_they_are(monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    project = Project(
        helper="FACTOR = 3", kernel="import os, helper\nprint(helper.FACTOR, os.getpid())"
    )
    first = project.run("kernel.py").split()
    project.write("helper.py", "FACTOR = 5")
    second = project.run("kernel.py").split()
    assert (first[0], second[0]) == ("3", "5") and first[1] != second[1]
    assert not (
        project.folder / "__pycache__"
    ).exists()  # an edit within a second would be overlooked


def test_caches_lie_in_the_folder_and_variables_are_passed_on():
    project = Project(
        kernel="import os\nprint(os.environ['NUMBA_CACHE_DIR'], os.environ['CUPY_CACHE_DIR'], os.environ['MORE'])"
    )
    cache = str(project.folder / "cache")
    assert project.run("kernel.py", MORE="yes").split() == [cache, cache, "yes"]


def test_a_run_that_fails_raises():
    with pytest.raises(subprocess.CalledProcessError):
        Project(kernel="raise SystemExit(3)").run("kernel.py")

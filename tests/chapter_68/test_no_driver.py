"""What the cells of case 68 rest on: a driver that is hidden, and stand-ins for one."""

import os
import shutil
import subprocess
import sys

import pytest
from helpers import fake_driver

from casebook.execution.modules import FOLDERS

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler, cc")
LOAD = """
import ctypes
def version():
    number = ctypes.c_int()
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(number))
    except OSError:
        return "no driver"
    return number.value
"""
HIDDEN = "import without_driver" + LOAD + "print(version())"
STANDS_IN = "import driver_for\ndriver_for.each('none', '11.4', '13.0')" + LOAD + "print(version())"


def run(tmp_path, code, **variables):
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = os.environ | {"PYTHONPATH": ":".join(map(str, FOLDERS))} | variables
    ended = subprocess.run(
        [sys.executable, script], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    return ended.returncode, ended.stdout.splitlines()


@needs_compiler
def test_a_driver_is_hidden(tmp_path):
    driver = {"LD_LIBRARY_PATH": fake_driver(tmp_path)}
    assert run(tmp_path, LOAD + "print(version())", **driver)[1] != ["no driver"]
    assert run(tmp_path, HIDDEN, **driver) == (0, ["no driver"])


@needs_compiler
@pytest.mark.parametrize("driver", [False, True], ids=["no driver", "a driver"])
def test_a_stand_in_takes_the_place_of_a_driver(tmp_path, driver):
    variables = {"LD_LIBRARY_PATH": fake_driver(tmp_path)} if driver else {}
    assert run(tmp_path, STANDS_IN, **variables) == (0, ["no driver", "11040", "13000"])

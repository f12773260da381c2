"""What the cells of chapter 9 rest on: scripts that start themselves again, and a fake driver."""

import os
import shutil
import subprocess
import sys

import pytest
from helpers import fake_driver

from casebook.execution.modules import FOLDERS


def run(tmp_path, code, **variables):
    """A script with the book's modules on its path: (exit status, lines of output)."""
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = os.environ | {"PYTHONPATH": ":".join(map(str, FOLDERS))} | variables
    ended = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True
    )
    return ended.returncode, ended.stdout.splitlines()


AGAIN = """
import atexit, os
from again import each, last_words
name = each("good", "bad", "last")
atexit.register(print, "cleaned up")
assert name != "bad"
last_words(f"{name} {os.getpid()}")
"""


def test_a_script_starts_itself_for_each_name_and_one_that_fails_is_not_hidden(tmp_path):
    status, (first, atexit, last) = run(tmp_path, AGAIN)
    (first, process), (last, other) = first.split(), last.split()
    assert (status, first, atexit, last) == (1, "good", "cleaned up", "last")
    assert process != other


needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler, cc")
STACK = """
import two_devices, ctypes
cuda = ctypes.CDLL("libcuda.so.1")      # as a CUDA library asks for it
context, device = [ctypes.c_void_p() for _ in range(2)], ctypes.c_int()
for number in (0, 1):
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context[number]), number)
seen = [two_devices.current()]
for call, argument in (
    ("cuCtxPushCurrent_v2", context[0]), ("cuCtxPushCurrent_v2", context[1]),
    ("cuCtxSetCurrent", context[0]), ("cuCtxSetCurrent", None),
    ("cuCtxPopCurrent_v2", None), ("cuCtxSetCurrent", context[1]),
):
    getattr(cuda, call)(argument)
    seen.append(two_devices.current())
print(seen)
print(len(two_devices.calls()), len(two_devices.calls()))
"""


@needs_compiler
@pytest.mark.parametrize("driver", [False, True], ids=["no driver", "a driver"])
def test_contexts_are_a_stack_and_set_replaces_its_top(tmp_path, driver):
    """Also where there is a driver: the fake one is loaded first, under the driver's name."""
    variables = {"LD_LIBRARY_PATH": fake_driver(tmp_path)} if driver else {}
    status, lines = run(tmp_path, STACK, **variables)
    assert (status, lines[0], lines[-1]) == (0, "[None, 0, 1, 0, 0, None, 1]", "6 0")

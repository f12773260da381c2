"""What the cells of chapter 9 rest on: scripts that start themselves again, and the stand-in with two devices."""

import os
import shutil
import subprocess
import sys

import pytest
from helpers import fake_driver

from casebook.execution.modules import FOLDERS


def run(tmp_path, code, **variables):
    """A script with the book's modules on its path: (exit status, output)."""
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = os.environ | {"PYTHONPATH": ":".join(map(str, FOLDERS))} | variables
    ended = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True
    )
    return ended.returncode, ended.stdout


def test_a_script_starts_itself_for_each_name_in_a_process_of_its_own(tmp_path):
    status, said = run(
        tmp_path,
        "import os\nfrom again import each, last_words\nlast_words(f\"{each('one', 'two')} {os.getpid()}\")",
    )
    lines = [line.split() for line in said.splitlines()]
    assert (
        status == 0 and [name for name, _ in lines] == ["one", "two"] and lines[0][1] != lines[1][1]
    )


def test_one_that_fails_neither_hides_the_rest_nor_is_hidden(tmp_path):
    status, said = run(
        tmp_path,
        "from again import each\nname = each('bad', 'good')\nassert name == 'good'\nprint(name)",
    )
    assert (status, said) == (1, "good\n")


def test_last_words_are_the_last(tmp_path):
    status, said = run(
        tmp_path,
        "import atexit\nfrom again import last_words\natexit.register(print, 'tidied up')\nlast_words('lost')",
    )
    assert (status, said) == (0, "lost\n")


STACK = """
import two_devices, ctypes
cuda = ctypes.CDLL("libcuda.so.1")      # as a CUDA library asks for it
context, device = [ctypes.c_void_p() for _ in range(2)], ctypes.c_int()
for number in (0, 1):
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context[number]), number)
seen = [two_devices.current()]
for call, argument in (("cuCtxPushCurrent_v2", context[0]), ("cuCtxPushCurrent_v2", context[1]), ("cuCtxSetCurrent", context[0]),
                       ("cuCtxSetCurrent", None), ("cuCtxPopCurrent_v2", None), ("cuCtxSetCurrent", context[1])):
    getattr(cuda, call)(argument)
    seen.append(two_devices.current())
print(seen)
print(len(two_devices.calls()), len(two_devices.calls()))
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.parametrize("driver", [False, True], ids=["no driver", "a driver"])
def test_contexts_are_a_stack_and_set_replaces_its_top(tmp_path, driver):
    """Where there is a driver, too: the stand-in is loaded first, under the driver's name."""
    variables = {"LD_LIBRARY_PATH": fake_driver(tmp_path)} if driver else {}
    status, said = run(tmp_path, STACK, **variables)
    said = said.splitlines()
    assert (status, said[0], said[-1]) == (0, "[None, 0, 1, 0, 0, None, 1]", "6 0")


BY_NAME = """
import ctypes, {module}
cuda = ctypes.CDLL("libcuda.so.1")
count, size, function = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_void_p()
cuda.cuDeviceGetCount(ctypes.byref(count))
cuda.cuGetProcAddress(b"cuDeviceTotalMem", ctypes.byref(function), 12000, ctypes.c_uint64(0))
status = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(function.value)(ctypes.byref(size), 0)
print(count.value, status, size.value >> 30)
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.parametrize(("module", "devices"), [("stand_in", 1), ("two_devices", 2)])
def test_each_stand_in_has_its_devices_and_gives_a_function_by_its_unversioned_name(
    tmp_path, module, devices
):
    status, said = run(tmp_path, BY_NAME.format(module=module))
    assert (status, said.splitlines()[-1]) == (0, f"{devices} 0 16")

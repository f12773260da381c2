"""The modules that cells import, in real environments of old and new releases. Needs no GPU."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from helpers import ROOT, cell

from casebook.cells.header import read
from casebook.cells.notebook import Notebook
from casebook.environments import create
from casebook.errors import EnvironmentFailure
from casebook.execution.modules import FOLDERS, HELPERS
from casebook.execution.script import check, run

OLD_LOOKUP = {  # pin of a cell of chapter 1 or 2: does it look for the functions by name_v2
    "numba==0.59.0": True,
    "numba==0.68.1": False,
    "numba-cuda==0.7.0": True,
    "numba-cuda==0.30.4": False,
}


@pytest.fixture(scope="module")
def headers():
    books = map(Notebook, ROOT.glob("notebooks/0[12]-*.ipynb"))
    return [cell.header for book in books for cell in book.cells if cell.pinned]


@pytest.fixture(params=OLD_LOOKUP)
def numba(request, headers):
    """Runs a script in the environment of a cell with the pin: returns what it prints."""
    header = next(h for h in headers if request.param in h.dependencies and not h.gpu)
    header = replace(header, raises=None, match=None, signal=None, env={})
    try:
        create.make(header)
    except EnvironmentFailure as failure:
        pytest.skip(str(failure))

    def output(body):
        outcome = run(body, header, lambda text: None)
        check(header, outcome)
        return outcome.output

    return output


SCRIPT = """
from types import SimpleNamespace
from numba import cuda, float32, njit, void
from numba.cuda.cudadrv.driver import Driver

class Library:                          # a driver from 580 on, as Numba sees it
    cuCtxGetDevice, cuCtxGetDevice_v2 = "one argument", "two arguments"
    cuCtxSynchronize, cuCtxSynchronize_v2 = "none", "one argument"
    cuMemAlloc, cuMemAlloc_v2 = "32 bits", "64 bits"

def functions():
    driver = SimpleNamespace(lib=Library)
    names = "cuCtxGetDevice", "cuCtxSynchronize", "cuMemAlloc"
    return ", ".join(Driver._find_api(driver, name) for name in names)

@njit
def half(x):
    return x / 2

def halve(array):
    array[cuda.grid(1)] = half(array[cuda.grid(1)])

def compiled():
    early, late = cuda.jit(void(float32[::1]))(halve), cuda.jit(halve)
    late.compile((float32[::1],))
    codes = [code for kernel in (early, late) for code in kernel.inspect_asm().values()]
    return [".target sm_90" in ptx and "st.global.f32" in ptx for ptx in codes]

print(functions())
try:
    print(compiled())
except Exception as error:
    print("an error")
import driver_580
import sm_90
print(functions())
print(compiled())
"""


def test_without_a_gpu_kernels_compile_and_both_functions_are_found_by_their_old_names(
    numba, monkeypatch, request
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    right = "one argument, none, 64 bits"
    before, no_gpu, after, compiled = numba(SCRIPT).splitlines()
    assert (before != right) == OLD_LOOKUP[request.node.callspec.params["numba"]]
    assert (no_gpu, after, compiled) == ("an error", right, "[True, True]")


def test_a_kernel_finds_them_after_everything_else(kernel):
    code = """import sys, timing
import catalogue
last = sys.path[-1]
print(timing.__file__, last, sys.path.count(last), sys.excepthook.__name__, sep="\\n")"""
    texts = []
    _, client = kernel
    client.execute_interactive("%reload_ext casebook", timeout=60)
    client.execute_interactive(
        code,
        timeout=60,
        output_hook=lambda message: texts.append(message["content"].get("text", "")),
    )
    *found, hook = "".join(texts).splitlines()
    assert found == [str(HELPERS / "timing.py"), str(HELPERS / "chapter_06"), "1"]
    assert hook != "show"


CYCLE = """
class Cycle:
    def __del__(self): print("collected")
cycle = Cycle()
cycle.itself = cycle
"""


@pytest.mark.parametrize("gpu, printed", [(True, "collected\n"), (False, "")])
def test_the_garbage_collection_at_exit_is_left_out_where_no_gpu_is_needed(gpu, printed):
    header = replace(read(cell("")), gpu=gpu)
    assert run(CYCLE, header, lambda text: None).output == printed


def test_outside_of_a_script_tracebacks_are_python_s_own():
    """A process that has the folder on its path, but was not started by casebook."""
    ended = subprocess.run(
        [sys.executable, "-c", "1 / 0"],
        env={"PYTHONPATH": ":".join(map(str, FOLDERS))},
        capture_output=True,
        text=True,
    )
    assert ended.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert ended.stderr.count("Traceback") == 1


def test_none_of_them_hides_a_module_of_python_or_of_an_environment():
    names = {path.stem for path in HELPERS.rglob("*.py")} - {"sitecustomize"}
    assert {"driver_580", "sm_90", "timing"} <= names
    assert not names & set(sys.stdlib_module_names)
    code = f"from importlib.util import find_spec; print(*filter(find_spec, {sorted(names)!r}))"
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=variables, capture_output=True, text=True
    )
    assert ended.stdout == "\n"

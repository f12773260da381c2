"""The modules that cells import, in real environments of old and new releases; nothing is launched, so no GPU is needed."""

import os
import subprocess
import sys

import pytest
from helpers import ROOT, cell, play

from casebook.cells.header import read
from casebook.environments import create
from casebook.errors import EnvironmentFailure
from casebook.execution.modules import FOLDERS, HELPERS

TOOLKIT = ("nvidia-cuda-nvcc-cu12==12.4.131", "nvidia-cuda-runtime-cu12==12.9.79")
BUILT_IN_OLD = {
    "python": ">=3.11,<3.13",
    "dependencies": ("numba==0.59.0", "llvmlite==0.42.0", "numpy==1.26.4", *TOOLKIT),
}
BUILT_IN = {
    "python": ">=3.11,<3.14",
    "dependencies": ("numba==0.68.1", "llvmlite==0.50.0", "numpy==2.4.6", *TOOLKIT),
}
NUMBA = ("numba==0.65.1", "llvmlite==0.47.0", "numpy==2.4.6")
NUMBA_CUDA_OLD = {"python": ">=3.11,<3.14", "dependencies": (*NUMBA, *TOOLKIT, "numba-cuda==0.7.0")}
NUMBA_CUDA = {
    "python": ">=3.11,<3.14",
    "dependencies": (
        *NUMBA,
        "nvidia-cuda-nvcc-cu12==12.9.86",
        TOOLKIT[1],
        "numba-cuda==0.30.4",
        "packaging==26.3",
        "cuda-bindings==12.9.10",
        "cuda-core==1.2.2",
        "cuda-pathfinder==1.9.0",
        "nvidia-cuda-nvrtc-cu12==12.9.86",
        "nvidia-nvjitlink-cu12==12.9.86",
    ),
}
ENVIRONMENTS = {
    "numba-0.59.0": BUILT_IN_OLD,
    "numba-0.68.1": BUILT_IN,
    "numba-cuda-0.7.0": NUMBA_CUDA_OLD,
    "numba-cuda-0.30.4": NUMBA_CUDA,
}


@pytest.fixture(params=ENVIRONMENTS)
def numba(request):
    """Runs a script in one of the environments: returns what it prints."""
    settings = ENVIRONMENTS[request.param]
    options = ["cuda-home = true"] if TOOLKIT[0] in settings["dependencies"] else []
    try:
        create.make(read(cell("", *options, **settings)))
    except EnvironmentFailure as failure:
        pytest.skip(str(failure))
    run = lambda body: play(body, *options, **settings).output  # noqa: E731
    run.guarded = request.param in ("numba-0.68.1", "numba-cuda-0.30.4")
    return run


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
    return ", ".join(Driver._find_api(driver, name) for name in ("cuCtxGetDevice", "cuCtxSynchronize", "cuMemAlloc"))

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


def test_without_a_gpu_kernels_compile_and_the_two_functions_are_taken_by_their_old_names(
    numba, monkeypatch
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    right = "one argument, none, 64 bits"
    before, no_gpu, after, compiled = numba(SCRIPT).splitlines()
    assert (before == right) == numba.guarded
    assert (no_gpu, after, compiled) == ("an error", right, "[True, True]")


def test_the_kernel_finds_them_after_everything_else(kernel):
    code = "import sys, timing\nprint(timing.__file__, sys.path[-1], sys.path.count(sys.path[-1]), sys.excepthook.__name__ == 'show')"
    texts = []
    with kernel() as (_, client):
        client.execute_interactive("%reload_ext casebook", timeout=60)
        client.execute_interactive(
            code,
            timeout=60,
            output_hook=lambda message: texts.append(message["content"].get("text", "")),
        )
    assert "".join(texts).split() == [str(HELPERS / "timing.py"), str(FOLDERS[-1]), "1", "False"]


def test_outside_of_a_script_tracebacks_are_python_s_own():
    """A process that finds the folder on its path, but was started by nobody of ours."""
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
    code = f"import importlib.util; print([n for n in {sorted(names)!r} if importlib.util.find_spec(n)])"
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    assert (
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=variables, capture_output=True, text=True
        ).stdout
        == "[]\n"
    )

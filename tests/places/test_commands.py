"""The commands of the one-line answers do what they promise, or say why nobody ran them."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

from casebook.chapters.installs import GENERAL

# A program in the state that the answer is about, and what its command then prints.
RUNS = {
    "invalid-value": ("import os; print(os.environ['CUDA_LAUNCH_BLOCKING'])", "1"),
    "nonetype": ("size = None\nint(size)", "Uncaught exception. Entering post mortem debugging"),
    "context-is-destroyed": ("cuda.close()  # ends everything", "program.py:1:cuda.close()"),
    "unsupported-toolchain": ("", "cuda"),
    "crash": ("import ctypes\nctypes.string_at(0)", "Fatal Python error: Segmentation fault"),
    "no-locator": ("import os; print(os.environ['NUMBA_CACHE_DIR'])", "/tmp/numba"),
}
# Run as Python, in front of these lines.
PYTHON = {
    "initialization-error": "print(multiprocessing.get_start_method())  # spawn",
}
NOT_RUN = {
    "illegal-address": "a cell of case 85 runs it",
    "misaligned-address": "a cell of case 85 runs it",
    "out-of-memory": "needs a GPU; cells of case 49 run it",
    "no-kernel-image": "needs nvidia-smi",
    "requires-grad": "needs PyTorch with a GPU; known says where it ran",
    "no-device": "needs Windows",
    "launch-timeout": "needs a GPU",
    "forward-compatibility": "needs nvidia-smi",
    "driver-mismatch": "needs a driver",
    "nvml-unknown": "needs Docker with a GPU",
    "unknown-after-suspend": "needs root and a driver",
    "pinned-on-wsl": "needs a GPU",
}
COMMANDS = {
    entry["id"]: entry["command"]
    for file in sorted(GENERAL.glob("*.yml"))
    for entry in yaml.safe_load(file.read_text("utf-8"))
}


def run(folder: Path, command: str, program: str) -> str:
    """What a shell prints, in a folder with this program.py, where `python` is ours."""
    (folder / "program.py").write_text(program)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout


def test_each_command_is_run_or_has_a_reason():
    assert sorted(COMMANDS) == sorted([*RUNS, *PYTHON, *NOT_RUN])


@pytest.mark.parametrize("name", RUNS)
def test_a_command_does_what_its_answer_promises(name, tmp_path):
    program, promised = RUNS[name]
    command = COMMANDS[name] + ("; python program.py" if "export" in COMMANDS[name] else "")
    ours = command.replace("pip list", "uv pip list")  # the book's environment has no pip
    assert promised in run(tmp_path, ours, program)


@pytest.mark.parametrize("name", PYTHON)
def test_lines_of_python_do_what_their_answer_promises(name, tmp_path):
    last = PYTHON[name]
    program = f"import multiprocessing\n{COMMANDS[name]}{textwrap.indent(last, ' ' * 4)}\n"
    assert run(tmp_path, "python program.py", program).strip() == last.rpartition("# ")[2]

"""What guards the promise that every cell is run: which cells are skipped, which outputs compared, and that each is counted."""

import os
import re
import shutil
import subprocess
import sys
from runpy import run_path
from types import SimpleNamespace

import nbformat
import pytest
from helpers import ROOT, stand_in
from nbformat.v4 import new_code_cell, new_notebook, new_output

from casebook.environments import gpu

NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
STORED = [new_output("stream", text="as told: exit status 0\n")]  # in old words
SAME = "print('as expected: exit status 0')"
# What `%load_ext casebook` would do with a GPU, at a tenth of its price.
MAGIC = "from IPython.core.magic import register_cell_magic\n\n@register_cell_magic\ndef gpu(line, cell):\n    exec(cell)"


def write(folder, name, gpu, *sources):
    """A notebook with a receipt of that GPU; each source is a GPU cell whose stored output is what SAME prints."""
    told = [(MAGIC, []), *((f"%%gpu\n{source}", STORED) for source in sources), ("x = 1", [])]
    cells = [
        new_code_cell(source, outputs=outputs, execution_count=n)
        for n, (source, outputs) in enumerate(told, 1)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(
        new_notebook(cells=cells, metadata=kernel | {"casebook": {"gpu": gpu}}),
        folder / f"{name}.ipynb",
    )


@pytest.fixture
def run(tmp_path):
    """run(variables, *options): status of pytest in a folder of its own, what it printed, and the summary of each notebook."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --nbval -p no:cacheprovider\n")
    (tmp_path / "lose.py").write_text(
        "def pytest_collection_modifyitems(items):\n    items.pop()\n"
    )

    def run(variables, *options):
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", *options],
            cwd=tmp_path,
            text=True,
            capture_output=True,
            env=os.environ
            | {
                "PYTHONPATH": str(ROOT),
                "CASEBOOK_REQUIRE_GPU": "",
                "PYTEST_DEBUG_TEMPROOT": str(tmp_path),
            }  # else it sweeps up after earlier runs
            | variables,
        )
        text = ended.stdout + ended.stderr
        return ended.returncode, text, dict(re.findall(r"(?m)^(\w+) +(\d+ cells: .*)$", text))

    return run


def test_without_a_gpu_its_cells_are_skipped_and_a_cell_that_gets_lost_is_a_failure(run, tmp_path):
    """Counted in the process that the workers report to: there is one worker here."""
    write(tmp_path, "example", "NVIDIA H200", "1 / 0")
    status, text, told = run(NO_GPU, "-p", "lose", "-n", "1", "--dist", "loadfile")
    assert (status, told) == (
        1,
        {
            "example": "3 cells: 1 passed, 0 failed, 1 skipped for want of a GPU; 1 NOT ACCOUNTED FOR"
        },
    ), text


def test_outputs_of_gpu_cells_are_compared_with_the_gpu_of_the_receipt_only(run, tmp_path):
    write(tmp_path, "same", "NVIDIA Stand-in", SAME, "print('another text')")
    write(tmp_path, "other", "NVIDIA H200", "print('another text')", "1 / 0")
    status, text, told = run({"LD_LIBRARY_PATH": stand_in(tmp_path)})
    other = "outputs of GPU cells not compared: they come from an NVIDIA H200, this is an NVIDIA Stand-in"
    assert (status, told) == (
        1,
        {
            "same": "4 cells: 3 passed, 1 failed, 0 skipped",
            "other": f"4 cells: 3 passed, 1 failed, 0 skipped; {other}",
        },
    ), text
    assert re.findall(r"(?m)^FAILED (\S+ \d)", text) == [
        "other.ipynb::cell 3",
        "same.ipynb::cell 3",
    ]


def test_a_cell_that_needs_two_gpus_is_skipped_where_one_is(run, tmp_path):
    write(tmp_path, "example", "NVIDIA Stand-in", SAME)
    notebook = nbformat.read(tmp_path / "example.ipynb", 4)
    notebook.cells[1].source = "%%gpu 2\n1 / 0"
    nbformat.write(notebook, tmp_path / "example.ipynb")
    status, text, told = run(
        {"LD_LIBRARY_PATH": stand_in(tmp_path), "CASEBOOK_REQUIRE_GPU": "1"}, "-rs"
    )
    assert (status, told) == (
        0,
        {"example": "3 cells: 2 passed, 0 failed, 1 skipped for want of a GPU"},
    ), text
    assert "this cell needs two GPUs, this machine has one" in text


def test_a_gpu_that_is_required_and_missing_ends_the_run_at_once(run, tmp_path):
    write(tmp_path, "example", "NVIDIA H200", "1 / 0")
    status, text, told = run(NO_GPU | {"CASEBOOK_REQUIRE_GPU": "1"})
    assert (status, text.strip(), told) == (
        4,
        "ERROR: CASEBOOK_REQUIRE_GPU is set and this machine has no NVIDIA GPU",
        {},
    )


@pytest.mark.parametrize(
    ("count", "visible", "worker", "then"),
    [
        (3, None, "gw0", "0,1,2"),
        (3, None, "gw4", "1,2,0"),
        (2, "5,7", "gw1", "7,5"),
        (1, None, "gw1", "0"),
    ],
)
def test_workers_take_turns_with_the_gpus(monkeypatch, count, visible, worker, then):
    monkeypatch.setattr(gpu, "find", lambda: gpu.Gpu("NVIDIA Stand-in", "7.5", "580.65.06", count))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible or "")
    run_path(str(ROOT / "conftest.py"))["pytest_configure"](
        SimpleNamespace(
            workerinput={"workerid": worker},
            pluginmanager=SimpleNamespace(register=lambda *_: None),
        )
    )
    assert os.environ["CUDA_VISIBLE_DEVICES"] == then

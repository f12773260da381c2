"""The promise that every cell runs: which cells are skipped, and that each is counted."""

import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from helpers import ROOT, cell, fake_driver
from nbformat.v4 import new_code_cell, new_notebook, new_output

from casebook.environments import uv

NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
STORED = [new_output("stream", text="as expected: exit status 0\n")]
SAME = "print('as expected: exit status 0')"
# What `%load_ext casebook` would do with a GPU, at a tenth of its price.
MAGIC = """from IPython.core.magic import register_cell_magic

@register_cell_magic
def gpu(line, cell):
    exec(cell)"""


def write(folder, name, gpu, *sources):
    """A notebook of that GPU; each source is a GPU cell, stored with SAME's output."""
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
    """run(variables, *options): pytest's status in a folder of its own, and what it printed."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --nbval\n")
    (tmp_path / "lose.py").write_text("def pytest_collection_modifyitems(items):\n    items.pop()")

    def run(variables, *options):
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", *options],
            cwd=tmp_path,
            text=True,
            capture_output=True,
            # PYTEST_DEBUG_TEMPROOT: else it sweeps up after earlier runs
            env=os.environ
            | {"PYTHONPATH": str(ROOT), "PYTEST_DEBUG_TEMPROOT": str(tmp_path)}
            | dict.fromkeys(
                ("CASEBOOK_REQUIRE_GPU", "CASEBOOK_REQUIRE_ALL", "CASEBOOK_REMEMBER"), ""
            )
            | variables,
        )
        return ended.returncode, ended.stdout + ended.stderr

    return run


def test_gpu_cells_are_skipped_without_a_gpu_and_a_lost_cell_is_a_failure(run, tmp_path):
    """Counted in the process that the workers report to: there is one worker here."""
    write(tmp_path, "example", "NVIDIA H200", "1 / 0")
    status, text = run(NO_GPU, "-p", "lose", "-n", "1", "--dist", "loadfile")
    assert status == 1, text
    assert "1 passed, 0 failed, 1 skipped (cells of 1 notebook)" in text
    assert "example: 1 of 3 cells NOT ACCOUNTED FOR" in text
    assert "skipped   1 × this cell needs an NVIDIA GPU, and this machine has none.\n" in text


def test_outputs_of_gpu_cells_are_compared_with_the_gpu_of_the_receipt_only(run, tmp_path):
    write(tmp_path, "same", "NVIDIA Fake", SAME, "print('another text')")
    write(tmp_path, "other", "NVIDIA H200", "print('another text')", "1 / 0")
    status, text = run({"LD_LIBRARY_PATH": fake_driver(tmp_path)})
    failed = re.findall(r"(?m)^FAILED (\S+ \d)", text)
    assert (status, failed) == (1, ["other.ipynb::cell 3", "same.ipynb::cell 3"]), text
    assert "outputs of GPU cells in 1 notebook not compared: no receipt of an NVIDIA Fake" in text


def test_an_output_without_a_gpu_is_compared_on_every_machine(run, tmp_path):
    write(tmp_path, "example", "NVIDIA H200")
    book = nbformat.read(tmp_path / "example.ipynb", 4)
    book.cells[-1].source, book.cells[-1].outputs = "print('another text')", STORED
    nbformat.write(book, tmp_path / "example.ipynb")
    status, text = run(NO_GPU)
    assert (status, re.findall(r"(?m)^FAILED (\S+ \d)", text)) == (1, ["example.ipynb::cell 2"])


def test_a_cell_that_needs_two_gpus_is_skipped_where_one_is(run, tmp_path):
    write(tmp_path, "example", "NVIDIA Fake", SAME)
    notebook = nbformat.read(tmp_path / "example.ipynb", 4)
    notebook.cells[1].source = "%%gpu 2\n1 / 0"
    nbformat.write(notebook, tmp_path / "example.ipynb")
    status, text = run({"LD_LIBRARY_PATH": fake_driver(tmp_path), "CASEBOOK_REQUIRE_GPU": "1"})
    assert status == 0, text
    assert "skipped   1 × this cell needs 2 GPUs, this machine has 1.\n" in text


def test_a_gpu_that_is_required_and_missing_ends_the_run_at_once(run, tmp_path):
    write(tmp_path, "example", "NVIDIA H200", "1 / 0")
    status, text = run(NO_GPU | {"CASEBOOK_REQUIRE_GPU": "1"})
    error = "ERROR: CASEBOOK_REQUIRE_GPU is set and this machine has no NVIDIA GPU"
    assert (status, text.strip()) == (4, error)


def test_another_skip_is_a_failure_where_all_is_required(run, tmp_path):
    (tmp_path / "test_it.py").write_text("import pytest\n\ndef test(): pytest.skip('no npm')")
    assert run({})[0] == 0
    status, text = run({"CASEBOOK_REQUIRE_ALL": "1"})
    assert (status, "skipped   1 × no npm NOT ALLOWED\n" in text) == (1, True), text


def test_an_environment_that_was_not_prepared_changes_no_output(run, tmp_path, six):
    source = "%%pinned\n" + cell("import six", dependencies=[six])
    write(tmp_path, "example", "NVIDIA H200")
    notebook = nbformat.read(tmp_path / "example.ipynb", 4)
    notebook.cells[0].source = "%load_ext casebook"
    notebook.cells[1].update(source=source, outputs=STORED)
    nbformat.write(notebook, tmp_path / "example.ipynb")
    packages = subprocess.check_output([uv.executable(), "cache", "dir"], text=True).strip()
    status, text = run({"XDG_CACHE_HOME": str(tmp_path / "cache"), "UV_CACHE_DIR": packages})
    assert status == 0, text
    assert "for 1 environment that `casebook prepare` would have made before" in text


def test_what_passed_with_the_same_inputs_is_left_out_and_what_failed_runs_again(run, tmp_path):
    write(tmp_path, "good", "NVIDIA H200", "1 / 0")  # its GPU cell is skipped
    write(tmp_path, "bad", "NVIDIA H200")
    notebook = nbformat.read(tmp_path / "bad.ipynb", 4)
    notebook.cells[1].source = "1 / 0"
    nbformat.write(notebook, tmp_path / "bad.ipynb")
    (tmp_path / "test_it.py").write_text("def test(): pass")
    remember = NO_GPU | {"CASEBOOK_REMEMBER": "1"}
    workers = "-n", "1", "--dist", "loadfile"
    assert "3 passed, 1 failed, 1 skipped (cells of 2 notebooks)" in run(remember, *workers)[1]
    status, text = run(remember, *workers)
    assert "left out  cells of 1 notebook, " in text and "bad: 1 passed, 1 failed" in text, text
    for every in (NO_GPU, remember | {"CASEBOOK_REQUIRE_ALL": "1"}):
        assert "cells of 2 notebooks" in run(every, *workers)[1]
    notebook.cells[1].source = "x = 2"
    nbformat.write(notebook, tmp_path / "bad.ipynb")
    assert "2 passed, 0 failed, 0 skipped (cells of 1 notebook)" in run(remember, *workers)[1]
    status, text = run(remember, *workers)
    assert status == 0 and "left out  cells of 2 notebooks, " in text, text

"""What guards the promise that every cell is run: which cells are skipped, which outputs compared, and that each is counted."""
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from helpers import ROOT, stand_in
from nbformat.v4 import new_code_cell, new_notebook, new_output

NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
WORKERS = "-n", "2", "--dist", "loadfile"


def write(folder, name, gpu="NVIDIA H200", source="print('as stored')"):
    """A notebook with a receipt of that GPU and three cells; the second needs a GPU and runs `source`."""
    cells = [new_code_cell(cell, outputs=outputs, execution_count=n) for n, (cell, outputs) in enumerate([
        ("%load_ext casebook", []), (f"%%gpu\n{source}", [new_output("stream", text="as stored\n")]), ("x = 1", [])], 1)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel | {"casebook": {"gpu": gpu}}), folder / f"{name}.ipynb")


@pytest.fixture
def run(tmp_path):
    """run(variables, *options): status of pytest in a folder of its own, what it printed, and the summary of each notebook."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --nbval -p no:cacheprovider\n")
    (tmp_path / "lose.py").write_text("def pytest_collection_modifyitems(items):\n    items.pop()\n")

    def run(variables, *options):
        ended = subprocess.run([sys.executable, "-m", "pytest", *options], cwd=tmp_path, text=True, capture_output=True,
                               env=os.environ | {"PYTHONPATH": str(ROOT), "CASEBOOK_REQUIRE_GPU": ""} | variables)
        text = ended.stdout + ended.stderr
        return ended.returncode, text, dict(re.findall(r"(?m)^(\w+) +(\d+ cells: .*)$", text))

    return run


@pytest.mark.parametrize(("options", "names"), [((), ["last"]), (WORKERS, ["first", "last"])], ids=["one process", "workers"])
def test_without_a_gpu_its_cells_are_skipped_and_a_cell_that_gets_lost_is_a_failure(run, tmp_path, options, names):
    for name in names:
        write(tmp_path, name)
    told = {"first": "3 cells: 2 passed, 0 failed, 1 skipped for want of a GPU",
            "last": "3 cells: 1 passed, 0 failed, 1 skipped for want of a GPU; 1 NOT ACCOUNTED FOR"}
    status, text, summary = run(NO_GPU, "-p", "lose", *options)
    assert (status, summary) == (1, {name: told[name] for name in names}), text


def test_outputs_of_gpu_cells_are_compared_with_the_gpu_of_the_receipt_only(run, tmp_path):
    driver = {"LD_LIBRARY_PATH": stand_in(tmp_path)}
    write(tmp_path, "same", gpu="NVIDIA Stand-in")
    write(tmp_path, "differs", gpu="NVIDIA Stand-in", source="print('another text')")
    write(tmp_path, "elsewhere", source="print('another text')")
    write(tmp_path, "fails", source="1 / 0")
    status, text, told = run(driver, *WORKERS)
    other = "; outputs of GPU cells not compared: they come from an NVIDIA H200, this is an NVIDIA Stand-in"
    assert (status, told) == (1, {"same": "3 cells: 3 passed, 0 failed, 0 skipped",
                                  "differs": "3 cells: 2 passed, 1 failed, 0 skipped",
                                  "elsewhere": f"3 cells: 3 passed, 0 failed, 0 skipped{other}",
                                  "fails": f"3 cells: 2 passed, 1 failed, 0 skipped{other}"}), text


def test_a_gpu_that_is_required_and_missing_ends_the_run_at_once(run, tmp_path):
    write(tmp_path, "first")
    status, text, told = run(NO_GPU | {"CASEBOOK_REQUIRE_GPU": "1"})
    assert (status, text.strip(), told) == (4, "ERROR: CASEBOOK_REQUIRE_GPU is set and this machine has no NVIDIA GPU", {})

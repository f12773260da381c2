"""Cells as files: what `export` writes runs under a plain `uv run` and ends as the cell does; what `pin` writes is complete."""
import subprocess
import sys

import nbformat
import pytest
from helpers import ROOT, cell

from casebook import environment
from casebook.chapters import Chapter
from casebook.errors import CasebookError, EnvironmentFailure
from casebook.export import export
from casebook.header import read

WHEELS = ["nvidia-cuda-nvcc-cu12==12.4.131", "nvidia-cuda-runtime-cu12==12.9.79"]


def chapter_of(folder, *sources):
    cells = [nbformat.v4.new_markdown_cell("# A title"), *(nbformat.v4.new_code_cell(source) for source in sources)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "09-example.ipynb")
    return Chapter(folder / "09-example.ipynb")


def run_exported(folder, source):
    """Text of the file of a cell, and how `uv run` on it ended, in a folder that knows nothing of casebook."""
    text = export(chapter_of(folder, "%%pinned\n" + source), 1)
    (folder / "report.py").write_text(text)
    return text, subprocess.run([environment.uv(), "run", "--quiet", "report.py"], cwd=folder, env=environment.uv_variables(),
                                capture_output=True, text=True)


def skip_without(*dependencies):
    try:
        environment.make(read(cell("", dependencies=dependencies)))
    except EnvironmentFailure as error:
        pytest.skip(str(error))


def test_a_plain_cell(tmp_path, six):
    text, ended = run_exported(tmp_path, cell("import six\nprint(six.__version__)\nraise TypeError('text')", "raises = 'TypeError'",
                                              "match = 'text'", dependencies=[six]))
    assert (ended.returncode, ended.stdout) == (1, "1.17.0\n")
    assert ended.stderr.endswith("TypeError: text\n")
    assert text.splitlines()[0] == ("# From the GPU Python Casebook, 09-example, cell [1]. "
                                    "Expected: TypeError with a message that matches 'text'.")
    assert "casebook]" in text and "%%pinned" not in text


def test_a_cell_that_dies_by_a_signal(tmp_path):
    _, ended = run_exported(tmp_path, cell("import os\nos.abort()", "signal = 'SIGABRT'"))
    assert ended.returncode == 134


def test_a_cell_with_variables(tmp_path):
    body = """import os, sys, sysconfig
assert os.environ["A"] == sysconfig.get_paths()["purelib"] + "/nvidia {braces}"
assert os.listdir(os.environ["B"]) == []
with open("/proc/self/environ") as file:
    assert "\\0A=/" in file.read()
print(sys.argv)
sys.exit(3)"""
    _, ended = run_exported(tmp_path, cell(body, "[tool.casebook.env]", "A = '{site}/nvidia {braces}'", "B = '{empty}'"))
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "['report.py']\n", "")


def test_a_cell_with_a_cuda_home(tmp_path):
    skip_without(*WHEELS)
    body = """import ctypes, os, pathlib
home = pathlib.Path(os.environ["CUDA_HOME"])
for place in "nvvm/lib64/libnvvm.so.4", "nvvm/libdevice", "lib64/libcudart.so.12", "lib64/libcudadevrt.a":
    assert (home / place).exists(), place
print(ctypes.CDLL(home / "nvvm/lib64/libnvvm.so.4").nvvmVersion)"""
    _, ended = run_exported(tmp_path, cell(body, "cuda-home = true", dependencies=WHEELS))
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_cannot_be_exported(tmp_path):
    chapter = chapter_of(tmp_path, "print(1)", "%%pinned\n" + cell("pass", "build = 'native'"))
    for number, sentence in ((1, "is no %%pinned cell"), (2, "builds native/: it needs a clone"), (3, "has code cells 1 to 2, not 3")):
        with pytest.raises(CasebookError, match=sentence):
            export(chapter, number)


def test_pin_completes_a_header(tmp_path):
    dependencies = ["python-dateutil==2.9.0.post0"]
    source = cell("import dateutil", "raises = 'E'", dependencies=dependencies)
    (tmp_path / "cell.py").write_text("%%pinned\n" + source)
    ended = subprocess.run([sys.executable, "-m", "casebook", "pin", str(tmp_path / "cell.py")], cwd=ROOT, capture_output=True, text=True)
    if "no network" in ended.stderr:
        pytest.skip(ended.stderr)
    assert ended.returncode == 0, ended.stderr
    before, after = read(source), read(ended.stdout)
    assert after.dependencies[0] == "python-dateutil==2.9.0.post0"
    assert [d.partition("==")[0] for d in after.dependencies] == ["python-dateutil", "six"]
    assert (after.raises, after.requires_python) == (before.raises, before.requires_python)
    assert ended.stdout.startswith("%%pinned\n# /// script\n")
    assert ended.stdout.endswith("# ///\nimport dateutil\n")
    environment.make(after)

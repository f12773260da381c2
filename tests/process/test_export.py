"""Cells as files: they run with nothing else, and say themselves whether they ended as expected."""

import ast
import os
import signal
import subprocess
import sys

import nbformat
import pytest
from helpers import cell, gone, process_ids, wait_until

from casebook.cells.header import read
from casebook.cells.notebook import Notebook
from casebook.cells.repository import ADDRESS
from casebook.environments import create, uv
from casebook.errors import CasebookError, EnvironmentFailure
from casebook.execution.export import export, quoted
from casebook.execution.modules import HELPERS, imported

WHEELS = ["nvidia-cuda-nvcc-cu12==12.4.131", "nvidia-cuda-runtime-cu12==12.9.79"]
RECEIPT = {
    "gpu": "NVIDIA H200",
    "gpus": 2,
    "driver": "580.1",
    "python": "3.12.3",
    "date": "2026-11-20",
}
CARD = "# A title\n\n**Threads:** [a #1](https://example.org/1) · [b](https://example.org/2)"


def notebook(folder, *sources, printed=()):
    """A notebook with these cells, and what the last one printed."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[-1].outputs = [nbformat.v4.new_output("stream", text=text) for text in printed]
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(CARD), *cells], metadata={"casebook": RECEIPT}
    )
    nbformat.write(book, folder / "09-example.ipynb")
    return Notebook(folder / "09-example.ipynb")


def exported(folder, *options, **header):
    return export(notebook(folder, "%%pinned\n" + cell(*options, **header)), 1)


def run(folder, text, *command):
    """How a file ended in a folder that knows nothing of casebook; it left no temporary file."""
    (folder / "report.py").write_text(text)
    (folder / "temporary").mkdir()
    places = {"TMPDIR": str(folder / "temporary"), "CUDA_HOME": "/nowhere"}
    ended = subprocess.run(
        [*(command or [sys.executable]), "report.py"],
        cwd=folder,
        env=uv.variables() | places,
        capture_output=True,
        text=True,
        timeout=60,
    )
    left = {path.name for path in (folder / "temporary").iterdir()}
    assert not {name for name in left if not name.startswith("uv-")}
    return ended


def test_a_cell_with_packages_and_a_cuda_home(tmp_path):
    try:
        create.make(read(cell("", dependencies=WHEELS)))
    except EnvironmentFailure as error:
        pytest.skip(str(error))
    body = """import ctypes, os, pathlib
home = pathlib.Path(os.environ["CUDA_HOME"])
for place in "nvvm/libdevice", "lib64/libcudart.so.12", "lib64/libcudadevrt.a":
    assert (home / place).exists(), place
print(hasattr(ctypes.CDLL(home / "nvvm/lib64/libnvvm.so.4"), "nvvmVersion"))
raise TypeError("text")"""
    options = "cuda-home = true", "raises = 'TypeError'"
    text = exported(tmp_path, body, *options, dependencies=WHEELS)
    assert "casebook]" in text and "%%pinned" not in text
    ended = run(tmp_path, text, uv.executable(), "run", "--quiet")
    assert (ended.returncode, ended.stdout) == (0, "True\nas expected: TypeError\n")
    assert ended.stderr.endswith("\nTypeError: text\n")


@pytest.mark.parametrize(
    ("body", "options", "verdict"),
    [
        ("import os\nos.environ.clear()", (), "as expected: exit status 0"),
        (
            "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd",
            ["raises = 'Odd'", "match = '''its __str__|\"b\" .c.'''"],
            "as expected: Odd",
        ),
        (
            "import time\ntime.sleep(600)",
            ["timeout = 0.5", "timeout-expected = true"],
            "as expected: timed out after 0.5 s",
        ),
        (
            "import os\nos.abort()",
            ["raises = 'TypeError'"],
            "unexpected outcome: expected TypeError, but got killed by SIGABRT",
        ),
        (
            f"import os, sys\nsys.exit(os.spawnl(os.P_WAIT, {sys.executable!r}, 'p', '-c', '1/0'))",
            ["raises = 'ZeroDivisionError'"],
            "unexpected outcome: expected ZeroDivisionError, but got exit status 1",
        ),
    ],
)
def test_a_file_says_how_it_ended(tmp_path, body, options, verdict):
    ended = run(tmp_path, exported(tmp_path, body, *options))
    assert ended.stdout.splitlines()[-1] == verdict
    assert ended.returncode == verdict.startswith("unexpected")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_file_that_is_ended_ends_its_script(tmp_path, how):
    body = f"""import os, pathlib, time
pathlib.Path({str(tmp_path / "pid")!r}).write_text(f"{{os.getpid()}}\\n")
time.sleep(600)"""
    (tmp_path / "report.py").write_text(exported(tmp_path, body))
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "report.py"],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        env={"TMPDIR": str(tmp_path / "temporary")},
    )
    (script,) = process_ids(tmp_path / "pid")
    process.send_signal(how)
    assert process.wait() != 0
    assert wait_until(lambda: gone(script))
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_cell_with_variables(tmp_path):
    body = """import os, sys, sysconfig
assert os.environ["A"] == sysconfig.get_paths()["purelib"] + "/nvidia {braces}"
assert os.listdir(os.environ["B"]) == []
with open("/proc/self/environ") as file:
    assert "\\0A=/" in file.read()
print(sys.argv)"""
    variables = "env = {A = '{site}/nvidia {braces}', B = '{empty}'}"
    ended = run(tmp_path, exported(tmp_path, body, variables))
    assert (ended.stdout, ended.stderr) == ("['report.py']\nas expected: exit status 0\n", "")


def test_the_file_says_where_it_comes_from_and_what_was_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("casebook.cells.notebook.ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    options = "gpu = true", "gpus = 2", "driver = '>=580'", "raises = 'ZeroDivisionError'"
    source = "%%pinned --out text\n" + cell("print('text')\n1 / 0", *options)
    printed = "text\n\nZeroDivisionError\nas expected: ZeroDivisionError\n"
    text = export(notebook(tmp_path / "notebooks", source, printed=[printed]), 1)
    assert text.startswith(
        f"""# From the GPU Python Casebook, 09-example, cell [1]: A title
# {ADDRESS}/blob/main/notebooks/09-example.ipynb
# a #1: https://example.org/1
# b: https://example.org/2
# Needs 2 NVIDIA GPUs with a driver >=580.
# Expected: ZeroDivisionError.
# `uv run` on this file exits 0 if it ended as expected, otherwise 1.
# /// script
"""
    )
    assert (
        """
1 / 0

# What it printed on a machine with 2 × NVIDIA H200, driver 580.1, Python 3.12.3, 2026-11-20:
#     text
#
#     ZeroDivisionError
#     as expected: ZeroDivisionError

# ---- The check
"""
        in text
    )


def test_a_file_is_utf_8_whatever_the_terminal_shows(tmp_path):
    notebook(tmp_path, "%%pinned\n" + cell("print('grün')"))
    ended = subprocess.run(
        [sys.executable, "-m", "casebook", "export", tmp_path / "09-example.ipynb", "1"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert "print('grün')" in ended.stdout.decode()


def test_what_a_cell_imports_of_the_book_is_in_the_file(tmp_path):
    body = f"""import os, sys, time
assert os.spawnl(os.P_WAIT, {sys.executable!r}, 'python', '-c', 'import timing') == 0
from timing import compare
print(compare({{'a': lambda: time.sleep(0.01)}}, clock='host').median('a') >= 0.01)"""
    ended = run(tmp_path, exported(tmp_path, body))
    assert (ended.stdout, ended.stderr) == ("True\nas expected: exit status 0\n", "")


@pytest.mark.parametrize(
    "code",
    [
        "import os, one",
        "from one import x",
        "from os import a\nimport one",
        r"'\nfrom one import x'",
    ],
)
def test_a_module_that_a_module_imports_is_in_the_file_and_no_other(tmp_path, monkeypatch, code):
    texts = {"one": "from two import x", "two": "", "three": "import one", "sitecustomize": ""}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr("casebook.execution.modules.FOLDERS", [tmp_path])
    assert imported(f"{code}\nx.three  # two") == {"one": texts["one"], "two": ""}


def test_a_text_in_quotes_is_the_text():
    texts = ["a ''' b\n", 'a """ b\n', "\\n \\\n", "\\'''\n", "\n", "ends in '\n"]
    for text in texts + [path.read_text() for path in HELPERS.rglob("*.py")]:
        assert ast.literal_eval(quoted(text)) == text


def test_what_cannot_be_exported(tmp_path):
    book = notebook(
        tmp_path,
        "print(1)",
        "%%pinned\n" + cell("pass", "build = 'native'"),
        "%%pinned\nprint(1)",
    )
    for number, sentence in (
        (1, "is no %%pinned cell"),
        (2, "builds native/: it needs a clone"),
        (3, r"cell \[3\]: the cell has no header"),
        (4, "has code cells 1 to 3, not 4"),
    ):
        with pytest.raises(CasebookError, match=sentence):
            export(book, number)

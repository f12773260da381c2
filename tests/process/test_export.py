"""Cells as files: what `export` writes runs with nothing else and says itself whether it ended as expected; what `pin` writes is complete."""

import ast
import signal
import subprocess
import sys

import nbformat
import pytest
from helpers import ROOT, cell, gone, process_ids, wait_until

from casebook.authoring.chapters import Chapter
from casebook.cells.header import read
from casebook.cells.repository import ADDRESS
from casebook.environments import create, uv
from casebook.errors import CasebookError, EnvironmentFailure
from casebook.execution.export import export, quoted
from casebook.execution.modules import HELPERS

WHEELS = ["nvidia-cuda-nvcc-cu12==12.4.131", "nvidia-cuda-runtime-cu12==12.9.79"]


def chapter_of(folder, *sources):
    cells = [
        nbformat.v4.new_markdown_cell("# A title"),
        *(nbformat.v4.new_code_cell(source) for source in sources),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "09-example.ipynb")
    return Chapter(folder / "09-example.ipynb")


def run_exported(folder, source, *command):
    """Text of the file of a cell, and how it ended in a folder that knows nothing of casebook. No temporary file may be left."""
    text = export(chapter_of(folder, "%%pinned\n" + source), 1)
    (folder / "report.py").write_text(text)
    (folder / "temporary").mkdir(exist_ok=True)
    variables = uv.variables() | {
        "TMPDIR": str(folder / "temporary"),
        "CUDA_HOME": "/nowhere",
    }
    ended = subprocess.run(
        [*command, "report.py"],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert [
        path for path in (folder / "temporary").iterdir() if not path.name.startswith("uv-")
    ] == []
    return text, ended


def uv_run(folder, source):
    return run_exported(folder, source, uv.executable(), "run", "--quiet")


def skip_without(*dependencies):
    try:
        create.make(read(cell("", dependencies=dependencies)))
    except EnvironmentFailure as error:
        pytest.skip(str(error))


def test_a_plain_cell(tmp_path, six):
    body = "import six\nprint(six.__version__)\nraise TypeError('text')"
    text, ended = uv_run(
        tmp_path, cell(body, "raises = 'TypeError'", "match = 'text'", dependencies=[six])
    )
    assert (ended.returncode, ended.stdout) == (0, "1.17.0\nas expected: TypeError\n")
    assert ended.stderr.endswith("\nTypeError: text\n")
    assert "casebook]" in text and "%%pinned" not in text


AS_EXPECTED = {
    "success": ("pass",),
    "exception, whole name": (
        "import json; json.loads('{')",
        "raises = 'json.decoder.JSONDecodeError'",
        "match = 'double'",
    ),
    "exception without a message": ("raise NotImplementedError", "raises = 'NotImplementedError'"),
    "exception without text": (
        "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd",
        "raises = 'Odd'",
    ),
    "message of many lines": (
        "raise ValueError('first\\nsecond')",
        "raises = 'ValueError'",
        "match = 'first.*second'",
    ),
    "quotes in the pattern": (
        'raise ValueError("""a "b" \'c\'""")',
        "raises = 'ValueError'",
        "match = '''\"b\" .c.'''",
    ),
    "signal": ("import os\nos.abort()", "signal = 'SIGABRT'"),
    "time-out": ("import time\ntime.sleep(600)", "timeout = 0.5", "timeout-expected = true"),
    "variables that go": ("import os\nos.environ.clear()",),
}
OTHERWISE = {
    "success": (
        ("pass", "raises = 'TypeError'", "match = 'text'"),
        "unexpected outcome: expected TypeError with a message that matches 'text', but got exit status 0",
    ),
    "exception": (
        ("1 / 0",),
        "unexpected outcome: expected exit status 0, but got ZeroDivisionError: division by zero",
    ),
    "other message": (
        ("raise TypeError('other')", "raises = 'TypeError'", "match = 'text'"),
        "but got TypeError: other",
    ),
    "type in the text": (
        ("raise SystemExit('TypeError: text')", "raises = 'TypeError'"),
        "but got exit status 1",
    ),
    "of a child": (
        (
            "import os, sys\nsys.exit(os.spawnl(os.P_WAIT, sys.executable, 'python', '-c', '1/0'))",
            "raises = 'ZeroDivisionError'",
        ),
        "but got exit status 1",
    ),
    "signal": (
        ("import os\nos.abort()",),
        "unexpected outcome: expected exit status 0, but got killed by SIGABRT",
    ),
    "time-out": (
        ("import time\ntime.sleep(600)", "timeout = 0.5"),
        "but got timed out after 0.5 s",
    ),
}


@pytest.mark.parametrize("name", AS_EXPECTED)
def test_a_file_that_ends_as_expected_says_so(tmp_path, name):
    _, ended = run_exported(tmp_path, cell(*AS_EXPECTED[name]), sys.executable)
    assert (ended.returncode, ended.stdout.splitlines()[-1][:13]) == (0, "as expected: ")


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_file_that_ends_otherwise_says_so(tmp_path, name):
    settings, sentence = OTHERWISE[name]
    _, ended = run_exported(tmp_path, cell(*settings), sys.executable)
    assert ended.returncode == 1
    assert sentence in ended.stdout.splitlines()[-1]


# A Popen that does not return before the script has ended its parent, as on a busy machine.
SLOW = """import os, pathlib, signal, subprocess, time
class Popen(subprocess.Popen):
    def _execute_child(self, *arguments):
        super()._execute_child(*arguments)
        while not pathlib.Path("told").exists():
            time.sleep(0.01)
subprocess.Popen = Popen
"""


@pytest.mark.parametrize("while_it_starts", [False, True])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_file_that_is_ended_ends_its_script(tmp_path, how, while_it_starts):
    body = f"""import os, pathlib, time
pathlib.Path({str(tmp_path / "pid")!r}).write_text(f"{{os.getpid()}}\\n")
time.sleep(600)"""
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW if while_it_starts else "")
    (tmp_path / "report.py").write_text(export(chapter_of(tmp_path, "%%pinned\n" + cell(body)), 1))
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "report.py"],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        env={"TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": str(tmp_path / "slow")},
    )
    (script,) = process_ids(tmp_path / "pid")
    process.send_signal(how)
    (tmp_path / "told").touch()
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
    _, ended = run_exported(
        tmp_path,
        cell(body, "[tool.casebook.env]", "A = '{site}/nvidia {braces}'", "B = '{empty}'"),
        sys.executable,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        0,
        "['report.py']\nas expected: exit status 0\n",
        "",
    )


def test_a_cell_with_a_cuda_home(tmp_path):
    skip_without(*WHEELS)
    body = """import ctypes, os, pathlib
home = pathlib.Path(os.environ["CUDA_HOME"])
for place in "nvvm/lib64/libnvvm.so.4", "nvvm/libdevice", "lib64/libcudart.so.12", "lib64/libcudadevrt.a":
    assert (home / place).exists(), place
print(ctypes.CDLL(home / "nvvm/lib64/libnvvm.so.4").nvvmVersion)"""
    _, ended = uv_run(tmp_path, cell(body, "cuda-home = true", dependencies=WHEELS))
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_file_says_where_it_comes_from_and_what_was_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("casebook.cells.notebook.ROOT", tmp_path)
    (tmp_path / "notebooks").mkdir()
    source = cell(
        "print('text')\n1 / 0", "gpu = true", "driver = '>=580'", "raises = 'ZeroDivisionError'"
    )
    chapter = chapter_of(tmp_path / "notebooks", "%%pinned\n" + source)
    chapter.notebook.cells[
        0
    ].source = (
        "# A title\n\n**Threads:** [a #1](https://example.org/1) · [b](https://example.org/2)"
    )
    chapter.notebook.metadata["casebook"] = {
        "gpu": "NVIDIA H200",
        "driver": "580.1",
        "python": "3.12.3",
        "date": "2026-11-20",
    }
    chapter.cells[0].node.outputs = [
        nbformat.v4.new_output(
            "stream", text="text\n\nZeroDivisionError\nas expected: ZeroDivisionError\n"
        )
    ]
    text = export(chapter, 1)
    assert text.splitlines()[:7] == [
        "# From the GPU Python Casebook, 09-example, cell [1]: A title",
        f"# {ADDRESS}/blob/main/notebooks/09-example.ipynb",
        "# a #1: https://example.org/1",
        "# b: https://example.org/2",
        "# Needs an NVIDIA GPU with a driver >=580.",
        "# Expected: ZeroDivisionError.",
        "# `uv run` on this file says whether it ends so, with status 0 or 1.",
    ]
    assert (
        "\n1 / 0\n\n# What it printed on a machine with an NVIDIA H200, driver 580.1, Python 3.12.3, 2026-11-20:\n#     text\n#\n"
        "#     ZeroDivisionError\n#     as expected: ZeroDivisionError\n\n# ---- The check\n"
    ) in text


def test_the_file_says_how_many_gpus_it_needs(tmp_path):
    chapter = chapter_of(tmp_path, "%%pinned\n" + cell("pass", "gpu = true", "gpus = 2"))
    chapter.notebook.metadata["casebook"] = {
        "gpu": "NVIDIA H200",
        "gpus": 2,
        "driver": "580.1",
        "python": "3.12.3",
        "date": "2026-11-20",
    }
    chapter.cells[0].node.outputs = [nbformat.v4.new_output("stream", text="text\n")]
    text = export(chapter, 1)
    assert "\n# Needs 2 NVIDIA GPUs.\n" in text
    assert "\n# What it printed on a machine with 2 × NVIDIA H200, driver 580.1," in text


IMPORTS = {
    "names": "from timing import compare, Rounds  # in turn",
    "module": "import os, timing\nfrom timing import *\ncompare = timing.compare",
    "elsewhere": "import os, sys\nassert os.spawnl(os.P_WAIT, sys.executable, sys.executable, '-c', 'import timing') == 0\n"
    "from timing import compare",
}


@pytest.mark.parametrize("form", IMPORTS)
def test_what_a_cell_imports_of_the_book_is_in_the_file(tmp_path, form):
    body = (
        IMPORTS[form]
        + "\nimport time\nr = compare({'a': lambda: time.sleep(0.01)}, clock='host')\nprint(r.median('a') >= 0.01)"
    )
    text, ended = run_exported(tmp_path, cell(body), sys.executable)
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        0,
        "True\nas expected: exit status 0\n",
        "",
    )
    assert f"\n{body}\n" in text


def test_a_module_that_a_module_imports_is_in_the_file_and_no_other(tmp_path, monkeypatch):
    texts = {
        "one": "from two import x  # import one",
        "two": "x = '6 \\n 7'",
        "three": "import one",
        "sitecustomize": "",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(f'"""About {name}."""\n{text}\n')
    monkeypatch.setattr("casebook.execution.modules.FOLDERS", [tmp_path])
    text, ended = run_exported(
        tmp_path, cell("from one import x\nprint(repr(x))  # three"), sys.executable, "-P"
    )
    assert ended.stdout == "'6 \\n 7'\nas expected: exit status 0\n"
    assert "About two" in text and "About three" not in text


TEXTS = ["a ''' b\n", 'a """ b\n', "\\n \\\n", "\\'''\n", "\n", "ends in '\n"]


@pytest.mark.parametrize(
    "text",
    [*TEXTS, *(path.read_text() for path in HELPERS.rglob("*.py"))],
    ids=lambda text: text.splitlines()[0][:20],
)
def test_a_text_in_quotes_is_the_text(text):
    assert ast.literal_eval(quoted(text)) == text


def test_what_cannot_be_exported(tmp_path):
    chapter = chapter_of(tmp_path, "print(1)", "%%pinned\n" + cell("pass", "build = 'native'"))
    for number, sentence in (
        (1, "is no %%pinned cell"),
        (2, "builds native/: it needs a clone"),
        (3, "has code cells 1 to 2, not 3"),
    ):
        with pytest.raises(CasebookError, match=sentence):
            export(chapter, number)


def test_pin_completes_a_header(tmp_path):
    dependencies = ["python-dateutil==2.9.0.post0"]
    source = cell("import dateutil", "raises = 'E'", dependencies=dependencies)
    (tmp_path / "cell.py").write_text("%%pinned\n" + source)
    ended = subprocess.run(
        [sys.executable, "-m", "casebook", "pin", str(tmp_path / "cell.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if "no network" in ended.stderr:
        pytest.skip(ended.stderr)
    assert ended.returncode == 0, ended.stderr
    before, after = read(source), read(ended.stdout)
    assert after.dependencies[0] == "python-dateutil==2.9.0.post0"
    assert [d.partition("==")[0] for d in after.dependencies] == ["python-dateutil", "six"]
    assert (after.raises, after.requires_python) == (before.raises, before.requires_python)
    assert ended.stdout.startswith("%%pinned\n# /// script\n")
    assert ended.stdout.endswith("# ///\nimport dateutil\n")
    create.make(after)

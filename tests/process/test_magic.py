"""The cell magics, in a shell and in real Jupyter kernels."""

import dataclasses
import signal

import nbformat
import nbval.kernel
import pytest
from helpers import cell, gone, process_ids, sleeper, wait_until
from nbclient import NotebookClient

from casebook import magics
from casebook.cells.header import read
from casebook.environments import create, gpu
from casebook.errors import (
    CasebookError,
    EnvironmentFailure,
    GpuRequired,
    HeaderError,
    MissingPython,
    UnexpectedOutcome,
)
from casebook.magics import AFTER, BUSY, NO_GPU

pytestmark = pytest.mark.timeout(120)  # seconds: a script that nobody ends must not hold the suite
H200 = gpu.Gpu("NVIDIA H200", "9.0", "570.86.15")
TABLES = """[plain]
requires-python = ">=3.11"
dependencies = []
[told]
requires-python = ">=3.11"
dependencies = []
env = { THREE = "3", TWO = "two" }
"""
FINE = "as expected: exit status 0\n"


@pytest.fixture
def shell(ipython, capsys):
    """Runs cells as IPython does: returns what is printed, raises what the cell raises."""
    create.make(read(cell("")))  # its progress is no part of what these cells print

    def play(source):
        capsys.readouterr()
        ipython.run_cell(source).raise_error()
        return capsys.readouterr().out

    play.names = ipython.user_ns
    return play


def pinned(*arguments, line=""):
    return f"%%pinned {line}".strip() + "\n" + cell(*arguments)


def test_a_cell_prints_what_its_script_prints_and_how_it_ended(shell):
    assert shell(pinned("print(6 * 7)")) == f"42\n{FINE}"
    raised = shell(pinned("raise ValueError('six')", "raises = 'ValueError'"))
    assert raised.endswith("\nValueError: six\nas expected: ValueError\n")
    late = pinned("import time; time.sleep(99)", "timeout = 0.5", "timeout-expected = true")
    assert shell(late) == "as expected: timed out after 0.5 s\n"
    assert shell(pinned("print('Not yet: no.')")) == "Not yet: no.\n"  # the check of an exercise


def test_a_picture_that_a_script_leaves_is_shown_below_its_text(shell, monkeypatch):
    shown = []
    monkeypatch.setattr(magics, "display", lambda data, **how: shown.append(data))
    draws = "print(1); open('picture.svg', 'w').write('<svg/>')"
    assert shell(pinned(draws, line="--folder drawn")) == f"1\n{FINE}"
    assert shell(pinned("print(2)", line="--folder drawn")) == f"2\n{FINE}"  # not the one above
    assert shown == [{"image/svg+xml": "<svg/>", "text/plain": "<picture>"}]
    with pytest.raises(EnvironmentFailure, match=r"picture\.svg has 500,001 bytes"):
        shell(pinned("open('picture.svg', 'w').write('x' * 500_001)"))


def test_a_check_does_not_judge_an_answer_from_before_an_error(shell):
    shell("answer = 1")
    check = "# The check\nprint(answer)"
    for source in ("answer = '", check, check):
        with pytest.raises((SyntaxError, CasebookError)):
            shell(source)
    assert shell("answer = 2") + shell(check) == "2\n"


def test_an_unexpected_outcome_shows_its_sentence_and_the_end_of_the_output(shell, capsys):
    with pytest.raises(UnexpectedOutcome):
        shell(
            pinned("for n in range(50): print('line', n)\nraise SystemExit(3)", line="--out text")
        )
    end = "".join(f"line {n}\n" for n in range(38, 50))
    assert capsys.readouterr().out == (
        f"{shell.names['text']}UnexpectedOutcome: expected exit status 0, but got exit status 3\n"
        f"The end of the output:\n{end}"
    )
    assert shell.names["text"].startswith("line 0\n") and shell.names["text"].endswith(end)


def test_a_cell_runs_in_an_environment_by_name(shell):
    shell(f"%%environments\n{TABLES}")
    source = "%%pinned plain --raises ValueError --match six --out text\nraise ValueError('six')"
    assert shell(source).endswith("ValueError: six\nas expected: ValueError\n")
    assert 'File "cell.py", line 2, in <module>' in shell.names["text"]
    told = "%%pinned told --env ONE={site} --env TWO='2 $HOME'\nimport os\n"
    shell.names["site"] = "no name of the notebook stands for {site}"
    shown = shell(told + "print(os.environ['ONE'][-13:], os.environ['TWO'], os.environ['THREE'])")
    assert shown == f"site-packages 2 $HOME 3\n{FINE}"


def test_the_environments_come_from_the_file_where_their_cell_was_not_run(
    shell, monkeypatch, tmp_path
):
    source = "%%pinned plain\nprint(1)"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HeaderError, match="first run the cell that begins with %%environments"):
        shell(source)
    cells = [nbformat.v4.new_code_cell(text) for text in (f"%%environments\n{TABLES}", source)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "mine.ipynb")
    with pytest.raises(HeaderError):  # a cell of no file here
        shell(source + "\nprint(2)")
    monkeypatch.setenv("JPY_SESSION_NAME", "mine.ipynb")
    assert shell(source + "\nprint(2)") == f"1\n2\n{FINE}"


def test_the_help_of_the_magic_lists_its_options(ipython):
    assert "--timeout-expected" in ipython.find_cell_magic("pinned").__doc__


def test_cells_that_name_a_folder_share_it_when_one_fails_too(shell):
    make = "import os\nopen('made', 'w')\nprint(os.getcwd(), os.path.abspath('made'))\n[][0]"
    look = "import os\nprint(sorted(os.listdir()))"
    shown = shell(pinned(make, "raises = 'IndexError'", line="--folder shelf"))
    assert shown.startswith(". made\n") and 'File "cell.py", line 11, in <module>' in shown
    there = shell(pinned(look, line="--folder shelf --out seen"))
    assert there == f"['cell.py', 'made']\n{FINE}"
    assert shell.names["seen"] == "['cell.py', 'made']\n"
    assert (
        shell(pinned(look)) == shell(pinned(look, line="--folder other")) == f"['cell.py']\n{FINE}"
    )


def test_a_shared_folder_goes_when_nbval_ends_its_kernel(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running = nbval.kernel.RunningKernel("python3")
    for source in "%load_ext casebook", pinned("pass", line="--folder shelf"):
        running.await_reply(running.execute_cell_input(source))
    assert [*tmp_path.glob("*/cell.py")]
    running.stop()
    assert not [*tmp_path.iterdir()]


GPU_CELLS = [pinned("1 / 0", "gpu = true"), "%%gpu\n1 / 0"]
TWO_GPUS = [pinned("print('ran')", "gpu = true", "gpus = 2"), "%%gpu 2\nprint('ran')"]


@pytest.mark.parametrize("source", GPU_CELLS + TWO_GPUS)
def test_without_a_gpu_a_sentence_or_an_error(shell, no_gpu, monkeypatch, source):
    assert shell(source) == NO_GPU + "\n"
    monkeypatch.setenv("CASEBOOK_REQUIRE_GPU", "1")
    with pytest.raises(GpuRequired, match="this cell needs an NVIDIA GPU, this machine has none"):
        shell(source)


@pytest.mark.parametrize("source", TWO_GPUS)
def test_a_cell_that_needs_two_gpus(shell, monkeypatch, source):
    """A second one is not required where one is."""
    monkeypatch.setenv("CASEBOOK_REQUIRE_GPU", "1")
    monkeypatch.setattr(gpu, "find", lambda: H200)
    assert shell(source) == "Skipped: this cell needs 2 GPUs, this machine has 1.\n"
    monkeypatch.setattr(gpu, "find", lambda: dataclasses.replace(H200, count=2))
    assert shell(source).startswith("ran\n")


def test_a_gpu_cell_is_an_ordinary_cell_where_there_is_a_gpu(shell, monkeypatch):
    monkeypatch.setattr(gpu, "find", lambda: H200)
    assert shell("%%gpu\nx = 6 * 7\nprint(x)\n%timeit -n1 -r1 None").startswith("42\n")
    assert shell.names["x"] == 42
    assert shell("text = '''\n%%gpu\n'''\nprint(len(text))") == "7\n"


def test_on_a_busy_gpu_nothing_is_measured_until_the_cell_is_run_again(shell, monkeypatch):
    monkeypatch.setattr(gpu, "find", lambda: H200)
    monkeypatch.setattr(magics, "busy", magics.Busy())
    monkeypatch.setattr(gpu, "load", lambda: 5)
    measures = "%%gpu\nr = print('measured') # timing.compare()"
    assert shell(measures) == "measured\n"
    monkeypatch.setattr(gpu, "load", lambda: 80)
    assert shell("%%gpu\nprint('ran')") == "ran\n"
    assert shell(measures) == f"{BUSY.format(80)}\n"
    assert shell("%%gpu\nprint(r)") == f"{AFTER}\n"
    assert shell(measures) == "measured\n"
    assert shell("%%gpu\nprint(r)") == "None\n"
    monkeypatch.setenv("CASEBOOK_REQUIRE_GPU", "1")
    assert shell("%%gpu\nprint(1) # compare()") == "1\n"


BUSY_GPU = """from casebook.environments import gpu
gpu.find, gpu.load = lambda: gpu.Gpu("NVIDIA H200", "9.0", "580"), lambda: 80
"""


def test_a_kernel_skips_a_measurement_and_what_follows(monkeypatch):
    monkeypatch.delenv("CASEBOOK_REQUIRE_GPU", raising=False)
    measures = "%%gpu\nx = 1  # .claim("
    sources = ["%load_ext casebook", BUSY_GPU, measures, "%%gpu\nprint(x)", measures, "x"]
    cells = list(map(nbformat.v4.new_code_cell, sources))
    NotebookClient(nbformat.v4.new_notebook(cells=cells), kernel_name="python3").execute()
    texts = ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]
    assert texts[2:] == [f"{BUSY.format(80)}\n", f"{AFTER}\n", "", ""]
    assert cells[-1].outputs[0].data["text/plain"] == "1"


def test_a_pinned_cell_does_not_measure_on_a_busy_gpu(shell, monkeypatch):
    monkeypatch.setattr(gpu, "find", lambda: H200)
    monkeypatch.setattr(gpu, "load", lambda: 80)
    measures = pinned("print('measured') # r.claim(", "gpu = true")
    assert shell(measures) == f"{BUSY.format(80)}\n"
    assert shell(measures) == f"measured\n{FINE}"


def test_without_the_right_python_the_stored_output_is_shown(shell, monkeypatch):
    shown = []
    monkeypatch.setattr(magics, "show", lambda source, names: shown.append(source))
    source = pinned("print('ran')").replace(">=3.11", "==3.4.*")
    monkeypatch.setattr(magics, "run", raises(MissingPython("no Python ==3.4.* on this machine")))
    with pytest.raises(MissingPython):
        shell(source)
    assert shown == [source]


def raises(error):
    def run(*_):
        raise error

    return run


def test_the_driver_key(shell, monkeypatch):
    monkeypatch.setattr(gpu, "find", lambda: H200)
    old, new = (
        pinned("print('ran')", "gpu = true", f"driver = '{wanted}'")
        for wanted in (">=570", ">=580")
    )
    assert shell(old) == f"ran\n{FINE}"
    skipped = "Skipped: this cell shows what happens on drivers >=580; this machine's is 570.86.15."
    assert shell(new) == f"{skipped}\n"


@pytest.mark.parametrize("kill", [False, True])
def test_interrupting_or_killing_the_kernel_ends_script_and_child(kernel, tmp_path, kill):
    manager, client = kernel
    # an error would abort what comes next
    client.execute(pinned(sleeper(tmp_path / "pids")), stop_on_error=False)
    processes = process_ids(tmp_path / "pids")
    assert not any(map(gone, processes))
    manager.signal_kernel(signal.SIGKILL if kill else signal.SIGINT)
    assert wait_until(lambda: all(map(gone, processes)))
    if not kill:
        reply = client.execute_interactive("6 * 7", timeout=60)
        assert reply["content"]["status"] == "ok"


def test_a_new_environment_shows_progress_and_leaves_no_trace(empty_caches, kernel):
    """The same cell twice, at first with empty caches."""
    shown = ""

    def hook(message):
        nonlocal shown
        cleared = "<cleared>" * (message["msg_type"] == "clear_output")
        shown += message["content"].get("text", cleared)

    _, client = kernel
    for _ in range(2):
        client.execute_interactive(pinned("print('done')"), output_hook=hook, timeout=120)
    progress, _, rest = shown.partition("<cleared>")
    assert "Making an environment of 0 packages" in progress
    assert rest == f"done\n{FINE}" * 2

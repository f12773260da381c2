"""The cell magics, in a shell and in real Jupyter kernels."""

import dataclasses
import signal
from pathlib import Path

import nbformat
import pytest
from helpers import cell, gone, wait_until
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient

from casebook.cells.header import read
from casebook.environments import create, gpu
from casebook.errors import CasebookError, GpuRequired, HeaderError, UnexpectedOutcome
from casebook.magics import NO_GPU, load

pytestmark = pytest.mark.timeout(120)  # seconds: a script that nobody ends must not hold the suite
H200 = gpu.Gpu("NVIDIA H200", "9.0", "570.86.15")


@pytest.fixture
def shell(capsys):
    """Runs cells as IPython does: returns what is printed, raises what the cell raises."""
    create.make(read(cell("")))  # its progress is no part of what these cells print
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()  # the one that get_ipython() returns
    load(shell)

    def play(source):
        capsys.readouterr()
        result = shell.run_cell(source)
        if result.error_before_exec or result.error_in_exec:
            raise result.error_before_exec or result.error_in_exec
        return capsys.readouterr().out

    play.names = shell.user_ns
    return play


def pinned(*arguments, line=""):
    return f"%%pinned {line}".strip() + "\n" + cell(*arguments)


def test_a_cell_prints_what_its_script_prints(shell):
    assert shell(pinned("print(6 * 7)")) == "42\nas expected: exit status 0\n"


def test_the_verdict_says_that_it_ended_as_expected(shell):
    assert shell(pinned("pass")) == "as expected: exit status 0\n"
    raised = shell(pinned("raise ValueError('six')", "raises = 'ValueError'", "match = 'six'"))
    assert raised.endswith("\nValueError: six\nas expected: ValueError\n")
    assert (
        shell(pinned("import os; os.abort()", "signal = 'SIGABRT'"))
        == "as expected: killed by SIGABRT\n"
    )
    late = pinned("import time; time.sleep(99)", "timeout = 0.5", "timeout-expected = true")
    assert shell(late) == "as expected: timed out after 0.5 s\n"


def test_an_unexpected_outcome_has_no_verdict(shell, capsys):
    with pytest.raises(UnexpectedOutcome):
        shell(pinned("print('text')", "raises = 'TypeError'"))
    assert "as expected" not in capsys.readouterr().out


def test_an_unexpected_outcome_is_an_error_of_the_cell(shell):
    with pytest.raises(UnexpectedOutcome, match="expected TypeError, but got exit status 0"):
        shell(pinned("pass", "raises = 'TypeError'"))


def test_a_bad_header_is_an_error_of_the_cell(shell):
    with pytest.raises(HeaderError, match="the cell has no header"):
        shell("%%pinned\nprint(1)")


def test_errors_show_their_sentence_and_no_traceback_of_ours(shell, capsys):
    with pytest.raises(UnexpectedOutcome):
        shell(pinned("raise SystemExit(3)"))
    assert capsys.readouterr().out == (
        "UnexpectedOutcome: expected exit status 0, but got exit status 3\n"
        "The end of the output:\n(no output)\n"
    )


def test_out_takes_the_output_along(shell):
    assert shell(pinned("print('kept')", line="--out text")) == "kept\nas expected: exit status 0\n"
    assert shell("print(repr(text))") == "'kept\\n'\n"


def test_out_is_there_even_when_the_cell_fails(shell):
    with pytest.raises(UnexpectedOutcome):
        shell(pinned("print('kept')\nraise SystemExit(3)", line="--out text"))
    assert shell.names["text"] == "kept\n"


@pytest.mark.parametrize(
    "line",
    [
        "--out",
        "--out 1x",
        "--out a b",
        "name",
        "--folder",
        "--folder ../x",
        "--out a --out b",
        "--shelf a",
    ],
)
def test_other_arguments_are_refused(shell, line):
    with pytest.raises(CasebookError, match="%%pinned takes `--out NAME` and `--folder NAME`, not"):
        shell(pinned("pass", line=line))


def test_cells_that_name_a_folder_share_it(shell):
    look = "import os\nprint(sorted(os.listdir()))"
    shell(pinned("open('made', 'w')", line="--folder shelf"))
    assert (
        shell(pinned(look, line="--folder shelf --out seen"))
        == "['cell.py', 'made']\nas expected: exit status 0\n"
    )
    assert shell.names["seen"] == "['cell.py', 'made']\n"
    assert (
        shell(pinned(look))
        == shell(pinned(look, line="--folder other"))
        == "['cell.py']\nas expected: exit status 0\n"
    )


def test_a_shared_folder_stays_when_a_cell_fails_and_is_told_as_any_other(shell):
    outcome = shell(
        pinned(
            "import os\nopen('made', 'w')\nprint(os.getcwd(), os.path.abspath('made'))\n[][0]",
            "raises = 'IndexError'",
            line="--folder shelf",
        )
    )
    assert outcome.startswith(". made\n") and 'File "cell.py", line 11, in <module>' in outcome, (
        outcome
    )
    assert "made" in shell(pinned("import os\nprint(os.listdir())", line="--folder shelf"))


def test_a_shared_folder_goes_with_the_kernel(kernel):
    said = []
    with kernel() as (manager, client):
        client.execute_interactive(pinned("pass", line="--folder shelf"))
        client.execute_interactive(
            "print(get_ipython().magics_manager.registry['PinnedMagic'].folders['shelf'].name)",
            output_hook=lambda message: said.append(message["content"].get("text", "")),
        )
        folder = Path("".join(said).strip())
        assert (folder / "cell.py").exists()
        manager.shutdown_kernel()
    assert not folder.exists()


def test_without_a_gpu_a_sentence(shell, no_gpu):
    assert shell(pinned("raise ValueError", "gpu = true")) == NO_GPU + "\n"
    assert shell("%%gpu\nraise ValueError") == NO_GPU + "\n"


def test_a_gpu_that_is_required_and_missing_is_an_error(shell, no_gpu, monkeypatch):
    monkeypatch.setenv("CASEBOOK_REQUIRE_GPU", "1")
    for source in (pinned("pass", "gpu = true"), "%%gpu\npass"):
        with pytest.raises(
            GpuRequired, match="this cell needs an NVIDIA GPU, this machine has none"
        ):
            shell(source)


def test_a_gpu_cell_is_an_ordinary_cell_where_there_is_a_gpu(shell, monkeypatch):
    monkeypatch.setattr(gpu, "find", lambda: H200)
    assert shell("%%gpu\nx = 6 * 7\nprint(x)\n%timeit -n1 -r1 None").startswith("42\n")
    assert shell.names["x"] == 42
    assert shell(pinned("print('ran')", "gpu = true")) == "ran\nas expected: exit status 0\n"


TOO_FEW = "Skipped: this cell needs two GPUs, this machine has one.\n"


def test_a_cell_that_needs_two_gpus(shell, monkeypatch):
    two = pinned("print('ran')", "gpu = true", "gpus = 2")
    monkeypatch.setattr(gpu, "find", lambda: H200)
    assert shell(two) == TOO_FEW
    assert shell("%%gpu 2\n1 / 0") == TOO_FEW
    monkeypatch.setattr(gpu, "find", lambda: dataclasses.replace(H200, count=2))
    assert shell(two) == "ran\nas expected: exit status 0\n"
    assert shell("%%gpu 2\nprint(6 * 7)") == "42\n"
    assert shell("%%gpu\nprint(6 * 7)") == "42\n"


def test_two_gpus_are_not_required_where_one_is(shell, monkeypatch):
    monkeypatch.setenv("CASEBOOK_REQUIRE_GPU", "1")
    monkeypatch.setattr(gpu, "find", lambda: H200)
    assert shell("%%gpu 2\n1 / 0") == TOO_FEW


def test_without_a_gpu_two_are_one_too_many_as_well(shell, no_gpu):
    assert shell("%%gpu 2\n1 / 0") == NO_GPU + "\n"


def test_the_driver_key(shell, monkeypatch):
    monkeypatch.setattr(gpu, "find", lambda: H200)
    assert (
        shell(pinned("print('ran')", "gpu = true", "driver = '>=570'"))
        == "ran\nas expected: exit status 0\n"
    )
    skipped = shell(pinned("print('ran')", "gpu = true", "driver = '>=580'"))
    assert (
        skipped
        == "Skipped: this cell shows what happens on drivers >=580; this machine's is 570.86.15.\n"
    )


def test_another_gpu_cell_in_a_gpu_cell_s_text_is_text(shell):
    assert shell("text = '''\n%%gpu\n'''\nprint(len(text))") == "7\n"


SLEEPER = """import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(os.getpid(), child.pid)
time.sleep(600)"""


def start_sleeper(client):
    """Message id of a cell that runs on, and the process ids of its script and the script's child, read from its stream."""
    create.make(read(cell(SLEEPER)))  # so that the stream has no progress before them
    request = client.execute(
        pinned(SLEEPER), stop_on_error=False
    )  # an error would abort what comes next
    text = ""
    while not text.endswith("\n"):  # a busy kernel may send a line in parts
        text += answer(client.get_iopub_msg, request, "stream")["text"]
    return request, [int(word) for word in text.split()]


def answer(receive, request, kind):
    """Content of the first message of a kind that answers a request; start-up may have left others in the queue."""
    while True:
        message = receive(timeout=60)
        if message["msg_type"] == kind and message["parent_header"]["msg_id"] == request:
            return message["content"]


def test_interrupting_the_kernel_ends_script_and_child(kernel):
    with kernel() as (manager, client):
        request, processes = start_sleeper(client)
        assert not any(map(gone, processes))
        manager.interrupt_kernel()
        assert (
            answer(client.get_shell_msg, request, "execute_reply")["ename"] == "KeyboardInterrupt"
        )
        assert wait_until(lambda: all(map(gone, processes)))
        assert client.execute_interactive("6 * 7", timeout=60)["content"]["status"] == "ok"


def test_killing_the_kernel_ends_script_and_child(kernel):
    with kernel() as (manager, client):
        _, processes = start_sleeper(client)
        assert not any(map(gone, processes))
        manager.signal_kernel(signal.SIGKILL)
        assert wait_until(lambda: all(map(gone, processes)))


class Listening(NotebookClient):
    """Remembers the kinds of the messages that come, and all text of the streams."""

    def process_message(self, message, cell, cell_index):
        self.kinds.append(message["msg_type"])
        self.text += message["content"].get("text", "")
        return super().process_message(message, cell, cell_index)


def test_a_new_environment_shows_progress_and_leaves_no_trace(empty_caches):
    """The same cell twice, at first with empty caches."""
    cells = [
        nbformat.v4.new_code_cell(source)
        for source in ("%load_ext casebook", pinned("print('done')"), pinned("print('done')"))
    ]
    client = Listening(
        nbformat.v4.new_notebook(cells=cells),
        kernel_name="python3",
        timeout=120,
        coalesce_streams=True,
    )
    client.kinds, client.text = [], ""
    client.execute()
    assert "Making an environment of 0 packages" in client.text
    assert client.kinds.count("clear_output") == 1
    assert (
        cells[1].outputs
        == cells[2].outputs
        == [
            {
                "output_type": "stream",
                "name": "stdout",
                "text": "done\nas expected: exit status 0\n",
            }
        ]
    )

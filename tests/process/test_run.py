"""Runs of real scripts: each way to end, expected and not, and what is shown of it."""

import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers import cell, gone, play, process_ids, wait_until

from casebook.environments import create
from casebook.errors import UnexpectedOutcome
from casebook.execution.process import guarded_group

pytestmark = pytest.mark.timeout(120)  # seconds: a script that nobody ends must not hold the suite
DIE = "import os, signal; os.kill(os.getpid(), signal.{})"


def test_a_script_that_succeeds():
    outcome = play("print(6 * 7)")
    assert (outcome.status, outcome.error, outcome.output) == (0, None, "42\n")


AS_EXPECTED = {
    "exception": ("raise TypeError('no float here')", "raises = 'TypeError'", "match = 'no float'"),
    "exception, whole name": (
        "import json; json.loads('{')",
        "raises = 'json.decoder.JSONDecodeError'",
    ),
    "exception, last name": (
        "import json; json.loads('{')",
        "raises = 'JSONDecodeError'",
        "match = 'double quotes'",
    ),
    "own exception": ("class Odd(Exception): pass\nraise Odd", "raises = 'Odd'"),
    "message of many lines": (
        "raise ValueError('first\\nsecond\\nthird')",
        "raises = 'ValueError'",
        "match = 'first.*third'",
    ),
    "message that cannot be had": (
        "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd",
        "raises = 'Odd'",
    ),
    "syntax error": ("print('never'\n", "raises = 'SyntaxError'", "match = 'never closed'"),
    "recursion": ("def f(): f()\nf()", "raises = 'RecursionError'"),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", "signal = 'SIGSEGV'"),
    "abort": ("import os; os.abort()", "signal = 'SIGABRT'"),
    "time-out": ("import time; time.sleep(600)", "timeout = 0.5", "timeout-expected = true"),
    "time-out, output closed": (
        "import os, time; os.close(1); os.close(2); time.sleep(600)",
        "timeout = 0.5",
        "timeout-expected = true",
    ),
    "time-out while printing": (
        "while True: print('again')",
        "timeout = 0.5",
        "timeout-expected = true",
    ),
}


@pytest.mark.parametrize("name", AS_EXPECTED)
def test_ends_as_expected(name):
    play(*AS_EXPECTED[name])


OTHERWISE = {
    "success for an exception": (
        ("pass", "raises = 'TypeError'"),
        "expected TypeError, but got exit status 0",
    ),
    "success for a signal": (
        ("pass", "signal = 'SIGSEGV'"),
        "expected killed by SIGSEGV, but got exit status 0",
    ),
    "success for a time-out": (
        ("pass", "timeout = 30", "timeout-expected = true"),
        "expected timed out after 30 s, but got exit status 0",
    ),
    "exception for success": (
        ("raise TypeError('text')",),
        "expected exit status 0, but got TypeError: text",
    ),
    "wrong type, right text": (
        ("raise ValueError('TypeError: text')", "raises = 'TypeError'", "match = 'text'"),
        "expected TypeError with a message that matches 'text', but got ValueError: TypeError: text",
    ),
    "right type, wrong text": (
        ("print('text')\nraise TypeError('other')", "raises = 'TypeError'", "match = 'text'"),
        "but got TypeError: other",
    ),
    "base of the type": (
        ("raise FileNotFoundError('text')", "raises = 'OSError'"),
        "expected OSError, but got FileNotFoundError: text",
    ),
    "type of the cause": (
        (
            "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise TypeError",
            "raises = 'ZeroDivisionError'",
        ),
        "but got TypeError",
    ),
    "end of the name": (
        ("class MyError(Exception): pass\nraise MyError", "raises = 'Error'"),
        "expected Error, but got MyError",
    ),
    "printed, not raised": (
        ("import sys; sys.exit('TypeError: text')", "raises = 'TypeError'"),
        "but got exit status 1",
    ),
    "raised in a thread": (
        (
            "import threading\nthreading.Thread(target=lambda: 1 / 0).start()",
            "raises = 'ZeroDivisionError'",
        ),
        "but got exit status 0",
    ),
    "raised by a child": (
        (
            "import os, sys\nsys.exit(os.spawnl(os.P_WAIT, sys.executable, 'python', '-c', '1/0'))",
            "raises = 'ZeroDivisionError'",
        ),
        "expected ZeroDivisionError, but got exit status 1",
    ),
    "raised at shutdown": (
        ("import atexit\natexit.register(lambda: 1 / 0)", "raises = 'ZeroDivisionError'"),
        "but got exit status 0",
    ),
    "sys.exit(3)": (("import sys; sys.exit(3)",), "expected exit status 0, but got exit status 3"),
    "sys.exit(3) for an exception": (
        ("import sys; sys.exit(3)", "raises = 'SystemExit'"),
        "expected SystemExit, but got exit status 3",
    ),
    "wrong signal": (
        (DIE.format("SIGABRT"), "signal = 'SIGSEGV'"),
        "expected killed by SIGSEGV, but got killed by SIGABRT",
    ),
    "status like a signal's": (
        ("import sys; sys.exit(139)", "signal = 'SIGSEGV'"),
        "expected killed by SIGSEGV, but got exit status 139",
    ),
    "signal for an exception": (
        (DIE.format("SIGKILL"), "raises = 'E'"),
        "expected E, but got killed by SIGKILL",
    ),
    "crash after the exception": (
        ("import atexit, os\natexit.register(os.abort)\nraise TypeError", "raises = 'TypeError'"),
        "expected TypeError, but got killed by SIGABRT",
    ),
    "signal without a name": (
        ("import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 1)",),
        "but got killed by signal 35",
    ),
    "time-out": (
        ("import time; time.sleep(600)", "timeout = 0.5"),
        "expected exit status 0, but got timed out after 0.5 s",
    ),
    "time-out for an exception": (
        ("import time; time.sleep(600)", "timeout = 0.5", "raises = 'E'"),
        "but got timed out",
    ),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_ends_otherwise(name):
    case, sentence = OTHERWISE[name]
    with pytest.raises(UnexpectedOutcome) as caught:
        play(*case)
    assert sentence in str(caught.value).splitlines()[0]


def test_an_unexpected_outcome_shows_the_end_of_the_output():
    with pytest.raises(UnexpectedOutcome) as caught:
        play("for n in range(50): print('line', n)\nraise SystemExit(1)")
    text = str(caught.value)
    assert text.endswith("line 48\nline 49")
    assert "line 30\n" not in text
    assert caught.value._render_traceback_() == [f"UnexpectedOutcome: {text}"]


TRACEBACK = """\
ZeroDivisionError: division by zero
… which led to:
Traceback (most recent call last):
  File "cell.py", line 15, in <module>
    json.loads("1", object_hook=None, parse_int=fail)
  … 3 frames in the standard library
  File "cell.py", line 13, in fail
    raise KeyError("no such") from error
KeyError: 'no such'
"""


def test_a_traceback_shows_own_frames_and_folds_the_library_s():
    body = (
        "import json\ndef fail(text):\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n"
        '        raise KeyError("no such") from error\n\njson.loads("1", object_hook=None, parse_int=fail)'
    )
    assert play(body, "raises = 'KeyError'").output == TRACEBACK


def test_a_syntax_error_names_its_line():
    output = play("x = 1\nx = = 2", "raises = 'SyntaxError'").output
    assert 'File "cell.py", line 9\n' in output
    assert "Traceback" not in output


def test_a_syntax_error_in_other_text_shows_who_compiled_it():
    output = play("compile('x = = 2', 'other', 'exec')", "raises = 'SyntaxError'").output
    assert "compile('x = = 2', 'other', 'exec')" in output


def test_a_recursion_is_not_shown_frame_by_frame():
    output = play("def f(): f()\nf()", "raises = 'RecursionError'").output
    assert len(output.splitlines()) < 15
    assert "more of them" in output


def test_an_exception_at_shutdown_is_shown():
    outcome = play("import atexit\natexit.register(lambda: 1 / 0)\nprint('done')")
    assert outcome.output.startswith("done\n")
    assert "ZeroDivisionError: division by zero" in outcome.output


def test_stdout_and_stderr_come_in_true_order():
    body = """import os, subprocess, sys
for n in range(300):
    print("out", n)
    print("err", n, file=sys.stderr)
    os.write(1, b"raw\\n")
subprocess.run(["sh", "-c", "echo shell; echo shell >&2"])
print("last")"""
    wanted = "".join(f"out {n}\nerr {n}\nraw\n" for n in range(300)) + "shell\nshell\nlast\n"
    outcome = play(body)
    shown = outcome.output.splitlines(keepends=True)
    assert "".join(shown[:200]) == "".join(wanted.splitlines(keepends=True)[:200])
    assert shown[-4:-1] == ["shell\n", "shell\n", "last\n"]


def test_output_appears_while_the_script_runs(tmp_path):
    seen = tmp_path / "seen"
    body = f"""import pathlib, time
print("first")
while not pathlib.Path({str(seen)!r}).exists():
    time.sleep(0.01)
print("second")"""
    outcome = play(body, "timeout = 60", emit=lambda text: seen.touch())
    assert outcome.output == "first\nsecond\n"


def test_a_time_out_ends_the_script_s_children_too(tmp_path, monkeypatch):
    """The time is up as soon as both are there, however long a busy machine takes to start them."""
    body = f"""import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path({str(tmp_path / "pids")!r}).write_text(f"{{os.getpid()}} {{child.pid}}\\n")
time.sleep(600)"""
    clock = itertools.chain([0], iter(lambda: 99 if process_ids(tmp_path / "pids") else 0, None))
    monkeypatch.setattr(
        "casebook.execution.process.time", SimpleNamespace(monotonic=lambda: next(clock))
    )
    play(body, "timeout = 9", "timeout-expected = true")
    assert wait_until(lambda: all(map(gone, process_ids(tmp_path / "pids"))))


@pytest.mark.parametrize("command", [["sleep", "600"], ["yes"]])
def test_a_child_in_the_background_does_not_hold_the_cell(command, tmp_path):
    """A cell that waited for it would time out."""
    play(
        f"import subprocess; print(subprocess.Popen({command}).pid, file=open({str(tmp_path / 'pid')!r}, 'w'))",
        "timeout = 60",
    )
    assert wait_until(lambda: all(map(gone, process_ids(tmp_path / "pid"))))


def test_an_interrupt_ends_the_script_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    pids = []

    def interrupt(text):
        pids.append(int(text))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play("import os, time; print(os.getpid()); time.sleep(600)", emit=interrupt)
    assert wait_until(lambda: gone(pids[0]))
    assert not list((tmp_path / "casebook" / "runs").iterdir())
    assert not (tmp_path / "casebook" / "output").exists()


def test_the_guard_outlives_what_the_script_sends_to_its_own_group(tmp_path):
    """A script that signals its whole process group (as some test runners do) must not switch off its own end."""
    body = f"""import os, pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.kill(0, signal.SIGTERM)
pathlib.Path({str(tmp_path / "pid")!r}).write_text(f"{{os.getpid()}}\\n")
time.sleep(600)"""
    code = f"import sys; sys.path[:0] = {sys.path[:2]!r}\nfrom helpers import play\nplay({body!r})"
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[1])
    (script,) = process_ids(tmp_path / "pid")
    parent.kill()
    parent.wait()
    assert wait_until(lambda: gone(script))


def test_a_group_does_not_outlive_its_block():
    with guarded_group() as group:
        sleeper = subprocess.Popen(["sleep", "600"], process_group=group)
        assert not gone(sleeper.pid)
    assert wait_until(lambda: gone(sleeper.pid) and gone(group))
    assert sleeper.wait() == -signal.SIGKILL


def test_the_file_of_the_script_is_real():
    assert (
        "def f(): return 'found'"
        in play("import inspect\ndef f(): return 'found'\nprint(inspect.getsource(f))").output
    )


SHOW = "import os\nfor key in sorted(os.environ):\n    if 'CASEBOOK' not in key: print(key, os.environ[key])"


def test_site_and_empty_stand_for_folders():
    body = (
        "import os, sysconfig\nassert os.environ['A'] == sysconfig.get_paths()['purelib'] + '/nvidia'\n"
        "assert os.listdir(os.environ['B']) == []\nprint(os.environ['A'], os.environ['B'])"
    )
    outcome = play(body, "[tool.casebook.env]", "A = '{site}/nvidia'", "B = '{empty}'")
    assert outcome.output == "nvidia <run>/empty\n"


def test_a_toolkit_on_the_machine_changes_nothing(tmp_path, monkeypatch):
    body = (
        SHOW
        + "\nimport shutil, sys\nprint(shutil.which('nvcc'), [p for p in sys.path if 'toolkit' in p])"
    )
    before = play(body).output
    toolkit = tmp_path / "toolkit"
    (toolkit / "bin").mkdir(parents=True)
    (toolkit / "bin" / "nvcc").write_text("#!/bin/sh\necho fake\n")
    (toolkit / "bin" / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{toolkit}/bin:{os.environ['PATH']}")
    for name in (
        "CUDA_HOME",
        "CUDA_PATH",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "NUMBA_CUDA_ENABLE_PYNVJITLINK",
        "CONDA_PREFIX",
    ):
        monkeypatch.setenv(name, str(toolkit))
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert shutil.which("nvcc") == str(toolkit / "bin" / "nvcc")
    assert play(body).output == before
    assert str(toolkit) not in before
    assert before.endswith("None []\n")


def test_the_driver_s_folder_alone_passes(tmp_path, monkeypatch):
    """On Colab libcuda.so.1 is found through LD_LIBRARY_PATH only."""
    for name in ("driver", "toolkit"):
        (tmp_path / name).mkdir()
    (tmp_path / "driver" / "libcuda.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/toolkit:{tmp_path}/driver")
    body = f"import os\nassert os.environ['LD_LIBRARY_PATH'] == os.environ['SITE'] + ':{tmp_path}/driver'"
    play(body, "[tool.casebook.env]", "LD_LIBRARY_PATH = '{site}'", "SITE = '{site}'")


def test_two_runs_of_one_cell_at_once():
    both = threading.Barrier(2, timeout=60)
    body = "for n in range(5): print('line', n)"
    with ThreadPoolExecutor() as threads:
        runs = [threads.submit(play, body, emit=lambda text: both.wait()) for _ in range(2)]
    assert runs[0].result() == runs[1].result()


def test_sets_have_the_same_order_each_time():
    assert play("print(hash('text'))").output == play("print(hash('text'))").output


SAME = """import collections, json, os, sys, warnings
print(os.getcwd(), __file__, sys.argv, object(), collections.__file__)
warnings.warn("a warning")
try:
    json.loads("{")
except ValueError as error:
    raise RuntimeError(f"{id(error):#x}\\n{sys.executable}") from error
"""


def test_the_same_output_on_every_python():
    outputs = {}
    for version in ("3.11", "3.12", "3.13"):
        if subprocess.run(
            [create.uv(), "python", "find", "--offline", version], capture_output=True
        ).returncode:
            continue
        python = {"python": f"=={version}.*"}
        assert (
            play("import sys; print('%d.%d' % sys.version_info[:2])", **python).output
            == f"{version}\n"
        )
        outputs[version] = (
            play(SAME, "raises = 'RuntimeError'", **python).output,
            play("def f(): f()\nf()", "raises = 'RecursionError'", **python).output,
        )
    if len(outputs) < 2:
        pytest.skip(f"needs two of Python 3.11, 3.12, 3.13; uv finds {', '.join(outputs)}")
    assert len(set(outputs.values())) == 1, outputs
    assert str(Path.home()) not in str(outputs)


def test_line_numbers_count_as_in_the_notebook():
    """The magic's line is line 1."""
    source = cell("raise ValueError", "raises = 'ValueError'")
    line = source.splitlines().index("raise ValueError") + 2
    assert (
        f'"cell.py", line {line}, in <module>'
        in play("raise ValueError", "raises = 'ValueError'").output
    )

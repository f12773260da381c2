"""Runs of real scripts: the ways to end that only a process has, and what is shown of them."""

import fcntl
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers import gone, play, process_ids, sleeper, wait_until

from casebook.cells.header import Header
from casebook.environments import create, uv
from casebook.environments.venv import Environment
from casebook.errors import EnvironmentFailure, UnexpectedOutcome
from casebook.execution import script
from casebook.execution.script import own_folder, run

pytestmark = pytest.mark.timeout(120)  # seconds: a script that nobody ends must not hold the suite
TIME_OUT = ("timeout = 0.5", "timeout-expected = true")
CHILD = "os.spawnl(os.P_WAIT, sys.executable, 'python', '-c', '1/0')"


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (
            "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd",
            ["raises = 'Odd'", "match = 'its __str__ failed'"],
        ),
        ("import ctypes; ctypes.string_at(0)", ["signal = 'SIGSEGV'"]),
        ("import os, time; os.close(1); os.close(2); time.sleep(600)", TIME_OUT),
        ("while True: print('again')", TIME_OUT),
    ],
)
def test_ends_as_expected(body, options):
    play(body, *options)


@pytest.mark.parametrize(
    ("body", "raises", "got"),
    [
        (
            "try:\n    1 / 0\nexcept ValueError:\n    pass\nfinally:\n    [][0]",
            "ZeroDivisionError",
            "IndexError: ",
        ),
        (f"import os, sys\nsys.exit({CHILD})", "ZeroDivisionError", "exit status 1"),
        ("import atexit, os\natexit.register(os.abort)\n[][0]", "IndexError", "killed by SIGABRT"),
    ],
)
def test_ends_in_another_way(body, raises, got):
    with pytest.raises(UnexpectedOutcome, match=f"expected {raises}, but got {got}"):
        play(body, f"raises = '{raises}'")


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
    body = """import json
def fail(text):
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise KeyError("no such") from error

json.loads("1", object_hook=None, parse_int=fail)"""
    assert play(body, "raises = 'KeyError'").output == TRACEBACK


def test_a_syntax_error_names_its_line_or_who_compiled_it():
    raises = "raises = 'SyntaxError'"
    output = play("x = 1\nx = = 2", raises).output
    assert 'File "cell.py", line 9\n' in output and "Traceback" not in output
    compiled = "compile('x = = 2', 'other', 'exec')"
    assert f"    {compiled}\n" in play(compiled, raises).output


def test_a_recursion_is_not_shown_frame_by_frame():
    output = play("def f(): f()\nf()", "raises = 'RecursionError'").output
    assert len(output.splitlines()) < 15 and "more of them" in output


def test_an_exception_at_shutdown_is_shown():
    output = play("import atexit\natexit.register(lambda: 1 / 0)\nprint('done')").output
    assert output.startswith("done\n") and "ZeroDivisionError: division by zero" in output


def test_stdout_and_stderr_come_in_true_order():
    body = """import os, subprocess, sys
for n in range(60):
    print("out", n)
    print("err", n, file=sys.stderr)
    os.write(1, b"raw\\n")
subprocess.run(["sh", "-c", "echo shell; echo shell >&2"])
print("last")"""
    wanted = "".join(f"out {n}\nerr {n}\nraw\n" for n in range(60)) + "shell\nshell\nlast\n"
    assert play(body).output == wanted


def test_output_appears_while_the_script_runs(tmp_path):
    seen = tmp_path / "seen"
    body = f"""import pathlib, time
print("first")
while not pathlib.Path({str(seen)!r}).exists():
    time.sleep(0.01)
print("second")"""
    assert play(body, emit=lambda text: seen.touch()).output == "first\nsecond\n"


def test_a_time_out_ends_the_script_s_children_too(tmp_path, monkeypatch):
    """It comes as soon as both are there, however long a busy machine takes to start them."""
    clock = itertools.chain([0], iter(lambda: 99 if process_ids(tmp_path / "pids") else 0, None))
    monkeypatch.setattr(
        "casebook.execution.process.time", SimpleNamespace(monotonic=lambda: next(clock))
    )
    play(sleeper(tmp_path / "pids"), *TIME_OUT)
    assert wait_until(lambda: all(map(gone, process_ids(tmp_path / "pids"))))


@pytest.mark.parametrize("command", ["sleep 600", "yes", "setsid sleep 600", "setsid yes"])
def test_a_child_in_the_background_ends_with_the_script_and_does_not_hold_it(command, tmp_path):
    pid = tmp_path / "pid"
    play(
        "import subprocess\n"
        f"print(subprocess.Popen({command.split()}).pid, file=open({str(pid)!r}, 'w'))"
    )
    assert wait_until(lambda: all(map(gone, process_ids(pid))))


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


def test_the_folder_of_a_killed_run_is_removed_by_the_next(tmp_path):
    old, fresh, held = (tmp_path / name for name in ("old", "fresh", "held"))
    for folder in (old, fresh, held):
        (folder / "cell").mkdir(parents=True)
    with (held / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for folder in (old, held):
            os.utime(folder, (0, 0))
        with own_folder(tmp_path) as folder:
            assert {*tmp_path.iterdir()} == {fresh, held, folder}
    assert {*tmp_path.iterdir()} == {fresh, held}


def test_a_colon_in_a_path_is_named(monkeypatch):
    monkeypatch.setattr(script, "folders", lambda source: [Path("/a:b/casebook/helpers")])
    with pytest.raises(EnvironmentFailure, match=r"^/a:b/casebook/helpers: a colon separates"):
        run("print(1)", Header(">=3.11", ()), print)


def test_the_guard_outlives_what_the_script_sends_to_its_own_group(tmp_path):
    """A script that signals its own process group, as some test runners do, ends all the same."""
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


def test_site_and_empty_stand_for_folders():
    body = """import os, sysconfig
assert os.environ["A"] == sysconfig.get_paths()["purelib"] + "/nvidia"
assert os.listdir(os.environ["B"]) == []
print(os.environ["A"], os.environ["B"])"""
    outcome = play(body, "env = {A = '{site}/nvidia', B = '{empty}'}")
    assert outcome.output == "nvidia <run>/empty\n"


def test_what_the_machine_has_changes_nothing(tmp_path, monkeypatch):
    body = """import os, shutil, sys
print({key: value for key, value in os.environ.items() if "CASEBOOK" not in key})
print("grün €", shutil.which("nvcc"), [path for path in sys.path if "toolkit" in path])"""
    before = play(body).output
    toolkit = tmp_path / "toolkit"
    toolkit.mkdir()
    (toolkit / "nvcc").write_text("#!/bin/sh\necho fake\n")
    (toolkit / "nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{toolkit}:{os.environ['PATH']}")
    for name in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "CONDA_PREFIX"):
        monkeypatch.setenv(name, str(toolkit))
    for name, value in {"LC_ALL": "C", "LANG": "de_DE", "PYTHONIOENCODING": "latin-1"}.items():
        monkeypatch.setenv(name, value)
    assert shutil.which("nvcc") == str(toolkit / "nvcc")
    assert play(body).output == before
    assert before.endswith("\ngrün € None []\n")


def test_a_cell_finds_the_modules_of_its_own_chapter_and_no_other_s():
    body = "import sys, arrows\nprint(*(p for p in sys.path if 'helpers' in p), sep='\\n')"
    shown = play(body).output.splitlines()
    assert [Path(line).name for line in shown] == ["helpers", "chapter_08"]
    with pytest.raises(UnexpectedOutcome, match="No module named 'arrows'"):
        play("name = 'arrows'\n__import__(name)")


def test_the_driver_s_folder_alone_passes(tmp_path, monkeypatch):
    """On Colab libcuda.so.1 is found through LD_LIBRARY_PATH only."""
    for name in ("driver", "toolkit"):
        (tmp_path / name).mkdir()
    (tmp_path / "driver" / "libcuda.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}/toolkit:{tmp_path}/driver")
    body = f"""import os
assert os.environ["LD_LIBRARY_PATH"] == os.environ["SITE"] + ":{tmp_path}/driver" """
    play(body, "env = {LD_LIBRARY_PATH = '{site}', SITE = '{site}'}")


SAME = """import collections, json, os, sys, warnings
print(os.getcwd(), __file__, sys.argv, object(), collections.__file__, hash("text"))
warnings.warn("a warning")
try:
    json.loads("{")
except ValueError as error:
    raise RuntimeError(f"{id(error):#x}\\n{sys.executable}") from error
"""


def shown(**python):
    """What a script prints that shows paths, an exception and a recursion."""
    recursion = play("def f(): f()\nf()", "raises = 'RecursionError'", **python)
    return play(SAME, "raises = 'RuntimeError'", **python).output + recursion.output


def test_the_same_output_on_every_python():
    outputs = {}
    for version in ("3.11", "3.12", "3.13"):
        find = [uv.executable(), "python", "find", "--offline", version]
        if subprocess.run(find, capture_output=True).returncode == 0:
            python = f"=={version}.*"
            told = play("import sys; print('%d.%d' % sys.version_info[:2])", python=python).output
            assert told == f"{version}\n"
            outputs[version] = shown(python=python)
    if len(outputs) < 2:
        pytest.skip(f"needs two of Python 3.11, 3.12, 3.13; uv finds {', '.join(outputs)}")
    assert len(set(outputs.values())) == 1, outputs
    assert str(Path.home()) not in str(outputs)


def test_a_python_behind_a_link_changes_no_output(tmp_path, monkeypatch):
    """As /usr/local/bin/python3.12 may be one: pyvenv.cfg names the folder of the link."""
    before = shown()
    link, root = tmp_path / "python3", tmp_path / "environment"
    link.symlink_to(Path(sys.executable).resolve())
    command = [uv.executable(), "venv", "-q", "--no-project", "--python", link, root]
    subprocess.run(command, check=True)
    monkeypatch.setattr(create, "make", lambda header, report: Environment.at(root))
    assert shown() == before

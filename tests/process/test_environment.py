"""Environments made by uv itself, and one clear sentence for each way in which that fails."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT, SIX, cell, play

from casebook.cells.header import read
from casebook.environments import create, gpu
from casebook.environments.store import make_once
from casebook.errors import EnvironmentFailure

pytestmark = pytest.mark.usefixtures("forgetful")


def header(*dependencies, python=">=3.11", options=()):
    return read(cell("", *options, dependencies=dependencies, python=python))


def failure(*dependencies, **others):
    with pytest.raises(EnvironmentFailure) as caught:
        create.make(header(*dependencies, **others))
    return str(caught.value)


def failure_online(*dependencies):
    sentence = failure(*dependencies)
    if "no network" in sentence:
        pytest.skip(sentence)
    return sentence


def test_an_environment_holds_what_the_header_pins(six):
    made = create.make(header(six))
    assert made.installed() == {"six": "1.17.0"}
    assert (made.site / "six.py").exists()
    assert play("import six; print(six.__version__)", dependencies=[six]).output == "1.17.0\n"


def test_a_new_environment_reports_its_progress_and_an_old_one_none(empty_caches):
    reports = []
    create.make(header(), reports.append)
    assert any("environment" in line for line in reports)
    create._made.clear()
    reports.clear()
    create.make(header(), reports.append)
    assert reports == []


@pytest.mark.parametrize(("answers", "asked"), [([0], [True]), ([1, 0], [True, False])])
def test_uv_is_asked_offline_first(empty_caches, monkeypatch, answers, asked):
    """The network is used only where uv's cache does not do, and that is nothing to show."""
    calls, ask = [], create.ask

    def answer(report, *arguments, **others):
        if arguments[0] != "pip":
            return ask(report, *arguments, **others)
        calls.append("--offline" in arguments)
        report("error: No solution found when resolving dependencies")
        return answers.pop(0), "not there"

    monkeypatch.setattr(create, "ask", answer)
    reports = []
    assert create.sync(header(SIX), reports.append).python.exists()
    assert calls == asked
    assert sum("No solution" in line for line in reports) == len(asked) - 1


def test_nothing_has_its_name_before_it_is_whole(tmp_path):
    target, seen = tmp_path / "new" / "thing", []

    def fill(half):
        half.mkdir()
        (half / "file").touch()
        seen.append(target.exists())

    for _ in range(2):
        assert (make_once(target, fill, print) / "file").exists()
    assert seen == [False]
    assert sorted(p.name for p in target.parent.iterdir()) == ["thing", "thing.lock"]


KILLED = """
import os, signal, sys; sys.path.insert(0, {root!r})
from pathlib import Path
from casebook.environments.store import make_once
def fill(half):
    (half / "left").mkdir(parents=True)
    os.kill(os.getpid(), signal.SIGKILL)
make_once(Path({target!r}), fill, print)
"""


def test_what_a_killed_process_leaves_is_made_anew(tmp_path):
    target = tmp_path / "thing"
    ended = subprocess.run(
        [sys.executable, "-c", KILLED.format(root=str(ROOT), target=str(target))]
    )
    assert (ended.returncode, target.exists(), (tmp_path / "thing.half" / "left").exists()) == (
        -signal.SIGKILL,
        False,
        True,
    )
    assert list(make_once(target, Path.mkdir, print).iterdir()) == []


@pytest.mark.parametrize(
    ("value", "meaning"), [(None, False), ("", False), ("0", False), ("1", True), ("yes", True)]
)
def test_when_a_gpu_is_required(monkeypatch, value, meaning):
    monkeypatch.delenv("CASEBOOK_REQUIRE_GPU", raising=False)
    if value is not None:
        monkeypatch.setenv("CASEBOOK_REQUIRE_GPU", value)
    assert gpu.required() is meaning


def test_an_environment_that_lost_its_folder_is_made_again(empty_caches):
    first = create.make(header())
    shutil.rmtree(first.root)
    assert create.make(header()).python.exists()


def test_a_closure_that_is_not_complete_is_refused():
    sentence = failure_online("python-dateutil==2.9.0.post0")
    assert sentence.startswith("dependencies is not the complete closure: add six==1.")
    assert "python -m casebook pin" in sentence


def test_a_version_that_does_not_exist_is_named():
    sentence = failure_online("six==99.0")
    assert sentence.startswith(
        "the dependencies cannot be installed together: Because there is no version of six==99.0"
    )
    assert "\n" not in sentence


def test_versions_that_do_not_fit_are_named():
    sentence = failure_online("python-dateutil==2.9.0.post0", "six==1.4.0")
    assert sentence.startswith(
        "the dependencies cannot be installed together: Because python-dateutil==2.9.0.post0 depends on six>=1.5"
    )
    assert "\n" not in sentence


def test_without_a_network_the_package_is_named(empty_caches, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    assert failure(SIX) == "no network, or no answer: six==1.17.0 could not be downloaded"


def test_a_server_that_does_not_answer_is_no_network(empty_caches, monkeypatch):
    monkeypatch.setenv("UV_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    assert failure(SIX, "idna==3.10") in (
        "no network, or no answer: six==1.17.0 could not be downloaded",
        "no network, or no answer: idna==3.10 could not be downloaded",
    )


def test_no_python_that_fits(monkeypatch):
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    assert (
        failure(python="==3.5.*") == "no Python ==3.5.* on this machine, and uv could not fetch one"
    )


def test_a_python_that_must_be_fetched_and_cannot(empty_caches, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "automatic")
    assert (
        failure(python="==3.8.1") == "no Python ==3.8.1 on this machine, and uv could not fetch one"
    )


def test_without_uv(empty_caches, monkeypatch):
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", "/nowhere")
    assert failure() == "uv is not installed: `pip install uv`, then run the cell again"


def test_uv_on_the_path_will_do(monkeypatch, tmp_path):
    found = create.uv()
    (tmp_path / "uv").symlink_to(found)
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert create.uv() == str(tmp_path / "uv")


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert failure() == f"cannot write to {tmp_path}/file/casebook: Not a directory"


MAKE = """
import sys; sys.path[:0] = {path!r}
from helpers import play
from casebook.errors import EnvironmentFailure
try:
    print(play({body!r}, dependencies={dependencies!r}).output)
except EnvironmentFailure as error:
    print("failure:", error)
"""


def python_that_plays(body, *dependencies):
    return [
        sys.executable,
        "-c",
        MAKE.format(path=[str(ROOT), str(ROOT / "tests")], body=body, dependencies=dependencies),
    ]


@pytest.mark.parametrize("room", ["4k", "64k", "300k"])
def test_no_disk_space(room, tmp_path):
    """A cache folder on a disk that is too small: at first for casebook's own file, then for uv's, then for the packages."""
    script = f'mount -t tmpfs -o size={room} none {tmp_path} && exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if (
        not shutil.which("unshare")
        or subprocess.run([*command, "true"], capture_output=True).returncode
    ):
        pytest.skip("needs a user namespace that may mount")
    variables = {k: v for k, v in os.environ.items() if k != "UV_CACHE_DIR"} | {
        "XDG_CACHE_HOME": str(tmp_path)
    }
    ended = subprocess.run(
        [*command, *python_that_plays("print('x' * 1_000_000)", SIX)],
        env=variables,
        capture_output=True,
        text=True,
    )
    if "no network" in ended.stdout:
        pytest.skip(ended.stdout)
    assert ended.stderr == ""
    assert ended.stdout.startswith("failure: cannot ")
    assert ended.stdout.endswith(": No space left on device\n")
    assert str(tmp_path) in ended.stdout


def test_several_processes_make_and_use_one_environment_at_once(empty_caches, six):
    """From an empty cache."""
    command = python_that_plays("import six; print(six.__version__)", six)
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(3)
    ]
    outputs = [process.communicate()[0] for process in processes]
    if any("no network" in output for output in outputs):
        pytest.skip(outputs[0])
    assert outputs == ["1.17.0\n\n"] * 3
    assert len(list((empty_caches / "casebook" / "environments").glob("*/pyvenv.cfg"))) == 1


def test_the_parents_own_environment_does_not_leak_in(empty_caches, monkeypatch, tmp_path):
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX"):
        monkeypatch.setenv(name, str(tmp_path / "other"))
    made = create.make(header())
    assert made.installed() == {}
    assert str(tmp_path / "other") not in str(made.root)


def test_ctrl_c_is_no_answer_of_uv(tmp_path, monkeypatch):
    """It reaches uv, too, which must not be asked once more with the network."""
    interrupted = tmp_path / "uv"
    interrupted.write_text(f"""#!{sys.executable}
import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)        # in the background it is ignored
os.kill(os.getpid(), signal.SIGINT)
""")
    interrupted.chmod(0o755)
    monkeypatch.setattr(create, "uv", lambda: str(interrupted))
    with pytest.raises(KeyboardInterrupt):
        create.ask(print)

"""Environments created by uv itself, and one clear sentence for each way in which that fails."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
from helpers import ROOT, SIX, cell, gone, play, process_ids, wait_until

from casebook.cells.header import read
from casebook.environments import create, gpu, uv
from casebook.environments.store import create_atomically
from casebook.errors import DownloadFailure, EnvironmentFailure, MissingPython

pytestmark = pytest.mark.usefixtures("forgetful")


def header(*dependencies, python=">=3.11", options=()):
    return read(cell("", *options, dependencies=dependencies, python=python))


def failure(*dependencies, kind=EnvironmentFailure, **others):
    with pytest.raises(EnvironmentFailure) as caught:
        create.make(header(*dependencies, **others))
    if caught.type is DownloadFailure and kind is not DownloadFailure:
        pytest.skip(str(caught.value))
    assert caught.type is kind
    return str(caught.value)


def test_an_environment_holds_what_the_header_pins(six):
    made = create.make(header(six))
    assert made.installed() == {"six": "1.17.0"}
    assert play("import six; print(six.__version__)", dependencies=[six]).output == "1.17.0\n"


def test_a_new_environment_reports_its_progress_and_an_old_one_none(empty_caches):
    reports = []
    create.make(header(), reports.append)
    assert any("environment" in line for line in reports)
    create._made.clear()
    reports.clear()
    create.make(header(), reports.append)
    assert reports == []


def test_uv_is_asked_offline_first(six, empty_caches, monkeypatch):
    """The network is used only where uv's cache does not do, and that is nothing to show."""
    offline, reports, run = [], [], uv.run

    def spy(report, *arguments, **others):
        if arguments[0] == "pip":
            offline.append("--offline" in arguments)
        return run(report, *arguments, **others)

    monkeypatch.setattr(uv, "run", spy)
    for python in (">=3.11", ">=3.11,<4"):
        create.make(header(six, python=python), reports.append)
    assert offline == [True, False, True]
    assert not any("No solution" in line for line in reports)


def test_nothing_has_its_name_before_it_is_complete(tmp_path):
    target, seen = tmp_path / "new" / "thing", []

    def fill(partial):
        partial.mkdir()
        (partial / "file").touch()
        seen.append(target.exists())

    for _ in range(2):
        assert (create_atomically(target, fill, print) / "file").exists()
    assert seen == [False]
    assert sorted(p.name for p in target.parent.iterdir()) == ["thing", "thing.lock"]


# A uv that creates a folder, then waits; it tells its process id and that of its child.
WAITING = """#!/bin/sh
for word; do case $word in *.partial) mkdir "$word";; esac; done
sleep 600 &
echo $$ $! >"$TOLD"
wait
"""

MAKE = """
import sys; sys.path[:0] = {path!r}; sys.modules["uv"] = None
from casebook.cells.header import Header
from casebook.environments import create
create.make(Header(">=3.11", ()))
"""


@pytest.fixture
def waiting(empty_caches, tmp_path):
    """A process that makes an environment with a uv that never ends, and the processes of uv."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/uv").write_text(WAITING)
    (tmp_path / "bin/uv").chmod(0o755)
    variables = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "TOLD": str(tmp_path / "told")}
    code = MAKE.format(path=[str(ROOT)])
    with subprocess.Popen([sys.executable, "-c", code], env=os.environ | variables) as process:
        yield process, process_ids(tmp_path / "told")
        process.kill()


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_no_uv_outlives_the_process_that_started_it(waiting, empty_caches, by):
    process, started = waiting
    process.send_signal(by)
    assert process.wait() == -by
    assert wait_until(lambda: all(map(gone, started)))
    reports = []
    create.make(header(), reports.append)
    left = "which an interrupted run left" in reports[0]
    assert left == (by == signal.SIGKILL)
    assert not list(empty_caches.rglob("*.partial"))


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda e: (e.site / "six.py").unlink(), "six.py is missing or changed"),
        (lambda e: (e.site / "six.py").write_text("# cut off"), "six.py is missing or changed"),
        (lambda e: (info(e) / "RECORD").write_text("six.py,sha"), "RECORD is missing or changed"),
        (lambda e: (info(e) / "METADATA").write_bytes(b"\xff" * 1658), "metadata of a package"),
        (lambda e: shutil.rmtree(info(e)), "six==1.17.0 is missing"),
        (lambda e: e.python.unlink(), "does not start as its Python"),
        (lambda e: link(e.python, "/bin/true"), "true does not start as its Python"),
        (lambda e: (e.root / "pyvenv.cfg").unlink(), "pyvenv.cfg is missing"),
    ],
)
def test_damage_is_named(six, tmp_path, damage, named):
    made = create.make(header(six))
    shutil.copytree(made.root, tmp_path / "copy", symlinks=True)
    copy = create.Environment.at(tmp_path / "copy")
    assert copy.damage(header(six)) == ""
    damage(copy)
    assert named in copy.damage(header(six))


def info(environment):
    return environment.site / "six-1.17.0.dist-info"


def link(path, target):
    path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize("file", ["six.py", "six-1.17.0.dist-info/METADATA"])
def test_a_damaged_environment_is_created_anew_though_uv_has_the_same_file(
    six, empty_caches, monkeypatch, file
):
    """uv links its files into environments: what is written into one is in uv's cache, too."""
    monkeypatch.setenv("UV_LINK_MODE", "hardlink")
    made = create.make(header(six))
    path = made.site / file
    path.write_bytes(b"\xff" * path.stat().st_size + b"\n" * (file == "six.py"))
    for notes in (1, 0):
        create._made.clear()
        made = create.make(header(six))
        assert len(made.notes) == notes
        assert made.installed() == {"six": "1.17.0"} and b"\xff" not in path.read_bytes()


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


@pytest.mark.parametrize(
    ("dependencies", "sentence"),
    [
        (["python-dateutil==2.9.0.post0"], "dependencies is incomplete: add six==1."),
        (
            ["six==99.0"],
            "the dependencies cannot be installed together: "
            "Because there is no version of six==99.0",
        ),
        (
            ["python-dateutil==2.9.0.post0", "six==1.4.0"],
            "the dependencies cannot be installed together: "
            "Because python-dateutil==2.9.0.post0 depends on six>=1.5",
        ),
    ],
)
def test_a_set_that_cannot_be_is_explained_in_one_line(dependencies, sentence):
    found = failure(*dependencies)
    assert found.startswith(sentence) and "\n" not in found


@pytest.mark.parametrize(
    "variables",
    [
        {"UV_OFFLINE": "1"},
        {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"},
    ],
)
def test_without_a_network_the_package_is_named(empty_caches, monkeypatch, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    sentence = failure(SIX, kind=DownloadFailure)
    assert sentence == "cannot download six==1.17.0: no network, or no answer"


@pytest.mark.parametrize(
    ("python", "variables"),
    [
        ("==3.5.*", {"UV_PYTHON_DOWNLOADS": "never"}),
        ("==3.8.1", {"UV_PYTHON_DOWNLOADS": "automatic", "UV_OFFLINE": "1"}),
    ],
)
def test_a_python_that_is_missing_is_named(empty_caches, monkeypatch, python, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    sentence = failure(python=python, kind=MissingPython)
    assert sentence.startswith(f"no Python {python} on this machine, and uv could not download one")


def test_without_uv(empty_caches, monkeypatch):
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", "/nowhere")
    assert failure() == "uv is not installed: `pip install uv`, then run the cell again"


def test_uv_on_the_path_will_do(monkeypatch, tmp_path):
    found = uv.executable()
    (tmp_path / "uv").symlink_to(found)
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert uv.executable() == str(tmp_path / "uv")


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert failure() == f"cannot write to {tmp_path}/file/casebook: Not a directory"


PLAY = """
import sys; sys.path[:0] = {path!r}
from helpers import play
from casebook.errors import EnvironmentFailure
try:
    print(play({body!r}, dependencies=[{dependency!r}]).output)
except EnvironmentFailure as error:
    print("failure:", error)
"""


def python_that_plays(body, dependency):
    path = [str(ROOT), str(ROOT / "tests")]
    return [sys.executable, "-c", PLAY.format(path=path, body=body, dependency=dependency)]


@pytest.mark.parametrize("room", ["4k", "64k", "300k"])
def test_no_disk_space(room, tmp_path):
    """A disk too small: at first for casebook's own file, then for uv's, then for the packages."""
    script = f'mount -t tmpfs -o size={room} none {tmp_path} && exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*command, "true"]).returncode:
        pytest.skip("needs unshare, and a user namespace that may mount")
    variables = {k: v for k, v in os.environ.items() if k != "UV_CACHE_DIR"}
    ended = subprocess.run(
        [*command, *python_that_plays("print('x' * 1_000_000)", SIX)],
        env=variables | {"XDG_CACHE_HOME": str(tmp_path)},
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
    for name in uv.FOREIGN:
        monkeypatch.setenv(name, str(tmp_path / "other"))
    made = create.make(header())
    assert made.installed() == {}
    assert str(tmp_path / "other") not in str(made.root)

"""Environments created by uv itself, and one clear sentence for each way in which that fails."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
from helpers import ROOT, SIX, gone, process_ids, wait_until

from casebook.cells.header import Header
from casebook.environments import create, uv
from casebook.environments.store import cache
from casebook.errors import DownloadFailure, EnvironmentFailure, MissingPython

pytestmark = pytest.mark.usefixtures("forgetful")
EMPTY, WITH_SIX = Header(">=3.11", ()), Header(">=3.11", (SIX,))


def failure(header, kind=EnvironmentFailure):
    with pytest.raises(EnvironmentFailure) as caught:
        create.make(header)
    if caught.type is DownloadFailure and kind is not DownloadFailure:
        pytest.skip(str(caught.value))
    assert caught.type is kind
    return str(caught.value)


def test_uv_is_asked_offline_first_and_only_its_progress_is_shown(
    network, empty_caches, monkeypatch
):
    """That it needs the network for what its cache lacks is nothing to show."""
    offline, reports, run = [], [], uv.run

    def spy(report, *arguments, **others):
        if arguments[0] == "pip":
            offline.append("--offline" in arguments)
        return run(report, *arguments, **others)

    monkeypatch.setattr(uv, "run", spy)
    for python in (">=3.11", ">=3.11,<4"):
        made = create.make(Header(python, (SIX,)), reports.append)
        assert made.installed() == {"six": "1.17.0"}
    assert offline == [True, False, True]
    assert any("environment" in line for line in reports)
    assert not any("No solution" in line for line in reports)
    create._made.clear()
    create.make(WITH_SIX, pytest.fail)


# A uv that creates a folder, then waits; it tells its process id and that of its child.
WAITING = """#!/bin/sh
for word; do case $word in *.partial) mkdir "$word";; esac; done
sleep 600 &
echo $$ $! >"$TOLD"
wait
"""

MAKE = f"""
import sys; sys.path[:0] = {[str(ROOT), str(ROOT / "tests")]!r}
from casebook.errors import EnvironmentFailure
from helpers import play
try: play("print('x' * 1_000_000)", dependencies=[{SIX!r}])
except EnvironmentFailure as error: print("failure:", error)
"""


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_no_uv_outlives_the_process_that_started_it(empty_caches, tmp_path, by):
    (tmp_path / "uv").write_text(WAITING)
    (tmp_path / "uv").chmod(0o755)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TOLD": str(tmp_path / "told")}
    command = [sys.executable, "-c", f"import sys; sys.modules['uv'] = None\n{MAKE}"]
    with subprocess.Popen(command, env=os.environ | variables) as process:
        started = process_ids(tmp_path / "told")
        process.send_signal(by)
        assert process.wait() == -by
    assert wait_until(lambda: all(map(gone, started)))
    reports = []
    create.create(WITH_SIX, reports.append, None, [])
    assert ("which an interrupted run left" in reports[0]) == (by == signal.SIGKILL)
    assert not list(empty_caches.rglob("*.partial"))


@pytest.mark.parametrize(
    ("name", "content", "damage"),
    [
        ("six.py", None, "six.py is missing or changed"),
        ("six.py", b"# cut off", "six.py is missing or changed"),
        ("RECORD", b"six.py,sha", "RECORD is missing or changed"),
        ("METADATA", b"\xff" * 1658, "the metadata of a package cannot be read"),
        ("python", None, "python does not start as its Python"),
        ("python", b"#!/bin/true", "python does not start as its Python"),
        ("pyvenv.cfg", None, "pyvenv.cfg is missing or cut off"),
        ("evil.pth", b"import evil", "evil.pth belongs to no package"),
    ],
)
def test_damage_is_named(six, tmp_path, name, content, damage):
    shutil.copytree(create.make(WITH_SIX).root, tmp_path / "copy", symlinks=True)
    copy = create.Environment.at(tmp_path / "copy")
    assert copy.damage(WITH_SIX) == ""
    assert copy.damage(Header(">=3.11", ("six==1.16.0",))) == "six==1.16.0 is missing"
    file = next(copy.root.rglob(name), copy.site / name)
    file.unlink(missing_ok=True)
    if content:
        file.write_bytes(content)
        file.chmod(0o755)
    assert copy.damage(WITH_SIX).endswith(damage)


@pytest.mark.parametrize("file", ["six.py", "six-1.17.0.dist-info/METADATA"])
def test_a_damaged_environment_is_created_anew(network, empty_caches, monkeypatch, file):
    """uv links its files into environments: what is written into one is in uv's cache, too."""
    monkeypatch.setenv("UV_LINK_MODE", "hardlink")
    path = create.make(WITH_SIX).site / file
    path.write_bytes(b"\xff" * path.stat().st_size + b"\n" * (file == "six.py"))
    for notes in (1, 0):
        create._made.clear()
        made = create.make(WITH_SIX)
        assert len(made.notes) == notes
        assert made.installed() == {"six": "1.17.0"} and b"\xff" not in path.read_bytes()
    shutil.rmtree(made.root)
    assert create.make(WITH_SIX).python.exists()


TOGETHER = "the dependencies cannot be installed together: Because "


@pytest.mark.parametrize(
    ("pins", "sentence"),
    [
        ("python-dateutil==2.9.0.post0", "dependencies is incomplete: add six==1."),
        ("six==99.0", TOGETHER + "there is no version of six==99.0"),
        ("python-dateutil==2.9.0 six==1.4.0", TOGETHER + "python-dateutil==2.9.0 depends on six"),
    ],
)
def test_a_set_that_cannot_be_is_explained_in_one_line(pins, sentence):
    found = failure(Header(">=3.11", tuple(pins.split())))
    assert found.startswith(sentence) and "\n" not in found
    assert ("by hand, remove /" in found) == ("is incomplete" in found)


@pytest.mark.parametrize("name", ["UV_OFFLINE", "UV_DEFAULT_INDEX"])
def test_without_a_network_the_package_is_named(empty_caches, monkeypatch, name):
    monkeypatch.setenv(name, {"UV_OFFLINE": "1"}.get(name, "http://127.0.0.1:9/simple"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    sentence = failure(WITH_SIX, DownloadFailure)
    assert sentence == "cannot download six==1.17.0: no network, or no answer"


@pytest.mark.parametrize("downloads", ["never", "automatic"])
def test_a_python_that_is_missing_is_named(empty_caches, monkeypatch, downloads):
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", downloads)
    monkeypatch.setenv("UV_OFFLINE", "1")
    sentence = failure(Header("==3.8.1", ()), MissingPython)
    assert sentence.startswith("no Python ==3.8.1 on this machine, and uv could not download one")
    monkeypatch.setattr(uv, "run", lambda *_, extra: (2, str(extra)))
    with pytest.raises(EnvironmentFailure, match="'UV_PYTHON_DOWNLOADS': 'never'"):
        create.make(Header("==3.8.1", ()))


def test_uv_is_found_beside_this_python_or_on_the_path(empty_caches, monkeypatch, tmp_path):
    (tmp_path / "uv").symlink_to(uv.executable())
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert uv.executable() == str(tmp_path / "uv")
    (tmp_path / "uv").unlink()
    assert failure(EMPTY) == "uv is not installed: `pip install uv`, then run the cell again"


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert failure(EMPTY) == f"cannot write to {tmp_path}/file/casebook: Not a directory"
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc")
    assert failure(EMPTY) == "cannot write to /proc/casebook: No such file or directory"


def test_the_cache_lies_in_an_absolute_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache() == tmp_path / ".cache/casebook"
    monkeypatch.setenv("HOME", "")
    with pytest.raises(EnvironmentFailure, match="set HOME or XDG_CACHE_HOME"):
        cache()


def test_a_folder_and_a_file_in_the_place_of_each_other(empty_caches):
    root = empty_caches / "casebook/environments" / EMPTY.environment_key
    lock = root.with_name(f"{root.name}.lock")
    lock.mkdir(parents=True)
    assert failure(EMPTY) == f"{lock} is a folder and should be a lock file: remove it"
    lock.rmdir()
    root.touch()
    (note,) = create.make(EMPTY).notes
    assert note == f"the environment in {root} was damaged (a file, no folder) and is created anew"


@pytest.mark.parametrize("room", ["4k", "64k", "300k"])
def test_no_disk_space(room, tmp_path):
    """A disk that is too small for casebook's own files, then for uv's, then for the output."""
    script = f'mount -t tmpfs -o size={room} none {tmp_path} && exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*command, "true"]).returncode:
        pytest.skip("needs unshare, and a user namespace that may mount")
    variables = {k: v for k, v in os.environ.items() if k != "UV_CACHE_DIR"}
    ended = subprocess.run(
        [*command, sys.executable, "-c", MAKE],
        env=variables | {"XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert ended.stderr == ""
    assert ended.stdout.startswith("failure: cannot ") and str(tmp_path) in ended.stdout
    assert ended.stdout.endswith(": No space left on device\n")


def test_the_parents_own_environment_does_not_leak_in(empty_caches, monkeypatch):
    for name in uv.FOREIGN:
        monkeypatch.setenv(name, "/nowhere")
    assert create.make(EMPTY).installed() == {}

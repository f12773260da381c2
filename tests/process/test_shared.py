"""Environments that a class shares: filled once by an administrator, only read by users."""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import SimpleNamespace

import packaging
import pytest
from helpers import ROOT, SIX, cell

from casebook.authoring import prepare
from casebook.cells.header import read
from casebook.environments import create, uv
from casebook.environments.store import first_private_parent, make_world_readable
from casebook.errors import EnvironmentFailure

STUDENT = 12345
SOURCE = cell("import six; print(six.__version__)", dependencies=[SIX])
HEADER = read(SOURCE)
PLAY = f"""
import sys; sys.path.insert(0, "../library")
from casebook.cells.header import read
from casebook.environments import create
from casebook.execution.script import run
header = read({SOURCE!r})
print(create.make(header).root, run({SOURCE!r}, header, lambda text: None).output)
"""


@pytest.fixture(scope="module")
def room():
    """A folder that all users can reach, with uv and this package."""
    if os.geteuid():
        pytest.skip("needs root, to be two users")
    if first_private_parent(Path("/tmp")):
        pytest.skip("needs a /tmp that all users can enter")
    room = Path(tempfile.mkdtemp(prefix="casebook-room-", dir="/tmp"))
    for package in (ROOT / "casebook", Path(packaging.__file__).parent):
        shutil.copytree(package, room / "library" / package.name)
    shutil.copy(uv.executable(), room)
    make_world_readable(room)
    yield room
    shutil.rmtree(room)


@pytest.fixture(scope="module")
def folder(room, six):
    """The folder of a class, filled by an administrator whose umask closes all files to others."""
    folder, umask = room / "shared", os.umask(0o077)
    books = [SimpleNamespace(headers=lambda gpu: [HEADER])]
    try:
        install_python(folder / "python")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(prepare.chapters, "load", lambda names: books)
            assert prepare.prepare([], into=folder) == 0
    finally:
        os.umask(umask)
    return folder


def install_python(folder):
    """Lay out this Python as `uv python install --install-dir` does, closed to others."""
    version = f"python{sysconfig.get_python_version()}"
    root = folder / f"cpython-{platform.python_version()}-linux-{platform.machine()}-gnu"
    skip = shutil.ignore_patterns("test", "*-packages", "config-*", "idlelib")
    shutil.copytree(sysconfig.get_path("stdlib"), root / "lib" / version, ignore=skip)
    libraries = sysconfig.get_config_var("LIBDIR")
    for library in Path(libraries).glob("libpython3*.so*"):
        shutil.copy(library, root / "lib")
    (root / "bin").mkdir()
    copy = Path(shutil.copy(os.path.realpath(sys.executable), root / "bin" / version))
    where, beside = libraries.encode() + b"\0", b"$ORIGIN/../lib\0"
    if len(where) >= len(beside):  # the place of libpython, which others may not enter
        copy.write_bytes(copy.read_bytes().replace(where, beside.ljust(len(where), b"\0")))


@pytest.fixture
def student(room, folder):
    """student(uid): a user runs a cell, in a home of the student's; (environment, its output)."""
    home = Path(tempfile.mkdtemp(dir=room))
    os.chown(home, STUDENT, STUDENT)
    python = create.sync(HEADER, into=folder).python.resolve()
    variables = {
        "HOME": str(home),
        "PATH": f"{room}:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",  # of this process, not of the cell's
        "CASEBOOK_ENVIRONMENTS": f"/nowhere:{folder}",
    }

    def play(uid):
        ended = subprocess.run(
            [python, "-c", PLAY],
            cwd=home,
            env=variables,
            user=uid,
            group=uid,
            extra_groups=[],
            text=True,
            capture_output=True,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.split()

    play.home = home
    return play


def state(folder):
    """All that may change in a folder."""
    stats = {path: path.lstat() for path in [folder, *folder.rglob("*")]}
    return {path: (s.st_mode, s.st_size, s.st_mtime_ns, s.st_uid) for path, s in stats.items()}


def test_another_user_runs_a_cell_from_it_and_changes_nothing(student, folder):
    before = state(folder)
    root = folder / "environments" / HEADER.environment_key
    for uid in (STUDENT, 0):  # root may write, and does not do it either: no bytecode
        assert student(uid) == [str(root), "1.17.0"]
    assert state(folder) == before
    assert [p.name for p in (student.home / ".cache/casebook").iterdir()] == ["runs"]


def test_its_python_is_that_of_the_folder(folder):
    made = create.sync(HEADER, into=folder)
    assert made.python.resolve().is_relative_to(folder / "python")


def test_whatever_the_umask_all_can_read_and_nobody_else_write(folder):
    for path in [folder, *folder.rglob("*")]:
        mode = path.stat().st_mode
        if path.suffix != ".lock":
            assert mode & 0o004 and (mode & 0o001 or not path.is_dir()), path
        assert not mode & 0o002, path


def test_nobody_compiles_its_modules_again(folder):
    assert list(folder.glob("environments/*/lib/python3.*/site-packages/__pycache__/six.*.pyc"))


def test_prepare_says_where_an_environment_lies(folder, forgetful, monkeypatch):
    monkeypatch.setenv("CASEBOOK_ENVIRONMENTS", str(folder))
    assert prepare.create_one(HEADER, None).endswith(f" s, in {folder}")


@pytest.fixture
def copied(folder, tmp_path, forgetful, monkeypatch):
    """The environment in a copy of the shared folder; the user's own is empty, uv's cache not."""
    cache = subprocess.check_output([uv.executable(), "cache", "dir"], text=True).strip()
    monkeypatch.setenv("UV_CACHE_DIR", cache)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("CASEBOOK_ENVIRONMENTS", str(tmp_path / "copy"))
    shutil.copytree(folder / "environments", tmp_path / "copy/environments", symlinks=True)
    return create.Environment.at(tmp_path / "copy/environments" / HEADER.environment_key)


def test_a_damaged_copy_is_left_alone_and_ones_own_is_made(copied, tmp_path):
    assert create.make(HEADER).root == copied.root
    create._made.clear()
    (copied.site / "six.py").unlink()
    before, reports = state(tmp_path / "copy"), []
    made = create.make(HEADER, reports.append)
    assert made.root == tmp_path / "own/casebook/environments" / copied.root.name
    assert made.installed() == {"six": "1.17.0"}
    sentence = f"the environment in {tmp_path}/copy is damaged: six.py is missing or changed"
    assert reports[0] == made.notes[0] == sentence
    assert state(tmp_path / "copy") == before


# --- what others could not read


def test_a_shared_folder_that_cannot_be_read_is_named(monkeypatch):
    monkeypatch.setenv("CASEBOOK_ENVIRONMENTS", "/nowhere")
    sentence = "/nowhere, which CASEBOOK_ENVIRONMENTS names, cannot be read"
    assert create.find_shared(HEADER) == (None, [sentence])


def test_a_folder_that_others_cannot_enter_is_refused(tmp_path):
    tmp_path.chmod(0o700)
    with pytest.raises(EnvironmentFailure, match=r"choose another folder, or `chmod a\+rx /"):
        prepare.prepare([], into=tmp_path / "shared")


def test_a_python_that_others_cannot_run_is_passed_over(tmp_path):
    private, public = tmp_path / "home/python", Path("/bin/sh")
    private.parent.mkdir(mode=0o700)
    private.touch(0o755)
    assert create.first_public([private, public], tmp_path) == public
    with pytest.raises(EnvironmentFailure, match=f"uv python install --install-dir {tmp_path}/py"):
        create.first_public([private], tmp_path)

"""Environments that a class shares: filled once by an administrator, read by users with uids of their own, changed by nobody."""

import os
import platform
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import SimpleNamespace

import packaging
import pytest
from helpers import ROOT, SIX, cell

from casebook import __main__ as command
from casebook.authoring import prepare
from casebook.cells.header import read
from casebook.environments import build, create, uv
from casebook.environments.store import create_shared_folder, first_private_parent
from casebook.errors import EnvironmentFailure

STUDENT = 12345
SOURCE = cell(
    "import answer, six; print(answer.VALUE, six.__version__)",
    'build = "native"',
    dependencies=[SIX],
)

PROJECT = {  # a native/ that brings its own build tool, so that it builds in a moment
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "tool"\nbackend-path = ["."]\n',
    "answer.py": "VALUE = 42\n",
    "tool.py": """
import zipfile
def build_wheel(folder, settings=None, metadata=None):
    info = "answer-1.dist-info"
    with zipfile.ZipFile(f"{folder}/answer-1-py3-none-any.whl", "w") as wheel:
        wheel.write("answer.py")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: answer\\nVersion: 1\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", f"answer.py,,\\n{info}/METADATA,,\\n{info}/WHEEL,,\\n{info}/RECORD,,\\n")
    return "answer-1-py3-none-any.whl"
""",
}

PLAY = """
import sys; sys.path.insert(0, {library!r})
from casebook.environments import create
from casebook.environments.build import build
from casebook.cells.header import read
from casebook.execution.script import check, run
source = {source!r}
header = read(source)
outcome = run(source, header, lambda text: None)
check(header, outcome)
made = create.make(header)
print(made.root, build(header, made), outcome.output)
"""


@pytest.fixture(scope="module")
def room():
    """A folder that all users can reach, with a clone."""
    if os.geteuid():
        pytest.skip("needs root, to be two users")
    if first_private_parent(Path("/tmp")):
        pytest.skip("needs a /tmp that all users can enter")
    room = Path(tempfile.mkdtemp(prefix="casebook-room-", dir="/tmp"))
    room.chmod(0o755)
    for name in ("bin", "native"):
        (room / name).mkdir()
    shutil.copy(uv.executable(), room / "bin")
    for name, text in PROJECT.items():
        (room / "native" / name).write_text(text)
    yield room
    shutil.rmtree(room)


@pytest.fixture(scope="module")
def folder(room, six):
    """The folder of a class, filled by an administrator whose umask closes all files to others."""
    folder, umask, here = room / "shared", os.umask(0o077), Path.cwd()
    os.chdir(room)
    try:
        create_shared_folder(folder)
        install_python(folder / "python")
        made = create.make(read(SOURCE), into=folder)
        build.build(read(SOURCE), made, into=folder)
    finally:
        os.chdir(here)
        os.umask(umask)
    return folder


def install_python(folder):
    """Lay out this Python as `uv python install --install-dir` does, closed to others."""
    name = f"cpython-{platform.python_version()}-linux-{platform.machine()}-gnu"
    version = f"python{sysconfig.get_python_version()}"
    skip = shutil.ignore_patterns("test", "*-packages", "config-*", "idlelib")
    shutil.copytree(sysconfig.get_path("stdlib"), folder / name / "lib" / version, ignore=skip)
    for library in Path(sysconfig.get_config_var("LIBDIR")).glob("libpython3*.so*"):
        shutil.copy(library, folder / name / "lib")
    (folder / name / "bin").mkdir()
    shutil.copy(os.path.realpath(sys.executable), folder / name / "bin" / version)
    (folder / name).chmod(0o700)


@pytest.fixture
def student(room, folder):
    """student(): a user who may only read runs a cell, in a home and a clone of the user's own.

    It returns the folders of its environment and its build, and what it printed.
    """
    home = Path(tempfile.mkdtemp(prefix="home-", dir=room))
    for package in (ROOT / "casebook", Path(packaging.__file__).parent):
        shutil.copytree(
            package, home / "library" / package.name, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copytree(room / "native", home / "clone/native")
    os.chmod(home, 0o755)
    for path in home.rglob("*"):
        os.chown(path, STUDENT, STUDENT)
        path.chmod(0o755 if path.is_dir() else 0o644)
    os.chown(home, STUDENT, STUDENT)
    python = create.sync(read(SOURCE), into=folder).python.resolve()

    def play(*, uid=STUDENT):
        ended = subprocess.run(
            [python, "-c", PLAY.format(library=str(home / "library"), source=SOURCE)],
            cwd=home / "clone",
            user=uid,
            group=uid,
            extra_groups=[],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                "HOME": str(home),
                "PATH": f"{room}/bin:/usr/bin:/bin",
                "PYTHONDONTWRITEBYTECODE": "1",  # of this process, not of the cell's
                "CASEBOOK_ENVIRONMENTS": f"/nowhere:{folder}",
            },
        )
        assert ended.returncode == 0, ended.stdout
        environment, built, *printed = ended.stdout.split()
        return Path(environment), Path(built), printed

    play.home = home
    return play


def state(folder):
    """All that may change in a folder."""
    return {
        str(p): (p.lstat().st_mode, p.lstat().st_size, p.lstat().st_mtime_ns, p.lstat().st_uid)
        for p in [folder, *folder.rglob("*")]
    }


def test_another_user_runs_a_cell_from_it_and_changes_nothing(student, folder):
    before = state(folder)
    for uid in (STUDENT, 0):  # root may write, and does not do it either: no bytecode
        environment, built, printed = student(uid=uid)
        assert environment.is_relative_to(folder)
        assert built.is_relative_to(folder)
        assert printed == ["42", "1.17.0"]
    assert state(folder) == before
    assert [p.name for p in (student.home / ".cache/casebook").iterdir()] == ["runs"]


def test_its_python_is_that_of_the_folder(folder):
    made = create.sync(read(SOURCE), into=folder)
    assert made.python.resolve().is_relative_to(folder / "python")


def test_whatever_the_umask_all_can_read_and_nobody_else_write(folder):
    for path in [folder, *folder.rglob("*")]:
        mode = path.stat().st_mode
        if path.suffix != ".lock":
            assert mode & stat.S_IROTH and (mode & stat.S_IXOTH or not path.is_dir()), path
        assert not mode & stat.S_IWOTH, path


def test_nobody_compiles_its_modules_again(folder):
    assert list(folder.glob("environments/*/lib/python3.*/site-packages/__pycache__/six.*.pyc"))


def test_an_edit_of_native_is_built_in_the_users_own_folder(student, folder):
    before = state(folder)
    (student.home / "clone/native/answer.py").write_text("VALUE = 43\n")
    environment, built, printed = student()
    assert environment.is_relative_to(folder)
    assert built.is_relative_to(student.home / ".cache/casebook/builds")
    assert printed == ["43", "1.17.0"]
    assert state(folder) == before


@pytest.fixture
def copied(folder, tmp_path, forgetful, monkeypatch):
    """The environment in a copy of the shared folder; the user's own is empty, uv's cache not."""
    cache = subprocess.check_output([uv.executable(), "cache", "dir"], text=True).strip()
    shutil.copytree(folder / "environments", tmp_path / "copy/environments", symlinks=True)
    for name, value in {
        "CASEBOOK_ENVIRONMENTS": tmp_path / "copy",
        "XDG_CACHE_HOME": tmp_path / "own",
        "UV_CACHE_DIR": cache,
    }.items():
        monkeypatch.setenv(name, str(value))
    return create.Environment.at(tmp_path / "copy/environments" / read(SOURCE).environment_key)


def test_a_copy_of_the_folder_serves(copied):
    assert create.make(read(SOURCE)).root == copied.root


def test_a_damaged_one_is_left_alone_and_ones_own_is_made(copied, tmp_path):
    (copied.site / "six.py").unlink()
    before, reports = state(tmp_path / "copy"), []
    made = create.make(read(SOURCE), reports.append)
    assert made.root == tmp_path / "own/casebook/environments" / copied.root.name
    assert made.installed() == {"six": "1.17.0"}
    sentence = f"the environment in {tmp_path}/copy is damaged: six.py is missing or changed"
    assert reports[0] == made.notes[0] == sentence
    assert state(tmp_path / "copy") == before


def test_a_folder_that_cannot_be_read_is_named(copied, monkeypatch):
    monkeypatch.setenv("CASEBOOK_ENVIRONMENTS", "/nowhere")
    reports = []
    create.make(read(SOURCE), reports.append)
    assert reports[0] == "/nowhere, which CASEBOOK_ENVIRONMENTS names, cannot be read"


def test_prepare_says_where_an_environment_lies(room, folder, forgetful, monkeypatch, capsys):
    monkeypatch.chdir(room)
    monkeypatch.setattr(
        prepare.chapters,
        "load",
        lambda names: [SimpleNamespace(headers=lambda gpu: [read(SOURCE)])],
    )
    assert command.main(["prepare", "--into", str(folder)]) == 0
    assert capsys.readouterr().out.endswith(f" set CASEBOOK_ENVIRONMENTS={folder}\n")
    monkeypatch.setenv("CASEBOOK_ENVIRONMENTS", str(folder))
    assert command.main(["prepare"]) == 0
    assert capsys.readouterr().out.endswith(f" s, in {folder}\n")


# --- what others could not read


def test_a_folder_that_others_cannot_enter_is_refused(tmp_path, capsys):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert command.main(["prepare", "--into", str(closed / "shared")]) == 1
    assert "choose another folder, or `chmod a+rx /" in capsys.readouterr().err


def test_a_python_that_others_cannot_run_is_passed_over(tmp_path):
    private, public = tmp_path / "home/python", Path("/bin/sh")
    private.parent.mkdir(mode=0o700)
    private.touch(0o755)
    assert create.first_public([private, public], tmp_path) == public
    with pytest.raises(EnvironmentFailure, match=f"uv python install --install-dir {tmp_path}/py"):
        create.first_public([private], tmp_path)

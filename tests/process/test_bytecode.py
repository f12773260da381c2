"""What a package is compiled to is shared by the environments that uv linked it into, and by nothing else."""

import shutil

import pytest
from helpers import SIX, cell, play

from casebook.cells.header import read
from casebook.environments import create, store
from casebook.environments.bytecode import share
from casebook.errors import EnvironmentFailure

PACKAGING, PYTHON = "packaging==26.3", ">=3.11,<3.14"


def made(*dependencies):
    return create.make(read(cell("", dependencies=dependencies, python=PYTHON)))


def compiled(*dependencies):
    """Path of what Python runs for a module of the package, in an environment with these packages, and when it was compiled."""
    body = "import os, packaging.version\npath = os.path.realpath(packaging.version.__cached__)\nprint(path, os.stat(path).st_mtime_ns)"
    return play(body, dependencies=dependencies, python=PYTHON).output


def linked(path):
    """A file with two names, as one that uv linked has."""
    path.touch()
    path.with_suffix(".cached").hardlink_to(path)


@pytest.fixture
def empty(tmp_path, monkeypatch, forgetful):
    """No environment is there yet; uv's cache, from which it links, is on the same disk."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_LINK_MODE", "hardlink")
    try:
        made(SIX)
    except EnvironmentFailure as error:
        pytest.skip(f"needs {SIX}: {error}")


def test_two_environments_compile_a_package_once(empty):
    assert compiled(PACKAGING) == compiled(PACKAGING, SIX)


def test_a_copied_package_is_compiled_for_itself(empty, monkeypatch):
    first, kept = compiled(PACKAGING), store.cache() / "bytecode"
    before = sorted(kept.iterdir())
    monkeypatch.setenv("UV_LINK_MODE", "copy")
    assert compiled(PACKAGING, SIX).split()[0] != first.split()[0]
    assert sorted(kept.iterdir()) == before


def test_a_module_that_is_changed_in_one_environment_is_changed_there_alone(empty):
    made(PACKAGING)
    module = made(PACKAGING, SIX).site / "packaging/version.py"
    text = module.read_text()
    module.unlink()
    module.write_text(f"{text}\nchanged = True\n")
    body = "import packaging.version\nprint(hasattr(packaging.version, 'changed'))"
    for dependencies, changed in (
        ([PACKAGING], False),
        ([PACKAGING, SIX], True),
        ([PACKAGING], False),
    ):
        assert play(body, dependencies=dependencies, python=PYTHON).output == f"{changed}\n"


def test_without_the_shared_folder_the_modules_are_there(empty):
    made(PACKAGING)
    shutil.rmtree(store.cache() / "bytecode")
    assert play("import packaging.version", dependencies=[PACKAGING], python=PYTHON).status == 0


@pytest.mark.parametrize(
    ("one", "two", "shared"),
    [
        ("one/a.py", "two/a.py", ["one", "two"]),
        ("both/one.py", "both/two.py", []),
        ("one.py", "two/a.py", ["two"]),
        ("../../../one/a.py", "two/a.py", ["two"]),
        ("{}/one/a.py", "two/a.py", ["two"]),
    ],
    ids=["folders", "one folder", "no folder", "elsewhere", "a path from the root"],
)
def test_folders_that_are_shared(tmp_path, one, two, shared):
    for number, file in enumerate((one.format(tmp_path), two)):
        info = tmp_path / f"site/{number}-1.dist-info"
        info.mkdir(parents=True)
        linked(info / "METADATA")
        (info / "RECORD").write_text(f"{file},,0\n")
        (tmp_path / "site" / file).parent.mkdir(exist_ok=True)
    for _ in range(2):
        share(tmp_path / "site", tmp_path / "store")
        assert (
            sorted(path.parent.name for path in tmp_path.glob("**/__pycache__") if path.exists())
            == shared
        )
        shutil.rmtree(tmp_path / "store", ignore_errors=True)


def test_what_a_package_brings_compiled_stays(tmp_path):
    info, brought = tmp_path / "site/one-1.dist-info", tmp_path / "site/one/__pycache__/a.pyc"
    for file in (info / "RECORD", brought):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    linked(info / "METADATA")
    (info / "RECORD").write_text("one/a.py,,0\none/__pycache__/a.pyc,,0\n")
    share(tmp_path / "site", tmp_path / "store")
    assert brought.exists() and not brought.parent.is_symlink()

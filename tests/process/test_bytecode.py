"""Bytecode is shared by the environments that uv linked a package into, and by nothing else."""

import shutil

import pytest
from helpers import SIX, play

from casebook.environments import store
from casebook.environments.bytecode import share

PACKAGING = "packaging==26.3"


def compiled(*dependencies):
    """Path of the bytecode of a module, in an environment with these packages, and its time."""
    body = """import os, packaging.version
path = os.path.realpath(packaging.version.__cached__)
print(path, os.stat(path).st_mtime_ns)"""
    return play(body, dependencies=dependencies).output


@pytest.fixture
def shared(network, empty_caches, monkeypatch):
    """Where the bytecode of a package is shared that uv linked into an environment."""
    monkeypatch.setenv("UV_LINK_MODE", "hardlink")
    return compiled(PACKAGING)


def test_two_environments_compile_a_package_once(shared):
    assert compiled(PACKAGING, SIX) == shared


def test_a_copied_package_is_compiled_for_itself(shared, monkeypatch):
    kept = store.cache() / "bytecode"
    before = sorted(kept.iterdir())
    monkeypatch.setenv("UV_LINK_MODE", "copy")
    assert compiled(PACKAGING, SIX).split()[0] != shared.split()[0]
    assert sorted(kept.iterdir()) == before


def test_without_the_shared_folder_the_modules_are_there(shared):
    shutil.rmtree(store.cache() / "bytecode")
    assert play("import packaging.version", dependencies=[PACKAGING]).status == 0


def test_what_a_package_brings_compiled_stays(tmp_path):
    info, brought = tmp_path / "site/one-1.dist-info", tmp_path / "site/one/__pycache__/a.pyc"
    for file in (info / "RECORD", brought):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (info / "METADATA").touch()
    (info / "linked").hardlink_to(info / "METADATA")
    (info / "RECORD").write_text("one/a.py,,0\none/__pycache__/a.pyc,,0\n")
    share(tmp_path / "site", tmp_path / "store")
    assert brought.exists() and not brought.parent.is_symlink()

"""What a package is compiled to is shared by the environments that uv linked it into, and by nothing else."""
import shutil

import pytest
from helpers import SIX, cell, play

from casebook import environment
from casebook.bytecode import share
from casebook.header import read

PACKAGING, PYTHON = "packaging==26.3", ">=3.11,<3.14"


def made(*dependencies):
    return environment.make(read(cell("", dependencies=dependencies, python=PYTHON)))


def compiled(*dependencies):
    """Path of what Python runs for a module of the package, in an environment with these packages, and when it was compiled."""
    body = "import os, packaging.version\npath = os.path.realpath(packaging.version.__cached__)\nprint(path, os.stat(path).st_mtime_ns)"
    return play(body, dependencies=dependencies, python=PYTHON).output


@pytest.fixture
def empty(tmp_path, monkeypatch, forgetful):
    """No environment is there yet; uv's cache, from which it links, is on the same disk."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_LINK_MODE", "hardlink")


def test_two_environments_compile_a_package_once(empty):
    assert compiled(PACKAGING) == compiled(PACKAGING, SIX)


def test_a_copied_package_is_compiled_for_itself(empty, monkeypatch):
    linked = compiled(PACKAGING)
    monkeypatch.setenv("UV_LINK_MODE", "copy")
    assert compiled(PACKAGING, SIX).split()[0] != linked.split()[0]


def test_a_module_that_is_changed_in_one_environment_is_changed_there_alone(empty):
    made(PACKAGING)
    module = made(PACKAGING, SIX).site / "packaging/version.py"
    text = module.read_text()
    module.unlink()
    module.write_text(f"{text}\nchanged = True\n")
    body = "import packaging.version\nprint(hasattr(packaging.version, 'changed'))"
    for dependencies, changed in ([PACKAGING], False), ([PACKAGING, SIX], True), ([PACKAGING], False):
        assert play(body, dependencies=dependencies, python=PYTHON).output == f"{changed}\n"


def test_without_the_shared_folder_the_modules_are_there(empty):
    made(PACKAGING)
    shutil.rmtree(environment.cache() / "bytecode")
    assert play("import packaging.version", dependencies=[PACKAGING], python=PYTHON).status == 0


def test_a_folder_of_two_packages_stays_its_own(tmp_path):
    site = tmp_path / "site"
    for name in "one", "two":
        for file in f"{name}-1.dist-info/METADATA", f"both/{name}.py", f"{name}/__init__.py":
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            (site / file).touch()
        files = f"both/{name}.py", f"{name}/__init__.py", f"../../../{name}/script.py", f"{name}.py"
        (site / f"{name}-1.dist-info/RECORD").write_text("".join(f"{file},,0\n" for file in files))
    share(site, tmp_path / "store")
    assert sorted(path.relative_to(site).parts[0] for path in site.rglob("__pycache__")) == ["one", "two"]

"""The wheelhouse: what is downloaded into it, and that all is installed from it alone."""

import hashlib
import os
import shutil
import subprocess
import sys

import pytest
from helpers import ROOT, play, wheel

from casebook.cells.header import Header
from casebook.environments import create, uv
from casebook.errors import CasebookError, EnvironmentFailure
from casebook.teaching import wheelhouse

NO_INDEX = {"UV_NO_INDEX": "1", "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null"}


@pytest.fixture
def filled(tmp_path, monkeypatch, empty_caches):
    """A wheelhouse beside a requirements.txt that pins what is in it; no index answers."""
    for name, value in NO_INDEX.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "wheelhouse"
    folder.mkdir()
    script = f"#!/bin/sh\nexec '{uv.executable()}' \"$@\"\n"
    wheels = [
        wheel(folder, "tiny", "1.0", {"tiny.py": "VALUE = 42\n", "IPython.py": ""}),
        wheel(folder, "uv", "1.0", {"uv-1.0.data/scripts/uv": script}),
    ]
    with (tmp_path / "requirements.txt").open("w") as lines:
        for path in wheels:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            print(f"{path.name.split('-')[0]}==1.0 --hash=sha256:{digest}", file=lines)
    return tmp_path


def test_a_cell_takes_its_packages_from_it(filled):
    assert play("import tiny; print(tiny.VALUE)", dependencies=["tiny==1.0"]).output == "42\n"


def test_make_makes_its_environment_from_it(filled, monkeypatch):
    """On a machine without uv."""
    shutil.copy(ROOT / "bootstrap.py", filled)
    (filled / "casebook.py").touch()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if shutil.which("uv"):
        pytest.skip("uv belongs to this system")
    python = os.path.realpath(sys.executable)
    ended = subprocess.run([python, filled / "bootstrap.py"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    installed = create.Environment.at(filled / ".venv").installed()
    assert installed == {"tiny": "1.0", "uv": "1.0"}


def test_each_interpreter_gets_the_pins_of_its_headers():
    here = f"=={'.'.join(map(str, sys.version_info[:3]))}"
    found = wheelhouse.pins_by_python(
        [Header(here, ("a==1",)), Header(here, ("a==2", "b==1")), Header(">=3.11", ())]
    )
    assert found[create.sync(Header(here, ())).python.resolve()] == {"a==1", "a==2", "b==1"}


def test_no_two_versions_of_a_package_are_downloaded_at_once():
    assert wheelhouse.batches(["a==2", "b==1", "a==1"]) == [["a==1", "b==1"], ["a==2"]]


def test_pip_downloads_into_it_and_says_what_fails(tmp_path, monkeypatch):
    try:
        create.make(wheelhouse.PIP)
    except EnvironmentFailure as error:
        pytest.skip(f"needs pip: {error}")
    wheel(tmp_path, "tiny", "1.0")
    for name, value in {**NO_INDEX, "PIP_FIND_LINKS": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(wheelhouse, "WHEELHOUSE", tmp_path / "wheelhouse")
    wheelhouse.download(sys.executable, ["tiny==1.0"])
    assert [p.name for p in (tmp_path / "wheelhouse").iterdir()] == ["tiny-1.0-py3-none-any.whl"]
    with pytest.raises(CasebookError, match=r"(?s)cannot download.*No matching distribution.*2.0"):
        wheelhouse.download(sys.executable, ["tiny==2.0"])

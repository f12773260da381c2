"""The wheelhouse: what is downloaded into it; bootstrap.py and cells install from it alone."""

import hashlib
import shutil
import subprocess
import sys

import pytest
from helpers import ROOT, play, wheel

from casebook.authoring import chapters, wheelhouse
from casebook.cells.header import Header
from casebook.environments import create, uv, wheels
from casebook.errors import CasebookError, EnvironmentFailure

NOWHERE = {
    "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple",
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_CONFIG_FILE": "/dev/null",
    "PIP_RETRIES": "0",
    "UV_HTTP_RETRIES": "0",
}


def pin(path):
    """The line that pins a wheel with its hash."""
    name, version = path.name.split("-")[:2]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}=={version} \\\n    --hash=sha256:{digest}\n"


@pytest.fixture
def filled(tmp_path, monkeypatch, empty_caches):
    """A wheelhouse beside requirements.txt; no index answers, and uv's cache is empty."""
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "wheelhouse").mkdir()
    house, script = tmp_path / "wheelhouse", f'#!/bin/sh\nexec {uv.executable()} "$@"\n'
    pins = [
        pin(wheel(house, "tiny", "1.0", {"tiny.py": "VALUE = 42\n"})),
        pin(wheel(house, "uv", "9.9", {"uv-9.9.data/scripts/uv": script})),
    ]
    (tmp_path / "requirements.txt").write_text("".join(pins))
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
    ended = subprocess.run(
        [sys._base_executable, filled / "bootstrap.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout
    installed = create.Environment.at(filled / ".venv").installed()
    assert installed == {"tiny": "1.0", "uv": "9.9"}


def test_every_pin_is_downloaded_and_no_two_versions_at_once():
    headers = chapters.distinct(h for book in chapters.load() for h in book.headers(gpu=True))
    pins = {pin for head in headers for pin in head.dependencies}
    batches = wheels.batches(pins)
    assert sorted(pin for batch in batches for pin in batch) == sorted(pins)
    for batch in batches:
        names = [pin.partition("==")[0] for pin in batch]
        assert len(names) == len(set(names))


def test_each_interpreter_gets_the_pins_of_its_headers():
    here = f"=={'.'.join(map(str, sys.version_info[:3]))}"
    found = wheelhouse.pins_by_python(
        [Header(here, ("a==1",)), Header(here, ("a==2", "b==1")), Header(">=3.11", ())]
    )
    assert found[create.sync(Header(here, ())).python.resolve()] == {"a==1", "a==2", "b==1"}


def test_pip_downloads_into_it_and_says_what_fails(tmp_path, monkeypatch):
    try:
        create.make(wheelhouse.PIP)
    except EnvironmentFailure as error:
        pytest.skip(f"needs pip: {error}")
    (tmp_path / "index").mkdir()
    wheel(tmp_path / "index", "tiny", "1.0")
    for name, value in {
        "PIP_FIND_LINKS": tmp_path / "index",
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": "/dev/null",
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(wheelhouse, "WHEELHOUSE", tmp_path / "wheelhouse")
    wheelhouse.download(sys.executable, ["tiny==1.0"])
    assert [p.name for p in (tmp_path / "wheelhouse").iterdir()] == ["tiny-1.0-py3-none-any.whl"]
    with pytest.raises(
        CasebookError,
        match=r"(?s)cannot download the wheels.*No matching distribution found for tiny==2\.0",
    ):
        wheelhouse.download(sys.executable, ["tiny==2.0"])

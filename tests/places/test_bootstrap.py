"""bootstrap.py: a .venv that works stays until the new one does."""

import shutil
import subprocess
import sys

import pytest
from helpers import ROOT

from casebook.environments import uv


@pytest.fixture
def make(tmp_path, monkeypatch):
    """make(requirements): what bootstrap.py says, in a folder with a .venv that holds others."""
    shutil.copy(ROOT / "bootstrap.py", tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/uv").symlink_to(uv.executable())
    monkeypatch.setenv("PATH", "/usr/bin:/bin")

    def make(requirements):
        (tmp_path / "requirements.txt").write_text(requirements)
        command = [sys.executable, tmp_path / "bootstrap.py"]
        ended = subprocess.run(command, capture_output=True, text=True)
        return ended.returncode, ended.stdout + ended.stderr

    return make


def test_a_new_environment_takes_the_place_of_the_old_one(make, tmp_path):
    (tmp_path / ".venv/old").touch()
    assert make("")[0] == 0
    assert not (tmp_path / ".venv/old").exists() and (tmp_path / ".venv/bin/python").exists()
    assert make("") == (0, "")


def test_where_that_fails_the_old_one_stays(make, tmp_path):
    (tmp_path / ".venv/old").touch()
    status, said = make("six==1.17.0")  # without a hash
    assert status == 1 and said.endswith("Run make again to retry; .venv is as it was.\n")
    assert (tmp_path / ".venv/old").exists()

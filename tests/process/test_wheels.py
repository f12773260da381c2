"""A header promises no Python for which a pin has no wheel."""

import pytest
from helpers import wheel

from casebook.cells.header import Header
from casebook.environments import wheels
from casebook.errors import DownloadFailure

PINS = "anywhere==1.0", "tiny==1.0"


@pytest.fixture
def index(tmp_path, monkeypatch, empty_caches):
    """No index but a folder: a wheel for all Pythons, and those of `tiny` for 3.11 and 3.12."""
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    wheel(tmp_path, "anywhere", "1.0")
    for python in ("cp311", "cp312"):
        wheel(tmp_path, "tiny", "1.0", tag=f"{python}-{python}-manylinux_2_17_x86_64")


def test_each_python_that_is_promised_needs_a_wheel(index, monkeypatch):
    wide, narrow = Header(">=3.11,<3.14", PINS), Header(">=3.11,<3.13", PINS)
    assert list(wheels.missing_wheels(narrow)) == []
    (problem,) = wheels.missing_wheels(wide)
    assert problem.startswith("requires-python promises 3.13, for which wheels are missing: ")
    assert "Because tiny==1.0 has no wheels" in problem
    monkeypatch.setattr(wheels, "refusal", lambda *_: "asked")
    assert [text[-5:] for text in wheels.missing_wheels(wide)] == ["asked"]


def test_an_index_that_does_not_answer_says_nothing_of_a_wheel(empty_caches, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    with pytest.raises(DownloadFailure):
        list(wheels.missing_wheels(Header("==3.12.*", ("other==1.0",))))

"""`check --wheels` and `pin`: a header promises no Python for which a pin has no wheel."""

from types import SimpleNamespace

import pytest
from helpers import wheel

from casebook.authoring.checks.wheels import wheel_problems
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
    cells = [SimpleNamespace(number=n, header=head) for n, head in enumerate((wide, narrow, None))]
    (problem,) = wheel_problems([SimpleNamespace(name="book", cells=cells)])
    assert problem.startswith("book, cell [0]: tiny==1.0 has no wheel for Python 3.13, which ")
    monkeypatch.setattr(wheels, "refused", lambda pins, python: pins)
    assert wheels.without_wheel([wide]) == {("3.13", "tiny==1.0")}  # the others are remembered


def test_a_release_that_is_gone_has_no_wheel(index):
    head = Header("==3.12.*", ("anywhere==2.0", "tiny==1.0"))
    assert wheels.without_wheel([head]) == {("3.12", "anywhere==2.0")}


def test_an_index_that_does_not_answer_says_nothing_of_a_wheel(empty_caches, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    with pytest.raises(DownloadFailure, match="cannot ask for wheels: "):
        wheels.without_wheel([Header("==3.12.*", ("other==1.0",))])


def test_no_two_versions_of_a_package_are_asked_for_at_once():
    assert wheels.batches(["a==2", "b==1", "a==1"]) == [["a==1", "b==1"], ["a==2"]]

"""`check --wheels` and `pin`: a header promises no Python for which a pin has no wheel."""

import zipfile
from types import SimpleNamespace

import pytest

from casebook.authoring.checks.wheels import wheel_problems
from casebook.cells.header import Header
from casebook.environments import wheels
from casebook.errors import DownloadFailure

PINS = "anywhere==1.0", "tiny==1.0"


@pytest.fixture
def index(tmp_path, monkeypatch, empty_caches):
    """No index but a folder: a wheel of `anywhere` for all Pythons, those of `tiny` for 3.11, 3.12."""
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    platform = "manylinux_2_17_x86_64"
    tags = "py3-none-any", f"cp311-cp311-{platform}", f"cp312-cp312-{platform}"
    for name, tag in zip(("anywhere", "tiny", "tiny"), tags, strict=True):
        with zipfile.ZipFile(tmp_path / f"{name}-1.0-{tag}.whl", "w") as wheel:
            metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
            wheel.writestr(f"{name}-1.0.dist-info/METADATA", metadata)


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


def test_an_index_that_does_not_answer_says_nothing_of_a_wheel(index, monkeypatch):
    monkeypatch.delenv("UV_NO_INDEX")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(DownloadFailure, match="cannot ask for wheels: "):
        wheels.without_wheel([Header("==3.12.*", ("other==1.0",))])

"""The pins of all headers and of requirements.txt, as the package index has them today."""

import re
import subprocess
from itertools import groupby, zip_longest

import pytest

import bootstrap
from casebook import chapters
from casebook.environments import uv
from casebook.environments.wheels import missing_wheels
from casebook.errors import DownloadFailure

HEADERS = [header for book in chapters.load() for header in book.headers(gpu=True)]


def test_each_pin_has_a_wheel_for_each_python_that_its_header_promises():
    try:
        assert [text for header in HEADERS for text in missing_wheels(header)] == []
    except DownloadFailure as failure:
        pytest.skip(str(failure))


def batches(pins):
    """Pins as lists without two versions of one package, which no installer takes in one call."""
    versions = [list(same) for _, same in groupby(sorted(pins), lambda pin: pin.partition("==")[0])]
    return [list(filter(None, batch)) for batch in zip_longest(*versions)]


def yanked(pins):
    """Those that were withdrawn from the index, in uv's words."""
    for batch in batches(pins):
        command = [uv.executable(), "pip", "compile", "--no-deps", "--python-version=3.12", "-"]
        asked = subprocess.run(command, input="\n".join(batch), capture_output=True, text=True)
        if asked.returncode:
            pytest.skip(f"needs a network: {' '.join(asked.stderr.split())}")
        yield from re.findall(r"warning: (.* is yanked .*)", asked.stderr)


def test_no_pin_was_yanked():
    pins = set(re.findall(r"(?m)^\S+==[^\s;]+", bootstrap.LOCKS["all"].read_text()))
    pins.update(pin for header in HEADERS for pin in header.dependencies)
    assert list(yanked(["requests==2.32.0"])), "uv names what was yanked"
    assert list(yanked(pins)) == []

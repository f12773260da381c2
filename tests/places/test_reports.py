"""The programs of Found here that need no GPU, run with the packages that they name."""

import pytest

from casebook.errors import MissingPython
from casebook.reports import entries
from casebook.reports.run import run_one

PROGRAMS = [entry for entry in entries() if entry.program and not entry.gpu]


@pytest.mark.parametrize("entry", PROGRAMS, ids=lambda entry: entry.name)
def test_a_program_still_shows_its_bug(entry):
    try:
        run, printed = run_one(entry)
    except MissingPython as error:
        pytest.skip(str(error))
    assert run.outcome == "stands", printed

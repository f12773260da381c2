"""The layout: what import-linter cannot see."""

import re

import bootstrap
from casebook.cells.repository import ROOT

HELPERS = sorted((ROOT / "casebook/helpers").rglob("*.py"))


def test_what_runs_beside_a_cell_imports_nothing_of_casebook():
    """Helpers run in environments without this package; the doctor is copied as one file."""
    assert HELPERS
    for path in [*HELPERS, ROOT / "casebook/doctor.py"]:
        assert not re.search(r"^\s*(from|import) casebook\b", path.read_text(), re.M), path


def test_locks_are_compiled_from_pyproject_and_name_no_host():
    assert bootstrap.drift() == []
    assert "://" not in "".join(path.read_text() for path in bootstrap.LOCKS.values())

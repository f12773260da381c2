"""`casebook`: what is said where a command cannot begin."""

import subprocess
import sys

import pytest
from helpers import ROOT

from casebook.cells import repository
from casebook.cli import COMMANDS, main

ALONE = {"doctor", "export"}  # they work without the book


@pytest.mark.parametrize("name", sorted({command.name for command in COMMANDS} - ALONE))
def test_every_other_command_needs_the_book(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(repository, "ROOT", tmp_path)
    assert main([name, *(["it"] if name in ("grade", "hunt", "new", "pin") else [])]) == 2
    assert f"`{name}` needs a clone of the book" in capsys.readouterr().err


def test_a_python_that_lacks_a_module_says_so(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "casebook.authoring.check", None)
    assert main(["check"]) == 2
    assert "`make environment`" in capsys.readouterr().err


def test_help_loads_nothing_that_a_command_needs():
    look = "import sys\nfrom casebook.cli import parser\nparser()\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True
    ).stdout.split()
    assert "argparse" in loaded and not {
        "IPython",
        "packaging",
        "nbformat",
        "yaml",
        "casebook.environments.create",
    } & set(loaded)

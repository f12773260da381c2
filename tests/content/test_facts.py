"""One fact, one place: a change in NN-name.yml reaches card and doctor by one command.

That the site's pages show the same facts, tests/site proves on its sample.
"""

import json
import shutil

import pytest
from helpers import ROOT

from casebook.authoring import publish
from casebook.chapters import Chapter, installs
from casebook.cli import main

OLD, NEW = 'pip install "numpy<2.5"', 'pip install "numpy==2.4.*"'


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the notebooks, their facts and the doctor, which the commands take for the book."""
    folder = tmp_path / "notebooks"
    shutil.copytree(ROOT / "notebooks", folder)
    shutil.copy(ROOT / "casebook/doctor.py", tmp_path)
    for name in ("_toc.yml", "book", "native", "casebook"):  # the notebooks link to some
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setattr("casebook.cells.repository.ROOT", tmp_path)
    monkeypatch.setattr("casebook.authoring.publish.ROOT", tmp_path)
    monkeypatch.setattr(publish, "DOCTOR", tmp_path / "doctor.py")
    for name in ("wrong", "leftovers"):  # no index is asked about the changed line
        monkeypatch.setattr(installs, name, lambda _: [])
    return folder


def test_a_changed_fact_reaches_card_and_doctor_by_one_command(copy, capsys):
    facts = copy / "18-numpy-2.5.yml"
    facts.write_text(facts.read_text("utf8").replace(f"'`{OLD}`'", f"'`{NEW}`'"), "utf8")
    assert main(["check", "18"]) == 1
    assert "the card is not that of the facts; run `casebook facts`" in said(capsys)
    publish_one(copy)
    assert main(["check", "18"]) == 0
    assert main(["check"]) == 1
    assert "casebook/doctor.py: the table is not that of the facts" in said(capsys)
    assert main(["facts"]) == 0
    printed = said(capsys).splitlines()
    assert printed[:2] == ["doctor.py", "18-numpy-2.5, what to do:"] and NEW in printed[3]
    assert main(["check"]) == 0
    assert f"| `{NEW}` |" in Chapter(copy / "18-numpy-2.5.ipynb").first
    assert json.dumps(NEW) in (copy.parent / "doctor.py").read_text("utf8")


def publish_one(copy):
    """The card alone, so that the doctor's table is the last that differs."""
    chapter = Chapter(copy / "18-numpy-2.5.ipynb")
    chapter.notebook.cells[0].source = publish.with_card(chapter)
    chapter.write()


def said(capsys):
    return capsys.readouterr().out

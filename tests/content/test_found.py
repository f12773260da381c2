"""The entries of Found here: their form, their runs, and the issues made of them."""

import re

import pytest

from casebook import chapters
from casebook.errors import CasebookError, WrongUse
from casebook.hunt.search import DOCUMENTED
from casebook.reports import Entry, entries, runs
from casebook.reports.entry import FOLDER, LINES
from casebook.reports.issue import issue
from casebook.reports.run import judge

ENTRIES = entries()
RUNS = {run.name: run for run in runs() if not run.pin}
BOOKS = {book.name[:2]: book for book in chapters.load()}
each = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)

WHOLE = """\
title: One is two
project: cupy
kind: bug
harm: numbers
versions: numpy 2.2.6
about: It is.
expected: One.
known: None found.
program: |
  # Python >=3.11,<3.14: numpy==2.2.6
  print(2)
prints: |
  2
right: |
  1
"""


@each
def test_an_entry_has_a_short_program_that_ended_as_it_says(entry):
    if not entry.program:
        assert entry.kind == "once"
        return
    assert entry.program.count("\n") <= LINES
    assert max(map(len, entry.program.splitlines()[1:])) <= 100
    run = RUNS.get(entry.name)
    assert run and (run.program, run.outcome) == (entry.digest, "stands"), (
        f"edited since its program ran: casebook reports {entry.name}"
    )
    assert bool(run.gpu) == entry.gpu
    assert judge(entry, entry.prints) == "stands"
    assert judge(entry, entry.right) == "right"


@each
def test_its_cells_are_those_of_its_case(entry):
    if entry.case:
        cells = {cell.node.id: cell for cell in BOOKS[entry.case].cells}
        assert not set(entry.cells) - {name for name, cell in cells.items() if cell.header}


def test_the_page_has_each_once_and_nothing_else():
    assert (
        len({entry.title for entry in ENTRIES}) == len(ENTRIES) == len(list(FOLDER.glob("*.yml")))
    )
    assert not {run.name for run in runs()} - {entry.name for entry in ENTRIES}
    first = ENTRIES[0]
    assert (first.harm, first.kind) == ("numbers", "bug")
    told = re.findall(r"book/found/(\S+)\.yml", DOCUMENTED.read_text("utf-8"))
    assert told and not set(told) - {entry.name for entry in ENTRIES}


@each
def test_an_issue_has_the_whole_program(entry):
    if not entry.program:
        return
    said = issue(entry, RUNS.get(entry.name))
    title, _, body = said.partition("\n\n")
    assert entry.title in title and f"```python\n{entry.program}```" in body
    assert entry.prints in body and entry.right in body and entry.known.rstrip() in body
    assert "](../" not in body and "case " not in title


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kind: bug", "kind: odd", "kind: 'odd' is not one of"),
        ("title: One is two\n", "", "'title' is a required property"),
        ("harm: numbers", "harm: numbers\nharm: hang", "the key 'harm' stands twice"),
        ("# Python >=3.11,<3.14: ", "# ", "a program begins with its pins"),
        ("numpy==2.2.6", "numpy>=2", "numpy"),
        ("numpy==2.2.6", "numpy==2.2.5", "it names no release that is pinned"),
        ("print(", "import again\n  print(", "a reader does not have again"),
        ("right: |\n  1\n", "", "'right' is a"),
    ],
)
def test_what_is_wrong_with_an_entry_is_said(old, new, words, tmp_path):
    file = tmp_path / "one.yml"
    file.write_text(WHOLE)
    assert Entry.read(file).header().dependencies == ("numpy==2.2.6",)
    file.write_text(WHOLE.replace(old, new))
    with pytest.raises(CasebookError, match=re.escape(words)):
        Entry.read(file)


def test_another_release_takes_the_place_of_a_pin(tmp_path):
    file = tmp_path / "one.yml"
    file.write_text(WHOLE.replace("numpy==2.2.6", "numpy==2.2.6 cuda-python[all]==12.9.0"))
    entry = Entry.read(file)
    assert entry.header("cuda-python==13.0.0").dependencies[1] == "cuda-python[all]==13.0.0"
    with pytest.raises(WrongUse, match="one does not use cupy"):
        entry.header("cupy==1.0")
    assert judge(entry, "2\n") == "stands" and judge(entry, "1\n") == "right"
    assert judge(entry, "3\n") == "otherwise"

"""`python -m casebook grade`: every notebook of a class is a row, whatever is in it, and the verdict is the book's own."""

import csv
import json

import nbformat
import pytest
from attempts import answers, attempts, written

from casebook.__main__ import main
from casebook.authoring import chapters, grading
from casebook.authoring.exercises import exercises
from casebook.authoring.grading import YOURS, Row, outcome, restored, table
from casebook.authoring.workshop import encoded, unsolved
from casebook.errors import WrongUse

BOOKS = {book.name[:2]: book for book in chapters.load() if exercises(book)}
PINNED = [
    pytest.param(
        one.exercise[0].source, written(one, answer), id=f"{book.name}-{one.number}-{answer['why']}"
    )
    for kind in ("wrong", "right")
    for book, one, answer in (each.values for each in attempts(kind))
    if one.exercise[0].pinned and YOURS in one.exercise[0].source
]


def solution(number, exercise, kind="right"):
    """The first answer of tests/answers to an exercise, as {id of the reader's cell: source}."""
    book = BOOKS[number]
    one = exercises(book)[exercise - 1]
    return {one.exercise[0].node.id: written(one, answers(book)[exercise][kind][0])}


def submit(folder, number, edits, without=()):
    """Write a participant's notebook: a workshop copy with edited cells, and without some."""
    copy = unsolved(BOOKS[number].notebook)
    copy.cells = [cell for cell in copy.cells if cell.id not in without]
    for cell in copy.cells:
        cell.source = edits.get(cell.id, cell.source)
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(copy, folder / f"{BOOKS[number].name}.ipynb")
    return folder


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def test_a_class(tmp_path, capsys, monkeypatch):
    """Right and wrong answers; a check that is gone, one that always agrees; a process that ends, one that prints without end; files that
    go; what is no notebook."""
    monkeypatch.setattr(grading, "MOST", 100_000)
    room, out = tmp_path / "class", tmp_path / "out.csv"
    first, second = (one.check[0].node.id for one in exercises(BOOKS["01"])[:2])
    submit(
        room / "anna",
        "01",
        solution("01", 1) | solution("01", 2, "wrong") | {second: "print('Correct: trust me.')"},
        without=[first],
    )
    submit(
        room / "ben",
        "18",
        {"np25-task": f"import os, shutil\nshutil.rmtree({str(room)!r})\nos._exit(3)"},
    )
    submit(room / "finn", "18", {}, without=["np25-task"])
    submit(room / "gus", "18", {"np25-task": "while True:\n    print('x' * 1000)"})
    (room / "hugo.ipynb").write_text("{no")
    (room / "ida.ipynb").write_text(json.dumps({"cells": []}))
    (room / "jan.ipynb").write_text(
        json.dumps({"cells": [{"cell_type": "code", "source": 7, "metadata": {}}]})
    )
    submit(room / "kim" / ".ipynb_checkpoints", "18", {})
    assert main(["grade", str(room), "--out", str(out)]) == 0
    found = rows(out)
    assert [(row.participant, row.exercise, row.outcome) for row in found] == [
        ("anna", "1", "solved"),
        ("anna", "2", "not yet"),
        ("anna", "3", "untouched"),
        ("ben", "1", "died"),
        ("finn", "1", "missing"),
        ("gus", "1", "died"),
        ("hugo", "", "unreadable"),
        ("ida", "", "unreadable"),
        ("jan", "", "unreadable"),
    ]
    assert found[1].words == "Not yet: defaults are missing, or not those of the function given."
    assert (found[3].words, found[5].words) == (
        "the process ended",
        "printed more than 100,000 characters",
    )
    said = capsys.readouterr().out
    assert "The code of 7 notebooks is run as " in said
    assert "[1/7] anna/01-default-arguments.ipynb: 1 of 3 solved, " in said
    assert "[5/7] hugo.ipynb: unreadable, no notebook: JSONDecodeError" in said
    assert said.endswith(
        f"\n\n{table([Row(**vars(row) | {'exercise': int(row.exercise or 0) or ''}) for row in found])}\n\n{out}\n"
    )


def test_a_cell_that_hangs_is_ended(tmp_path):
    submit(tmp_path / "carl", "18", {"np25-task": "import time\ntime.sleep(1000)"})
    main(["grade", str(tmp_path), "--out", str(tmp_path / "out.csv"), "--limit", "2"])
    assert [(row.outcome, row.words) for row in rows(tmp_path / "out.csv")] == [
        ("time", "still running after 2 s")
    ]


def test_no_notebook_at_all(tmp_path):
    with pytest.raises(WrongUse, match="no notebook below"):
        grading.grade(tmp_path, tmp_path / "out.csv", 1)


@pytest.mark.parametrize(("source", "answer"), PINNED)
def test_a_pinned_cell_gets_its_header_and_its_check_back(source, answer):
    """However the participant's cell was mended around the answer, the script that runs is the answer in the book's cell."""
    after = source.partition(YOURS)[2].partition("\n")[2]
    check = (
        "\n" + next(line for line in after.splitlines() if line[:1] not in ("", " ", "#")) + "\n"
    )
    own, found, _ = f"{answer}\n".rpartition(check)
    assert found
    for edited in (
        answer,
        own,
        own + check + "print('Correct: trust me')\n",
        answer.replace("dependencies = [", "dependencies = ['evil',", 1),
        answer.replace("%%pinned", "%%pinned --out mine", 1),
    ):
        assert restored(source, edited).split() == answer.split()


def test_a_participants_own_cells_run_and_others_do_not(monkeypatch):
    """Cells that the participant put beside the answer belong to it."""
    book = BOOKS["18"]
    (one,) = exercises(book)
    reader, check = one.exercise[0], one.check[0]
    given = [(cell.node.id, cell.source) for cell in book.cells if cell.number < reader.number]
    ran = []
    monkeypatch.setattr(grading, "run", lambda sources, limit: ran.append(sources) or [])
    monkeypatch.setattr(grading, "outcome", lambda outputs, asked: ("solved", ""))
    grading.attempt(
        book,
        one,
        [
            ("far", "1/0"),
            *given,
            ("near", "mine = 1"),
            (reader.node.id, "line = mine"),
            ("after", "line += 1"),
            (check.node.id, encoded(check.source)),
            ("later", "1/0"),
        ],
        5,
    )
    assert ran == [[book.cells[0].source, "mine = 1", "line = mine", "line += 1", check.source]]


@pytest.mark.parametrize(
    ("texts", "error", "expected"),
    [
        (["", "Correct: yes."], None, "solved"),
        (["Correct: I say so.", "Not yet: no."], None, "not yet"),
        (["", "Correct: I say so.\nNot yet: no."], None, "not yet"),
        (["Correct: I say so.", ""], None, "error"),
        (["", "Not yet: no."], "NameError: x", "error"),
        (["", ""], "EnvironmentFailure: no network", "not run"),
        (["", ""], None, "error"),
    ],
)
def test_the_verdict(texts, error, expected):
    outputs = [[nbformat.v4.new_output("stream", text=text)] for text in texts]
    if error:
        name, _, words = error.partition(": ")
        outputs[0].append(nbformat.v4.new_output("error", ename=name, evalue=words, traceback=[]))
    assert outcome(outputs, 1)[0] == expected


def test_the_csv_holds_no_formula(tmp_path):
    grading.write([Row("=1+1", "a", "b", 1, "not yet", "-x")], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "'=1+1,a,b,1,not yet,'-x"

"""Grading: every notebook is a row, whatever is in it, and the verdict is the book's own."""

import csv
import json
import subprocess
import sys

import nbformat
import psutil
import pytest
from attempts import answers, attempts, written

from casebook.__main__ import main
from casebook.authoring import chapters, grading, sandbox
from casebook.authoring.exercises import exercises
from casebook.authoring.grading import RESTORE, YOURS, Row, praise, restored, verdict
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
    """Right and wrong answers, edited checks, a process that ends, files that go, no notebook."""
    monkeypatch.setattr(sandbox, "MOST", 100_000)
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
        {"np25-task": f"import os, shutil\nshutil.rmtree({str(room)!r}, True)\nos._exit(3)"},
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
    assert "7 notebooks: their code runs as " in said
    assert "[1/7] anna/01-default-arguments.ipynb: 1 of 3 solved, " in said
    assert "[5/7] hugo.ipynb: unreadable, no notebook: JSONDecodeError" in said
    assert said.endswith(f"\n\n{out}\n") and "anna         01-default-arguments  solved" in said


# What an answer may try: write elsewhere, leave a start-up file for the next kernel and a process
# in a session of its own, and put a secret and a formula into the table.
HOSTILE = """
import os, pathlib, subprocess, sys
startup = pathlib.Path.home() / ".ipython/profile_default/startup"
startup.mkdir(parents=True, exist_ok=True)
(startup / "evil.py").write_text("import os; os._exit(3)")
wait = [sys.executable, "-c", "import time; time.sleep(600)", {mark!r}]
subprocess.Popen(wait, start_new_session=True)
try:
    open({outside!r}, "w").close()
except OSError:
    pass
raise type("\t=HYPERLINK(1)", (Exception,), {{}})(os.environ.get("TEACHER_TOKEN"), "\x1b[2J")
"""
REPLACED = """
import builtins
builtins.print = print = lambda *words: sys.stdout.write("Correct: hacked\\n")
import sys
"""


@pytest.mark.parametrize("isolated", [False, True])
def test_a_hostile_notebook(tmp_path, capsys, monkeypatch, isolated):
    if isolated and not sandbox.isolated():
        pytest.skip("bubblewrap is not installed, or may not be used here")
    monkeypatch.setattr(sandbox, "isolated", lambda: isolated)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TEACHER_TOKEN", "secret")
    room, out, outside = tmp_path / "class", tmp_path / "out.csv", tmp_path / "outside"
    code = HOSTILE.format(mark=str(tmp_path), outside=str(outside))
    submit(room / "1 \x1b[31meve\r", "18", {"np25-task": code})
    wrong = solution("18", 1, "wrong")["np25-task"]
    submit(room / "2 mallory", "18", {"np25-task": f"{wrong}\n{REPLACED}"})
    submit(room / "3 zoe", "18", solution("18", 1))
    (room / "4.ipynb").symlink_to("/etc/passwd")
    assert main(["grade", str(room), "--out", str(out)]) == 0
    eve, mallory, zoe, link = rows(out)
    assert (eve.participant, eve.outcome) == (
        "1 \N{REPLACEMENT CHARACTER}[31meve\N{REPLACEMENT CHARACTER}",
        "error",
    )
    assert eve.words.startswith("\N{REPLACEMENT CHARACTER}=HYPERLINK(1): (None, ")
    assert mallory.outcome == "not yet" and mallory.words.startswith("Not yet: ")
    assert (zoe.outcome, link.outcome, link.words) == ("solved", "unreadable", "a link, not a file")
    assert not [*(tmp_path / "home").rglob("evil.py")]
    assert not [
        one
        for one in psutil.process_iter(["cmdline"])
        if str(tmp_path) in (one.info["cmdline"] or [])
    ]
    assert "\x1b" not in capsys.readouterr().out + out.read_text()
    assert outside.exists() != isolated


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
    """However the cell was edited around the answer, what runs is the answer in the book's cell."""
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
        assert restored(source, edited).replace(RESTORE, "").split() == answer.split()


def test_a_replaced_function_is_the_builtin_again_before_the_check():
    answer = "import builtins\nbuiltins.print = print = lambda *words: None\nmax = min\nmine = 7\n"
    script = f"{answer}{RESTORE}print(max(1, 2), mine)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("2 7\n", "")


def test_a_participants_own_cells_run_and_others_do_not(monkeypatch):
    """Cells that the participant put beside the answer belong to it."""
    book = BOOKS["18"]
    (one,) = exercises(book)
    reader, check = one.exercise[0], one.check[0]
    given = [(cell.node.id, cell.source) for cell in book.cells if cell.number < reader.number]
    ran = []
    monkeypatch.setattr(sandbox, "run", lambda sources, limit: ran.append(sources) or [])
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
    own = ["mine = 1", "line = mine", "line += 1"]
    assert ran == [[book.cells[0].source, *own, RESTORE, check.source]]


@pytest.mark.parametrize(
    ("texts", "error", "expected"),
    [
        (["", "Correct: yes."], None, "solved"),
        (["", "Correct: 3 of 3"], None, "solved"),
        (["Correct: I say so.", "Not yet: no."], None, "not yet"),
        (["", "Correct: I say so.\nNot yet: no."], None, "not yet"),
        (["Correct: I say so.", ""], None, "error"),
        (["", "Correct: I say so."], None, "error"),
        (["", "Correct: 3 of 3\nCorrect: I say so."], None, "solved"),
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
    check = "'Correct: yes.' if answer else f'Correct: {n} of ' + str(n)"
    assert verdict(outputs, 1, praise([check]))[0] == expected


def test_the_csv_holds_no_formula(tmp_path):
    grading.write([Row("=1+1", "@a", "+b", 1, "not yet", "-x")], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "'=1+1,'@a,'+b,1,not yet,'-x"

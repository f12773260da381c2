"""Grading: every notebook is a row, whatever is in it, and the verdict is the book's own."""

import contextlib
import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time

import nbformat
import psutil
import pytest
from attempts import answers, attempts, written
from helpers import ROOT

from casebook import chapters
from casebook.chapters import lessons
from casebook.chapters.class_copy import encoded, unsolved
from casebook.chapters.exercises import exercises
from casebook.cli import main
from casebook.teaching.grading import answers as grading
from casebook.teaching.grading import sandbox
from casebook.teaching.grading.answers import RESTORE, YOURS, Row, restored, verdict

BOOKS = {book.name[:2]: book for book in chapters.load()}


def solution(number, exercise, kind="right"):
    """The first answer to an exercise, as {id of the reader's cell: source}."""
    book = BOOKS[number]
    one = exercises(book)[exercise - 1]
    return {one.exercise[0].node.id: written(one, answers(book, one, kind)[0])}


def submit(folder, number, edits, without=()):
    """Write a participant's notebook: a workshop copy with edited cells, and without some."""
    copy = unsolved(BOOKS[number].notebook)
    copy.cells = [cell for cell in copy.cells if cell.id not in without]
    for cell in copy.cells:
        cell.source = edits.get(cell.id, cell.source)
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(copy, folder / f"{BOOKS[number].name}.ipynb")


def grade(folder, *options):
    """Rows of the CSV file."""
    out = folder.with_suffix(".csv")
    assert main(["grade", str(folder), "--out", str(out), "--unprotected", *options]) == 0
    with open(out, newline="", encoding="utf-8") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def test_a_class(tmp_path, capsys, monkeypatch):
    """Right and wrong answers, edited checks, a process that ends, files that go, no notebook."""
    monkeypatch.setattr(sandbox, "MOST", 100_000)
    room = tmp_path / "class"
    first, second = (one.check[0].node.id for one in exercises(BOOKS["01"])[:2])
    edits = solution("01", 1) | solution("01", 2, "wrong") | {second: "print('Correct: trust me.')"}
    submit(room / "anna", "01", edits, without=[first])
    ends = f"import os, shutil\nshutil.rmtree({str(room)!r}, True)\nos._exit(3)"
    submit(room / "ben", "18", {"np25-task": ends})
    submit(room / "carl", "18", {"np25-task": "import time\ntime.sleep(1000)"})
    submit(room / "finn", "18", {}, without=["np25-task"])
    submit(room / "gus", "18", {"np25-task": "while True:\n    print('x' * 1000)"})
    (room / "hugo.ipynb").write_text("{no")
    (room / "ida.ipynb").write_text(json.dumps({"cells": []}))
    cell = {"cell_type": "code", "source": 7, "metadata": {}}
    (room / "jan.ipynb").write_text(json.dumps({"cells": [cell]}))
    submit(room / "jane", "21", {})
    submit(room / "kim" / ".ipynb_checkpoints", "18", {})
    found = grade(room, "--limit", "5")
    assert [(row.participant, row.exercise, row.outcome) for row in found] == [
        ("anna", "1", "solved"),
        ("anna", "2", "not yet"),
        ("anna", "3", "untouched"),
        ("ben", "1", "died"),
        ("carl", "1", "time"),
        ("finn", "1", "missing"),
        ("gus", "1", "died"),
        ("hugo", "", "unreadable"),
        ("ida", "", "unreadable"),
        ("jan", "", "unreadable"),
        ("jane", "", "no exercise"),
        ("kim", "", "no notebook"),
    ]
    (says, *_) = (one["says"] for one in answers(BOOKS["01"], exercises(BOOKS["01"])[1], "wrong"))
    assert says in found[1].words
    assert [found[place].words for place in (3, 4, 6)] == [
        "the process ended",
        "still running after 5 s",
        "printed more than 100,000 characters",
    ]
    said = capsys.readouterr().out
    assert "9 notebooks: their code runs as " in said
    assert "[1/9] anna/01-default-arguments.ipynb: solved, not yet, untouched\n" in said
    assert "[6/9] hugo.ipynb: no notebook: JSONDecodeError" in said
    assert "\n18-numpy-2.5, exercise 1: 2 died, 1 time, 1 missing\n" in said
    assert "\nnot graded: hugo.ipynb: no notebook: JSONDecodeError" in said


def test_a_lesson_is_graded_as_it_is(tmp_path):
    """A learner saves the file with answers in it; a check that was edited does not count."""
    lesson = lessons.load()[0]
    right, wrong = lesson.exercises[:2]
    copy = nbformat.from_dict(lesson.notebook)
    written = {
        right.exercise[0].node.id: lesson.written(right, lesson.answers(1, "right")[0]),
        wrong.exercise[0].node.id: lesson.written(wrong, lesson.answers(2, "wrong")[0]),
    }
    for cell in copy.cells:
        if cell.id in written:
            answer, _, _ = written[cell.id].partition("# The check")
            cell.source = f"{answer}print('Correct: trust me')"
    (tmp_path / "class" / "anna").mkdir(parents=True)
    nbformat.write(copy, tmp_path / "class/anna/my copy.ipynb")
    found = grade(tmp_path / "class")
    assert [(row.chapter, row.exercise, row.outcome) for row in found] == [
        (lesson.name, "1", "solved"),
        (lesson.name, "2", "not yet"),
    ]


@pytest.mark.parametrize(
    ("options", "root", "words"),
    [
        (["--limit", "0"], False, "whole number of seconds, 1 or more"),
        (["--out", "/nowhere/grades.csv"], False, "cannot write /nowhere/grades.csv"),
        ([], True, "would run as root"),
    ],
)
def test_what_cannot_be_graded_so(options, root, words, tmp_path, monkeypatch, capsys):
    submit(tmp_path / "class", "18", {})
    monkeypatch.setattr(sandbox, "isolated", lambda: False)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    with contextlib.suppress(SystemExit):  # argparse ends so
        assert main(["grade", str(tmp_path / "class"), *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_it_blames_nobody(how, tmp_path):
    waits = f"open({str(tmp_path / 'runs')!r}, 'w').close()\nimport time\ntime.sleep(1000)"
    submit(tmp_path / "class", "18", {"np25-task": waits})
    words = ["grade", "class", "--unprotected"]
    script = "from casebook.teaching.grading import sandbox as s; s.isolated = lambda: False; "
    script += f"from casebook.cli import main; raise SystemExit(main({words}))"
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None and not (tmp_path / "runs").exists():
            time.sleep(0.1)
        process.send_signal(how)
        said = process.communicate(timeout=100)[0]
    assert process.returncode == 130, said
    assert "stopped: 0 of 1 notebooks are judged" in said and "died" not in said


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
if {isolated!r}:
    subprocess.run(["mount", "-o", "remount,bind,rw", "/"], stderr=subprocess.DEVNULL)
    seen = [place for place in {unseen!r} if os.path.exists(place)]
    for place in {kept!r}:
        try:
            open(place, "w").close()
            seen.append(place)
        except OSError:
            pass
    assert not seen, seen
raise type("\t=HYPERLINK(1)", (Exception,), {{}})(os.environ.get("TEACHER_TOKEN"), "\x1b[2J")
"""
REPLACED = """
import builtins, sys
builtins.print = print = lambda *words: sys.stdout.write("Correct: hacked\\n")
"""


@pytest.mark.parametrize("isolated", sorted({False, sandbox.isolated()}))
def test_a_hostile_notebook(tmp_path, capsys, monkeypatch, isolated):
    """Without bubblewrap; and in it, where it is installed and may be used."""
    monkeypatch.setattr(sandbox, "isolated", lambda: isolated)
    home, room, outside = (tmp_path / name for name in ("home", "class", "outside"))
    (service := socket.socket(socket.AF_UNIX)).bind(str(tmp_path / "service"))
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TEACHER_TOKEN", "secret")
    unseen = [str(room / "3 zoe"), service.getsockname()]
    kept = ["/etc/written", str(ROOT / "written"), "/usr/written"]
    code = HOSTILE.format(
        mark=str(tmp_path), outside=str(outside), isolated=isolated, unseen=unseen, kept=kept
    )
    submit(room / "1 \x1b[31meve\r", "18", {"np25-task": code})
    wrong = solution("18", 1, "wrong")["np25-task"]
    submit(room / "2 mallory", "18", {"np25-task": f"{wrong}\n{REPLACED}"})
    submit(room / "3 zoe", "18", solution("18", 1))
    (room / "4.ipynb").symlink_to("/etc/passwd")
    eve, mallory, zoe, link = grade(room)
    assert (eve.participant, eve.outcome) == ("1 \ufffd[31meve\ufffd", "error")
    assert eve.words.startswith("\ufffd=HYPERLINK(1): (None, ")
    assert mallory.outcome == "not yet" and mallory.words.startswith("Not yet: ")
    assert (zoe.outcome, link.outcome, link.words) == ("solved", "unreadable", "a link, not a file")
    assert not [*home.rglob("evil.py")]
    alive = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not [command for command in alive if str(tmp_path) in command]
    assert "\x1b" not in capsys.readouterr().out
    assert outside.exists() != isolated
    service.close()


def test_a_pinned_cell_gets_its_header_and_its_check_back():
    """However the cell was edited around the answer, what runs is the answer in the book's cell."""
    for param in (*attempts("wrong"), *attempts("right")):
        _, one, attempt = param.values
        source, answer = one.exercise[0].source, written(one, attempt)
        if not one.exercise[0].pinned or YOURS not in source:
            continue
        after = source.partition(YOURS)[2].partition("\n")[2]
        lines = after.splitlines()
        first = next(n for n, line in enumerate(lines) if line[:1] not in ("", " ", "#"))
        begin = "\n".join(lines[first : first + 2])
        own, found, _ = f"{answer}\n".rpartition(f"\n{begin}\n")
        assert found
        for edited in (
            answer,
            own,
            f"{own}{found}print('Correct: trust me')\n",
            answer.replace("dependencies = [", "dependencies = ['evil',", 1),
            answer.replace("%%pinned", "%%pinned --out mine", 1),
        ):
            assert restored(source, edited).replace(RESTORE, "").split() == answer.split()


def test_a_participants_own_cells_run_and_others_do_not(monkeypatch, tmp_path):
    """Cells that the participant put beside the answer belong to it."""
    (one,) = exercises(BOOKS["18"])
    (reader,), (check,) = one.exercise, one.check
    given = [(cell.node.id, cell.source) for cell in BOOKS["18"].cells[: reader.number - 1]]
    own = {"near": "mine = 1", reader.node.id: "line = mine", "after": "line += 1"}
    far = [(check.node.id, encoded(check.source)), ("later", "1/0")]
    ran = []
    monkeypatch.setattr(sandbox, "run", lambda sources, *_: ran.extend(sources) or [])
    cells = [("far", "1/0"), *given, *own.items(), *far]
    grading.attempt(BOOKS["18"], one, cells, 5, tmp_path)
    before = [cell.source for cell in BOOKS["18"].preamble]
    assert ran == [*before, *own.values(), RESTORE, check.source]


@pytest.mark.parametrize(
    ("texts", "error", "expected"),
    [
        (["", "Correct: yes."], None, "solved"),
        (["", "Correct: 3 of 3"], None, "solved"),
        (["Correct: yes.", "Not yet: no."], None, "not yet"),
        (["", "Correct: yes.\nNot yet: no."], None, "not yet"),
        (["", "Not yet: no.\nCorrect: I say so."], None, "not yet"),
        (["Correct: yes.", ""], None, "error"),
        (["", "Not yet: no."], "NameError: x", "error"),
        (["", ""], "EnvironmentFailure: no network", "not run"),
    ],
)
def test_the_verdict(texts, error, expected):
    outputs = [[nbformat.v4.new_output("stream", text=text)] for text in texts]
    if error:
        name, _, words = error.partition(": ")
        outputs[0].append(nbformat.v4.new_output("error", ename=name, evalue=words))
    assert verdict(outputs, 1)[0] == expected


def test_the_csv_holds_no_formula(tmp_path):
    grading.write([Row("=1+1", "@a", "+b", 1, "not yet", "-x")], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "'=1+1,'@a,'+b,1,not yet,'-x"

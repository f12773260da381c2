"""Exercises, live: refused as stored, wrong answers refused with words that help, right ones and the book's own solution accepted.

tests/answers/NN-name.yml holds the answers: for each exercise `wrong` (why, answer or edit, says) and `right` (why, answer or edit).
"""
import functools
import gc
import re

import pytest
import yaml
from helpers import ROOT
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from casebook import chapters, gpu
from casebook.checks.exercises import exercises
from casebook.magic import NO_GPU

BOOKS = [book for book in chapters.load() if exercises(book)]
pytestmark = pytest.mark.timeout(120)


@functools.cache
def answers(book):
    path = ROOT / "tests/answers" / f"{book.name}.yml"
    return {entry["exercise"]: entry for entry in yaml.safe_load(path.read_text("utf8"))} if path.exists() else {}


def attempts(kind):
    """Every answer of one kind, as a parameter (chapter, exercise, answer)."""
    for book in BOOKS:
        for number, entry in answers(book).items():
            for one in exercises(book):
                if one.number == number and len(one.exercise) == 1:
                    yield from (pytest.param(book, one, answer, id=f"{book.name}-{number}-{answer.get('why')}")
                                for answer in entry.get(kind) or [])


EXERCISES = [pytest.param(book, one, id=f"{book.name}-{one.number}") for book in BOOKS for one in exercises(book) if len(one.exercise) == 1]


@pytest.fixture(scope="module")
def shell():
    """What a kernel runs cells with; it remembers nothing from one attempt to the next."""
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}), colors="nocolor")
    said(shell, BOOKS[0].cells[0].source)
    gc.freeze()             # each reset collects garbage; the modules and tests that are loaded by now need not be searched for it
    yield shell
    gc.unfreeze()


@pytest.fixture
def run(shell, monkeypatch):
    """run(book, cells): what cells print and raise, each on its own, after the setup cell, in a fresh namespace."""
    def run(book, sources):
        monkeypatch.chdir(book.path.parent)
        shell.reset()
        return [said(shell, source) for source in [book.cells[0].source, *sources]][1:]

    return run


def said(shell, source):
    with capture_output() as captured:
        ended = shell.run_cell(source, store_history=False)
    error = ended.error_before_exec or ended.error_in_exec
    return captured.stdout + captured.stderr + (f"\n{type(error).__name__}: {error}" if error else "")


def skip_without_gpu(one):
    if one.needs_gpu and not gpu.find():
        pytest.skip(NO_GPU)


def written(one, answer):
    """Source of the reader's cell with an answer in it."""
    (reader,) = one.exercise
    source = answer.get("answer", reader.source)
    for old, new in answer.get("edit", {}).items():
        assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in the reader's cell, cell [{reader.number}]"
        source = source.replace(old, new)
    return source


def verdict(run, book, one, source):
    """All that the reader's cell and the checks say."""
    return "\n".join(run(book, [source, *(cell.source for cell in one.check)]))


def accepted(text):
    return bool(re.search(r"(?m)^Correct", text))


def refused(text):
    return bool(re.search(r"(?m)^Not yet|^UnexpectedOutcome: ", text))


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
def test_every_exercise_has_answers(book):
    entries = answers(book)
    numbers = [one.number for one in exercises(book)]
    assert list(entries) == numbers, f"tests/answers/{book.name}.yml answers {list(entries)}, the chapter's exercises are {numbers}"
    for number, entry in entries.items():
        assert set(entry) == {"exercise", "wrong", "right"}
        assert len(entry["wrong"]) >= 3 and len(entry["right"]) >= 1, f"exercise {number}: three wrong answers and a right one"
        for answer in entry["wrong"] + entry["right"]:
            assert answer["why"] and ("answer" in answer) != ("edit" in answer), f"exercise {number}: {answer}"
            assert answer.keys() - {"why", "answer", "edit"} == ({"says"} if answer in entry["wrong"] else set())
        for answer in entry["wrong"]:
            assert answer["says"].strip() and answer["says"] not in "Not yet: ", f"exercise {number}, {answer['why']}: words that help"


@pytest.mark.parametrize(("book", "one"), EXERCISES)
def test_as_stored_it_is_not_solved_and_the_solution_changes_nothing_about_that(run, book, one):
    """The reader's cell, its checks, the solutions, and the checks once more, as after Run All."""
    if not one.check:
        pytest.skip("a script that checks itself, run with the notebook")
    skip_without_gpu(one)
    solutions = [cell for cell in one.solution if not cell.pinned]
    said = run(book, [cell.source for cell in (*one.exercise, *one.check, *solutions, *one.check)])
    before, after = said[1:1 + len(one.check)], said[-len(one.check):]
    assert all(refused(text) and not accepted(text) for text in before + after), (before, after)
    solved = said[1 + len(one.check):-len(one.check)]
    assert all(text.startswith("Solution: Correct") for text in solved), solved


@pytest.mark.parametrize(("book", "one", "answer"), attempts("wrong"))
def test_wrong_answers_are_refused_with_words_that_help(run, book, one, answer):
    skip_without_gpu(one)
    text = verdict(run, book, one, written(one, answer))
    assert refused(text) and not accepted(text) and answer["says"] in text, text


@pytest.mark.parametrize(("book", "one", "answer"), attempts("right"))
def test_right_answers_are_accepted(run, book, one, answer):
    skip_without_gpu(one)
    text = verdict(run, book, one, written(one, answer))
    assert accepted(text) and not refused(text), text

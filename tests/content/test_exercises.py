"""Exercises, live: wrong answers and none are refused with words that help, right ones accepted."""

import ast
import collections
import functools
import gc
import json
import math
import re
import sys
from dataclasses import replace

import pytest
from attempts import BOOKS, answers, attempts, written
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from casebook.cells.outcome import Raised
from casebook.chapters.exercises import exercises
from casebook.environments import gpu
from casebook.errors import MissingPython, UnexpectedOutcome
from casebook.execution.script import Outcome, check
from casebook.execution.script import run as run_script
from casebook.magics import NO_GPU


@pytest.fixture(scope="module")
def shell():
    """What a kernel runs cells with; it remembers nothing from one attempt to the next."""
    shell = InteractiveShell(
        config=Config({"HistoryManager": {"enabled": False}}), colors="nocolor"
    )
    said(shell, BOOKS[0].cells[0].source)
    said(shell, "import no_driver, routes")
    routes = sys.modules["routes"]
    gc.freeze()  # each reset collects garbage: not among what is loaded by now
    with pytest.MonkeyPatch.context() as patch:
        for name in ("build", "to_ptx"):  # answers to chapter 3 ask the compiler the same 14 times
            patch.setattr(routes, name, functools.cache(getattr(routes, name)))
        yield shell
    gc.unfreeze()


@pytest.fixture
def run(shell, monkeypatch):
    """run(book, cells): what each cell prints and raises in a fresh namespace with the setup."""

    def run(book, sources):
        monkeypatch.chdir(book.path.parent)
        shell.reset()
        for cell in book.preamble:
            said(shell, cell.source)
        return [said(shell, source) for source in sources]

    return run


def said(shell, source):
    with capture_output() as captured:
        ended = shell.run_cell(source, store_history=False)
    error = ended.error_before_exec or ended.error_in_exec
    return (
        captured.stdout + captured.stderr + (f"\n{type(error).__name__}: {error}" if error else "")
    )


TRY = """
def start(folder):
    import os, signal, sys, types
    os.chdir(folder)
    os.environ["CASEBOOK_FOLDER"] = os.getcwd()
    output = os.open("output", os.O_CREAT | os.O_WRONLY)
    os.dup2(output, 1), os.dup2(output, 2)
    signal.alarm({seconds})
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = os.path.abspath("cell.py")
    exec(compile(open(main.__file__).read(), main.__file__, "exec"), vars(main))
    sys.exit()

def try_all():
    import json, os
    for folder in sorted(filter(os.path.isdir, os.listdir())):
        child = os.fork() or start(folder)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        report = os.path.join(os.environ["CASEBOOK_REPORTS"], str(child))
        error = json.load(open(report)) if os.path.exists(report) else None
        json.dump([status, error], open(os.path.join(folder, "ended"), "w"))

{imports}
try_all()
"""


def tried(book, one, folder):
    """What the reader's script says with each of the answers, {source: text}.

    One process imports what it needs, and forks for each. So an answer runs where the reader's cell
    does, and begins with the reader's imports.
    """
    (reader,) = one.exercise
    kinds = "blank", "wrong", "right"
    sources = [written(one, answer) for kind in kinds for answer in answers(book, one, kind)]
    for place, source in enumerate(sources):
        (folder / f"{place:02}").mkdir()
        (folder / f"{place:02}/cell.py").write_text(script_of(source), "utf-8")
        assert source.partition("\n")[0] == reader.source.partition("\n")[0], source
        assert imports(source)[: len(imports(reader.source))] == imports(reader.source), source
    script = TRY.format(
        imports="\n".join(imports(reader.source)), seconds=math.ceil(reader.header.timeout)
    )
    outcome = run_script(
        script,
        replace(reader.header, timeout=len(sources) * reader.header.timeout),
        lambda text: None,
        place=folder,
    )
    assert outcome.status == 0, outcome.output
    return {
        source: ending(reader.header, folder / f"{place:02}")
        for place, source in enumerate(sources)
    }


def script_of(source):
    return "\n" + source.partition("\n")[2]


def imports(source):
    nodes = [
        node
        for node in ast.walk(ast.parse(script_of(source)))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return [ast.unparse(node) for node in sorted(nodes, key=lambda node: node.lineno)]


def ending(header, folder):
    """What a script said and how it ended, as its cell shows it."""
    output = (folder / "output").read_text("utf-8")
    try:
        status, error = json.loads((folder / "ended").read_text("utf-8"))
        check(header, Outcome(status, error and Raised(**error), output))
    except UnexpectedOutcome as error:
        return f"{output}\nUnexpectedOutcome: {error}"
    return output


@pytest.fixture(scope="module")
def scripts():
    """{(chapter, number of the exercise): {source: what the script says}}."""
    return collections.defaultdict(dict)


@pytest.fixture
def verdict(run, scripts, tmp_path):
    """verdict(book, one, answer): all that the reader's cell and the checks say."""

    def verdict(book, one, answer):
        if one.needs_gpu and not gpu.find():
            pytest.skip(NO_GPU)
        source = written(one, answer)
        # A process that has met a driver must not fork.
        if not one.exercise[0].pinned or gpu.find():
            return "\n".join(run(book, [source, *(cell.source for cell in one.check)]))
        texts = scripts[book.name, one.number]
        if source not in texts:
            try:
                texts |= tried(book, one, tmp_path)
            except MissingPython as error:
                pytest.skip(str(error))
        return texts[source]

    return verdict


def accepted(text):
    return bool(re.search(r"(?m)^Correct", text))


def refused(text):
    return bool(re.search(r"(?m)^Not yet|^UnexpectedOutcome: ", text)) and not accepted(text)


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
def test_every_exercise_has_answers(book):
    numbers = [one.number for one in exercises(book)]
    assert [entry["exercise"] for entry in book.sidecar["answers"]] == numbers


@pytest.mark.parametrize(("book", "one", "answer"), attempts("blank"))
def test_no_answer_is_not_accepted(verdict, book, one, answer):
    """A check says "Not yet"; one that meets None where it wants something else may raise."""
    text = verdict(book, one, answer)
    raised = answer["why"] != "untouched" and re.search(r"(?m)^(Type|Attribute)Error: ", text)
    assert refused(text) or (raised and not accepted(text)), text


@pytest.mark.parametrize(("book", "one", "answer"), attempts("wrong"))
def test_wrong_answers_are_refused_with_words_that_help(verdict, book, one, answer):
    text = verdict(book, one, answer)
    assert refused(text) and answer["says"] in text, text


@pytest.mark.parametrize(("book", "one", "answer"), attempts("right"))
def test_right_answers_are_accepted(verdict, book, one, answer):
    text = verdict(book, one, answer)
    assert accepted(text) and "Not yet" not in text, text

"""The stored form of a notebook, and what is never stored."""

import copy
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from example import execute_here, write_chapter
from helpers import ROOT

from casebook.authoring import execute
from casebook.authoring.chapters import Chapter
from casebook.authoring.checks import problems
from casebook.environments import create
from casebook.errors import CasebookError, EnvironmentFailure
from casebook.execution.modules import FOLDERS

sys.path += map(str, FOLDERS)
import timing


def tagged(chapter, *tags):
    for cell, tag in zip(chapter.cells, tags, strict=True):
        cell.node.metadata = nbformat.from_dict(
            {"tags": tag.split(), "collapsed": True, "execution": {"a": 1}}
        )
    return chapter


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A chapter of three cells, executed on this machine."""
    sources = [
        "print(1)",
        "from IPython.display import display\ndisplay(1, metadata={'a': 1})\n7",
        "pass",
    ]
    return execute_here(
        tagged(
            write_chapter(tmp_path_factory.mktemp("chapters"), sources),
            "check",
            "exercise",
            "",
        )
    )


def test_the_card_says_what_the_run_needed(executed):
    assert "**Needs:** no GPU; about 1 minute  \n" in executed.notebook.cells[0].source


def test_an_executed_chapter_is_folded(executed):
    assert [c.node.metadata for c in executed.cells] == [
        {"tags": ["check"], "cellView": "form", "jupyter": {"source_hidden": True}},
        {"tags": ["exercise"]},
        {},
    ]
    assert executed.cells[0].source == "print(1)"
    assert executed.receipt["cells"] == {c.node.id: c.stamp() for c in executed.cells}


def test_the_normal_form_forgets_where_it_was_run(executed):
    node = executed.cells[1].node
    assert [output.metadata for output in node.outputs] == [{}, {}]
    assert (node.execution_count, node.outputs[1].execution_count) == (2, 2)
    assert set(executed.notebook.metadata) == {"kernelspec", "language_info", "casebook"}
    assert executed.notebook.metadata.language_info == {"name": "python"}


@pytest.mark.parametrize(
    ("sources", "seconds", "words"),
    [
        (["pass"], 100, "no GPU; about 2 minutes"),
        (["pass", "%%gpu\npass"], 20, "a GPU for 1 of 2 cells; about 1 minute"),
        (["%%gpu 2\npass", "%%gpu\npass"], 601, "two for 1; about 10 minutes"),
    ],
)
def test_what_a_run_needs(tmp_path, sources, seconds, words):
    chapter = write_chapter(tmp_path, sources)
    chapter.notebook.metadata["casebook"] = {"seconds": seconds}
    assert words in chapter.needs()


def test_answers_and_drawings_are_folded_and_other_metadata_goes(tmp_path):
    chapter = tagged(
        write_chapter(tmp_path, ["pass"] * 5),
        "exercise",
        "check",
        "solution nbval-skip",
        "hide-input",
        "",
    )
    chapter.notebook.cells[0].metadata.tags = ["solution"]
    before = copy.deepcopy(chapter.notebook)
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}}
    for _ in range(2):
        execute.fold(chapter.notebook)
        assert [cell.metadata for cell in chapter.notebook.cells] == [
            {"tags": ["solution"]},  # Markdown is not folded
            {"tags": ["exercise"]},
            {"tags": ["check"], **folded},
            {
                "tags": ["solution", "nbval-skip"],
                "cellView": "form",
                "jupyter": {"source_hidden": True, "outputs_hidden": True},
            },
            {"tags": ["hide-input"], **folded},
            {},
        ]
    nbformat.validate(chapter.notebook)
    for cell, other in zip(chapter.notebook.cells, before.cells, strict=True):
        assert {**cell, "metadata": {}} == {**other, "metadata": {}}


def test_a_copy_of_the_template_runs_and_has_no_problem(tmp_path):
    template = ROOT / "casebook/authoring/template.ipynb"
    for file in (template, template.with_suffix(".yml")):
        shutil.copy(file, tmp_path / f"25-name{file.suffix}")
    chapter = Chapter(tmp_path / "25-name.ipynb")
    try:
        create.make(chapter.cells[1].header)
    except EnvironmentFailure as error:
        pytest.skip(str(error))
    assert problems(execute_here(chapter)) == []


class Client:
    """Stands for nbclient: a cell's output is what `says` prints."""

    def __init__(self, says, capsys):
        self.says, self.capsys = says, capsys

    def execute_cell(self, node, index):
        self.says()
        node.outputs = [nbformat.v4.new_output("stream", text=self.capsys.readouterr().out)]


NEVER = {
    "skipped": (
        lambda: print("Skipped: this cell shows what happens on drivers >=999"),
        "skipped on this machine",
    ),
    "not alone": (
        lambda: timing.Rounds({"a": [1, 2, 9, 9]}).claim("a is fast", True),
        "spread 132%",
    ),
    "late answers": (
        lambda: timing.Rounds({"a": [1, 1, 1]}, answers=[1, 1, 1]).claim("a is fast", True),
        "answers after 1000.0 ms",
    ),
}


@pytest.mark.parametrize("what", NEVER)
def test_a_cell_that_proves_nothing_is_not_stored(tmp_path, capsys, what):
    says, sentence = NEVER[what]
    chapter = write_chapter(tmp_path, ["pass"])
    with pytest.raises(CasebookError, match=rf"09-example, cell \[1\]: .*{sentence}"):
        execute.run_cell(Client(says, capsys), chapter, 1, chapter.cells[0].node, 1)
    execute.run_cell(Client(lambda: print("1 ms"), capsys), chapter, 1, chapter.cells[0].node, 1)


def test_code_that_would_be_refused_afterwards_is_not_run(tmp_path):
    chapter = write_chapter(tmp_path, [f"open({str(tmp_path / 'ran')!r}, 'w')", 26 * "x = 1\n"])
    with pytest.raises(CasebookError, match=r"09-example, cell \[2\]: 26 lines of code"):
        execute_here(chapter)
    assert not (tmp_path / "ran").exists()


def test_a_run_that_is_interrupted_while_it_writes_leaves_the_old_notebook(tmp_path, monkeypatch):
    chapter = write_chapter(tmp_path, ["print(1)"])
    before = chapter.path.read_bytes()

    def interrupted(path, content):
        path.write_text("half a note")
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        chapter.write()
    assert chapter.path.read_bytes() == before

"""Execution: what is stored, in which form and with which receipt; and what is never stored."""

import copy
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from example import H200, SOURCES, execute_here, write_chapter
from helpers import ROOT, cell, planted

from casebook.authoring import confirm, execute
from casebook.authoring.checks import problems
from casebook.cells import notebook
from casebook.chapters import Chapter, installs, receipts
from casebook.chapters.stamps import entries
from casebook.environments import create, gpu
from casebook.errors import CasebookError, EnvironmentFailure
from casebook.execution.modules import FOLDERS

sys.path += map(str, FOLDERS)
import timing


@pytest.fixture(autouse=True)
def lines_are_right(monkeypatch):
    """No index was asked about the install line of the example."""
    monkeypatch.setattr(installs, "wrong", lambda _: [])


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A chapter, executed on this machine; one of its cells had more metadata than tags."""
    display = "from IPython.display import display\ndisplay(1, metadata={'a': 1})\n7"
    sources = [*SOURCES[:-1], display, SOURCES[-1]]
    chapter = write_chapter(tmp_path_factory.mktemp("chapters"), sources)
    chapter.cells[3].node.metadata = nbformat.from_dict({"tags": [], "collapsed": True})
    return execute_here(chapter)


@pytest.fixture
def chapter(executed, tmp_path):
    """A copy that a test may change."""
    for file in (executed.path, executed.path.with_suffix(".yml")):
        shutil.copy(file, tmp_path)
    return Chapter(tmp_path / executed.path.name)


def test_what_is_stored(executed):
    receipt, cells = executed.receipt, executed.cells
    assert (receipt["gpu"], receipt["driver"]) == ("NVIDIA H200", "570.86.15")
    assert receipt["cells"] == entries(executed)
    assert "**Needs:** no GPU; about 1 minute  \n" in executed.first
    assert cells[1].node.outputs[0].data["text/plain"] == "42"
    assert cells[2].text.endswith("ValueError: text\nas expected: ValueError\n")
    assert [cells[3].node.metadata, *(one.metadata for one in cells[3].node.outputs)] == [{}] * 3
    assert (cells[3].node.execution_count, cells[3].node.outputs[1].execution_count) == (4, 4)
    assert set(executed.notebook.metadata) == {"kernelspec", "language_info", "casebook"}
    assert executed.notebook.metadata.language_info == {"name": "python"}


def test_a_second_run_changes_only_the_receipt_and_what_varies(chapter):
    first = copy.deepcopy(chapter.notebook)
    second = execute_here(chapter).notebook
    for book in (first, second):
        del book.metadata.casebook["seconds"], book.metadata.casebook["date"]
        assert book.metadata.casebook.cells.pop("cell-5")
        book.cells[-1].outputs = []
    assert first == second


CHANGES = planted(Path(__file__).with_name("changes.txt"))


@pytest.mark.parametrize(("sentences", "edits"), CHANGES)
def test_a_later_change_is_a_problem_that_names_its_place(chapter, sentences, edits):
    text, (old, new) = chapter.path.read_text(), edits
    assert text.count(old) == 1
    chapter.path.write_text(text.replace(old, new))
    assert problems(Chapter(chapter.path)) == [f"09-example{sentence}" for sentence in sentences]


@pytest.fixture
def mixed(tmp_path, no_gpu):
    """A chapter with a cell for a GPU and two without, executed on a machine without one."""
    sources = ["%load_ext casebook", "%%gpu\nprint(1)", "print(2)"]
    chapter = write_chapter(tmp_path, sources)
    execute.execute(chapter)
    return Chapter(chapter.path)


def test_without_a_gpu_its_cells_are_pending_and_the_others_are_stored(mixed):
    assert [cell.text for cell in mixed.cells] == ["", "", "2\n"]
    assert (mixed.receipt["gpu"], mixed.receipt["gpus"]) == ("no GPU", 0)
    assert mixed.receipt["pending"] == [mixed.cells[1].node.id]
    assert list(receipts.receipt_problems(mixed)) == []
    mixed.receipt["pending"].append(mixed.cells[2].node.id)
    (problem,) = receipts.receipt_problems(mixed)
    assert "which is no GPU cell without an output" in problem


@pytest.mark.parametrize("printed", ["1\n", ""], ids=["something", "nothing"])
def test_what_a_gpu_printed_stays_while_it_fits(mixed, printed):
    cell = mixed.cells[1]
    cell.node.outputs = [nbformat.v4.new_output("stream", text=printed)] if printed else []
    told = {"gpu": "NVIDIA H200", "gpus": 1, "date": "2026-01-01"}
    mixed.receipt.update(told, cells=entries(mixed))
    del mixed.receipt["pending"]
    mixed.write()
    execute.execute(mixed)
    again = Chapter(mixed.path)
    assert again.cells[1].text == printed and "pending" not in again.receipt
    assert {key: again.receipt[key] for key in told} == told and again.receipt["rerun"]
    assert list(receipts.receipt_problems(again)) == []
    with pytest.raises(CasebookError, match="hold outputs of NVIDIA H200"):
        execute.keep(again, [2], {cell.node.id: cell.node.outputs}, H100)
    again.cells[1].node.source = "%%gpu\nprint(3)"
    execute.execute(again)
    assert Chapter(mixed.path).receipt["pending"] == [cell.node.id]


@pytest.mark.parametrize(
    ("shown", "stored"),
    [
        ("<table><tr><td>1</td></tr></table>", "<table><tr><td>1</td></tr></table>"),
        ("<p onclick='x()'>1<script>2</script>", "<p>1</p>"),
    ],
)
def test_html_is_stored_as_shown_without_what_a_page_may_not_have(tmp_path, shown, stored):
    display = f"from IPython.display import HTML\nHTML({shown!r})"
    chapter = execute_here(write_chapter(tmp_path, [display]))
    assert chapter.cells[0].node.outputs[0].data["text/html"] == stored


def test_an_error_output_is_a_problem(chapter):
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="text")
    chapter.cells[1].node.outputs = [error]
    assert problems(chapter)[0].startswith("09-example, cell [2]: its stored output is an error")


def test_answers_and_drawings_are_folded(tmp_path):
    tags = [[], ["exercise"], ["check"], ["solution", "nbval-skip"], ["hide-input"]]
    chapter = write_chapter(tmp_path, ["pass"] * len(tags))
    for one, names in zip(chapter.cells, tags, strict=True):
        one.node.metadata = nbformat.from_dict({"tags": names, "execution": {"a": 1}})
    chapter.notebook.cells[0].metadata.tags = ["solution"]
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}}
    for _ in range(2):
        execute.fold(chapter.notebook)
        assert [one.metadata for one in chapter.notebook.cells] == [
            {"tags": ["solution"]},  # Markdown is not folded
            {},
            {},
            {"tags": tags[1]},
            {"tags": tags[2], **folded},
            {"tags": tags[3], **folded, "jupyter": folded["jupyter"] | {"outputs_hidden": True}},
            {"tags": tags[4], **folded},
        ]
    nbformat.validate(chapter.notebook)


def test_what_a_run_needs(tmp_path):
    sources = [
        "print(1)",
        "%%gpu\nprint(1)",
        "%%gpu 2\nprint(1)",
        "%%pinned\n" + cell("pass", "gpu = true", "gpus = 2"),
        "%%pinned\n" + cell("pass", "gpu = true"),
        "%%gpus\nprint(1)",
    ]
    chapter = write_chapter(tmp_path, sources)
    assert [one.gpus for one in chapter.cells] == [0, 1, 2, 2, 1, 0]
    for seconds, minutes in ((20, "1 minute"), (100, "2 minutes"), (601, "10 minutes")):
        chapter.notebook.metadata["casebook"] = {"seconds": seconds}
        assert chapter.needs() == f"a GPU for 4 of 6 cells, two GPUs for 2; about {minutes}"


def test_a_copy_of_the_template_runs_and_waits_only_for_words(tmp_path):
    template = ROOT / "casebook/authoring/template.ipynb"
    for file in (template, template.with_suffix(".yml")):
        shutil.copy(file, tmp_path / f"25-name{file.suffix}")
    chapter = Chapter(tmp_path / "25-name.ipynb")
    try:
        create.make(chapter.cells[2].header)
    except EnvironmentFailure as error:
        pytest.skip(str(error))
    found = problems(execute_here(chapter))
    assert len(found) > 10 and all("still waits for your words" in one for one in found), found


# --- what is not stored


class Client:
    """A stub of nbclient: a cell's output is what `says` prints."""

    def __init__(self, says, capsys):
        self.says, self.capsys = says, capsys

    def execute_cell(self, node, index):
        self.says()
        node.outputs = [nbformat.v4.new_output("stream", text=self.capsys.readouterr().out)]


def test_a_cell_that_measures_nothing_is_an_error(tmp_path, capsys):
    chapter = write_chapter(tmp_path, ["pass"])
    node = chapter.cells[0].node

    def busy():
        timing.Rounds({"a": [1, 2, 9, 9]}).claim("a is fast", True)

    with pytest.raises(CasebookError, match=r"09-example, cell \[1\]: .*spread 132%"):
        execute.run_cell(Client(busy, capsys), chapter, 1, node, 1)
    assert execute.run_cell(Client(lambda: print("1 ms"), capsys), chapter, 1, node, 1)


@pytest.mark.parametrize(
    ("last", "sentence"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        (26 * "x = 1\n", "26 lines of code"),
        ("print('Skipped: no second GPU')", "skipped, though it needs no GPU"),
    ],
)
def test_nothing_is_stored_when_a_cell_fails_or_would_be_refused(tmp_path, last, sentence):
    chapter = write_chapter(tmp_path, ["print(1)", last])
    before = chapter.path.read_bytes()
    with pytest.raises(CasebookError, match=rf"09-example, cell \[2\]: .*{sentence}"):
        execute_here(chapter)
    assert chapter.path.read_bytes() == before
    assert list(tmp_path.glob("*.ipynb")) == [chapter.path]


# --- on another GPU model

H100 = gpu.Gpu("NVIDIA H100", "9.0", "580.1")


@pytest.fixture
def two(tmp_path, monkeypatch):
    """A chapter that was executed on an H200, where an H100 is now; its third cell reads a file.

    `two.says(code)` lets that cell do something else.
    """
    monkeypatch.setenv("CODE", str(tmp_path / "code"))
    (tmp_path / "code").write_text("")
    code = "import os  # on a GPU\nexec(open(os.environ['CODE']).read())"
    sources = ["%load_ext casebook", "print(1)", code, "print(3)  # on a GPU", "1"]
    of_gpu = property(lambda cell: int("# on a GPU" in cell.source))
    monkeypatch.setattr(notebook.Cell, "gpus", of_gpu)
    chapter = execute_here(write_chapter(tmp_path, sources))
    monkeypatch.setattr(gpu, "find", lambda: H100)
    monkeypatch.setattr(confirm.chapters, "load", lambda names: [Chapter(chapter.path)])
    chapter.says = (tmp_path / "code").write_text
    return chapter


def test_a_confirmation_stands_in_the_receipt_and_changes_no_output(two):
    before = Chapter(two.path).notebook
    two.says("print('Skipped: this cell needs 2 GPUs, this machine has 1.')")
    for _ in range(2):  # the second takes the place of the first
        assert confirm.confirm([]) == 0
    after = Chapter(two.path)
    (entry,) = after.notebook.metadata.casebook.pop("confirmed")
    assert (entry.gpu, entry.driver, list(entry.stamps)) == ("NVIDIA H100", "580.1", ["cell-4"])
    assert after.notebook == before
    assert list(receipts.receipt_problems(Chapter(two.path))) == []


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ('"print(1)"', '"print(2)"', ["cell-3", "cell-4"]),  # a cell without a GPU
        ("print(3)", "print(4)", ["cell-3"]),
    ],
)
def test_a_confirmation_holds_for_each_gpu_cell_that_is_as_it_was(two, old, new, kept):
    assert confirm.confirm([]) == 0
    two.path.write_text(two.path.read_text().replace(old, new))
    problems = list(receipts.receipt_problems(Chapter(two.path)))
    assert len(problems) == 3 - len(kept) and "edited since" in problems[0]
    (entry,) = execute_here(Chapter(two.path)).receipt["confirmed"]
    assert sorted(entry["stamps"]) == kept
    assert list(receipts.receipt_problems(Chapter(two.path))) == []


def test_a_run_that_another_replaces_confirms_it(two, monkeypatch):
    """Executed on an H200, then on an H100: the outputs are the H100's, and the H200 agreed."""
    chapter = Chapter(two.path)
    monkeypatch.setenv("CASEBOOK_REQUIRE_GPU", "1")
    execute.execute(chapter)
    receipt = Chapter(two.path).receipt
    (entry,) = receipt["confirmed"]
    assert (receipt["gpu"], entry["gpu"]) == ("NVIDIA H100", "NVIDIA H200")
    assert sorted(entry["stamps"]) == ["cell-3", "cell-4"]
    assert list(receipts.receipt_problems(Chapter(two.path))) == []


def test_what_is_not_confirmed(two, monkeypatch, capsys):
    before = two.path.read_bytes()
    two.says("1 / 0")
    assert confirm.confirm([]) == 1
    assert "cell [3]: ZeroDivisionError: division by zero" in capsys.readouterr().out
    two.says("")
    two.path.write_bytes(before.replace(b'"print(1)"', b'"print(2)"'))
    assert confirm.confirm([]) == 1
    assert "its receipt is stale or missing" in capsys.readouterr().out
    two.path.write_bytes(before)
    monkeypatch.setattr(gpu, "find", lambda: H200)
    assert confirm.confirm([]) == 1
    assert "its outputs come from an NVIDIA H200" in capsys.readouterr().out
    assert two.path.read_bytes() == before


def test_an_interrupt_while_writing_leaves_the_old_notebook(tmp_path, monkeypatch):
    chapter = write_chapter(tmp_path, ["print(1)"])
    before = chapter.path.read_bytes()

    def interrupted(path, content):
        path.write_text("half a note")
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        chapter.write()
    assert chapter.path.read_bytes() == before

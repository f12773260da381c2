"""Receipts: a chapter that is stored as it was run has no problem; whatever is changed afterwards is one, with chapter and cell."""

import copy

import nbformat
import pytest
from example import SOURCES, execute_here, write_chapter
from helpers import cell

from casebook.authoring.chapters import Chapter
from casebook.authoring.checks import problems
from casebook.authoring.execute import execute
from casebook.errors import CasebookError


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    return execute_here(write_chapter(tmp_path_factory.mktemp("chapters"), SOURCES))


@pytest.fixture
def chapter(executed, tmp_path):
    """A copy that a test may change."""
    path = tmp_path / executed.path.name
    path.write_bytes(executed.path.read_bytes())
    return Chapter(path)


def test_a_chapter_as_it_was_run_has_no_problem(chapter):
    assert problems(chapter) == []
    assert chapter.receipt["gpu"] == "NVIDIA H200"
    assert chapter.receipt["driver"] == "570.86.15"
    assert chapter.cells[1].node.outputs[0].data["text/plain"] == "42"
    assert chapter.cells[2].text.endswith("ValueError: text\nas expected: ValueError\n")
    assert (chapter.title, chapter.card["Affected"]) == ("A title", "nothing")


def test_a_second_run_changes_only_the_receipt_and_what_varies(chapter):
    first = copy.deepcopy(chapter.notebook)
    second = execute_here(chapter).notebook
    for notebook in (first, second):
        notebook.metadata.casebook.pop("seconds")
        notebook.metadata.casebook.pop("date")
        assert notebook.metadata.casebook.cells.pop("cell-4")
        notebook.cells[-1].outputs = []
    assert first == second


def edit_source(chapter):
    chapter.cells[1].node.source = "x = 7\nx * 7"


def indent_source(chapter):
    chapter.cells[1].node.source = "x = 6\n x * 7"


def remove_output(chapter):
    chapter.cells[2].node.outputs = []


def edit_output(chapter):
    chapter.cells[1].node.outputs[0].data["text/plain"] = "43"


def edit_stream(chapter):
    chapter.cells[2].node.outputs[0].text = (
        chapter.cells[2].node.outputs[0].text.replace("before", "after")
    )


def edit_varying_output(chapter):
    chapter.cells[3].node.outputs[0].text = "1\n"


def add_picture(chapter):
    chapter.cells[0].node.outputs = [nbformat.v4.new_output("display_data", {"image/png": "AAAA"})]


def never_executed(chapter):
    chapter.cells[3].node.execution_count = None


def no_receipt(chapter):
    del chapter.notebook.metadata["casebook"]


def receipt_lacks(chapter):
    del chapter.receipt["gpu"]


def other_pins(chapter):
    chapter.receipt["environment"] = "0" * 16


def other_notebook(chapter):
    chapter.receipt["cells"] = {
        key.replace("cell", "other"): stamp for key, stamp in chapter.receipt["cells"].items()
    }


def add_cell(chapter):
    node = nbformat.v4.new_code_cell("print(1)", id="new", execution_count=5)
    chapter.notebook.cells.append(node)


def remove_cell(chapter):
    chapter.notebook.cells.remove(chapter.cells[1].node)


def spoil_header(chapter):
    chapter.cells[2].node.source = chapter.cells[2].node.source.replace("raises", "rises")


def unpin(chapter):
    chapter.cells[2].node.source = chapter.cells[2].node.source.replace(
        "dependencies = []", "dependencies = ['six']"
    )


def lose_card_row(chapter):
    chapter.notebook.cells[0].source = chapter.notebook.cells[0].source.replace(
        "**Upstream**", "Upstream"
    )


def break_link(chapter):
    chapter.notebook.cells[
        0
    ].source += "\n\n[there](09-example.ipynb#part), [away](https://example.org), [nowhere](99-missing.ipynb)"


NOT_STORED = "its stored output is not the one that the run produced"
EDITED = "edited since the run that the receipt is for; run `make execute`"
BREAKAGES = {
    edit_source: [f"09-example, cell [2]: {EDITED}"],
    indent_source: [f"09-example, cell [2]: {EDITED}"],
    remove_output: [
        "09-example, case card, You see: no stored output and no row of a release has 'ValueError: text'",
        f"09-example, cell [3]: {NOT_STORED}",
    ],
    edit_output: [f"09-example, cell [2]: {NOT_STORED}"],
    edit_stream: [f"09-example, cell [3]: {NOT_STORED}"],
    edit_varying_output: [f"09-example, cell [4]: {NOT_STORED}"],
    add_picture: [f"09-example, cell [1]: {NOT_STORED}"],
    never_executed: ["09-example, cell [4]: never executed"],
    no_receipt: ["09-example: no receipt; `make execute` on a machine with a GPU makes one"],
    receipt_lacks: ["09-example: the receipt lacks gpu"],
    other_pins: [
        "09-example: the receipt is stale, the pins of the GPU libraries or native/ have changed since; run `make execute`"
    ],
    other_notebook: [
        f"09-example, cell [{n}]: not in the receipt, so it was added after the run, or the receipt is another notebook's"
        for n in (1, 2, 3, 4)
    ]
    + [
        "09-example: the receipt has 4 cells that the notebook lacks: other-1, other-2, other-3, other-4"
    ],
    add_cell: [
        "09-example, cell [5]: not in the receipt, so it was added after the run, or the receipt is another notebook's"
    ],
    remove_cell: ["09-example: the receipt has 1 cells that the notebook lacks: cell-2"],
    spoil_header: [
        "09-example, cell [3]: [tool.casebook] has an unknown key 'rises'; did you mean 'raises'?",
        f"09-example, cell [3]: {EDITED}",
    ],
    unpin: [
        "09-example, cell [3]: dependency 'six' is not pinned: write six==VERSION",
        f"09-example, cell [3]: {EDITED}",
    ],
    lose_card_row: ["09-example: the case card lacks 'Upstream'"],
    break_link: [
        "09-example, Markdown in place 1 of 5 cells: a link to 99-missing.ipynb, which is not there"
    ],
}


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda function: function.__name__)
def test_a_breakage_is_a_problem_that_names_its_place(chapter, breakage):
    breakage(chapter)
    nbformat.write(chapter.notebook, chapter.path)
    assert problems(Chapter(chapter.path)) == BREAKAGES[breakage]


def stamp_again(chapter):
    chapter.receipt["cells"] = {c.node.id: c.stamp() for c in chapter.cells}


def test_an_error_output_is_a_problem_even_when_the_run_produced_it(chapter):
    chapter.cells[1].node.outputs = [
        nbformat.v4.new_output(
            "error", ename="ValueError", evalue="text", traceback=["ValueError: text"]
        )
    ]
    stamp_again(chapter)
    (problem,) = problems(chapter)
    assert problem.startswith("09-example, cell [2]: its stored output is an error")


@pytest.mark.parametrize("text", ["/home/someone/x.py", "/root/x.py", "/tmp/tmpabc/x"])
def test_a_path_of_the_machine_is_a_problem_wherever_it_stands(chapter, text):
    node = chapter.cells[1].node
    for output in (
        nbformat.v4.new_output("stream", text=f"in {text}\n"),
        nbformat.v4.new_output("display_data", {"text/html": text}),
    ):
        node.outputs = [output]
        stamp_again(chapter)
        assert problems(chapter) == [
            f"09-example, cell [2]: its output names a path of the machine it ran on: {text}"
        ]


def test_spaces_at_line_ends_are_no_edit(chapter):
    chapter.cells[1].node.source = "x = 6   \nx * 7\n"
    assert problems(chapter) == []


def test_the_text_around_the_code_is_free(chapter):
    chapter.notebook.cells[0].source += "\n\nMore text."
    assert problems(chapter) == []


def test_nothing_is_stored_when_a_cell_fails(tmp_path):
    chapter = write_chapter(tmp_path, ["print(1)", "1 / 0"])
    before = chapter.path.read_bytes()
    with pytest.raises(
        CasebookError, match=r"09-example, cell \[2\]: ZeroDivisionError: division by zero"
    ):
        execute_here(chapter)
    assert chapter.path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [chapter.path]


def test_without_a_gpu_nothing_is_executed(tmp_path, no_gpu):
    with pytest.raises(
        CasebookError, match="the stored outputs come from a GPU, and this machine has none"
    ):
        execute(write_chapter(tmp_path, ["print(1)"]))


def test_how_many_gpus_a_cell_needs(tmp_path):
    sources = [
        "print(1)",
        "%%gpu\nprint(1)",
        "%%gpu 2\nprint(1)",
        "%%pinned\n" + cell("pass", "gpu = true", "gpus = 2"),
        "%%pinned\n" + cell("pass", "gpu = true"),
        "%%gpus\nprint(1)",
    ]
    chapter = write_chapter(tmp_path, sources)
    assert [c.gpus for c in chapter.cells] == [0, 1, 2, 2, 1, 0]
    assert chapter.needs(70) == "a GPU for 4 of 6 cells, two for 2; about 1 minute"


def test_what_needs_a_gpu(tmp_path):
    sources = [
        "print(1)",
        "%%gpu\nprint(1)",
        "%%pinned\n" + cell("pass"),
        "%%pinned\n" + cell("pass", "gpu = true"),
        "text = '%%gpu'",
    ]
    assert [c.needs_gpu for c in write_chapter(tmp_path, sources).cells] == [
        False,
        True,
        False,
        True,
        False,
    ]

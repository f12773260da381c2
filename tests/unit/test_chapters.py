"""Receipts: a chapter as it was run has no problem, and each later change is one."""

import copy
import shutil

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
    for file in (executed.path, executed.path.with_suffix(".yml")):
        shutil.copy(file, tmp_path)
    return Chapter(tmp_path / executed.path.name)


def test_a_chapter_as_it_was_run_has_no_problem(chapter):
    assert problems(chapter) == []
    assert chapter.receipt["gpu"] == "NVIDIA H200"
    assert chapter.receipt["driver"] == "570.86.15"
    assert chapter.cells[1].node.outputs[0].data["text/plain"] == "42"
    assert chapter.cells[2].text.endswith("ValueError: text\nas expected: ValueError\n")
    assert chapter.title == "A title"


def test_a_second_run_changes_only_the_receipt_and_what_varies(chapter):
    first = copy.deepcopy(chapter.notebook)
    second = execute_here(chapter).notebook
    for notebook in (first, second):
        notebook.metadata.casebook.pop("seconds")
        notebook.metadata.casebook.pop("date")
        assert notebook.metadata.casebook.cells.pop("cell-4")
        notebook.cells[-1].outputs = []
    assert first == second


def write(number, source):
    """Other code in a cell."""

    def write(chapter):
        chapter.cells[number - 1].node.source = source

    return write


def show(number, *outputs):
    """Other outputs below a cell."""

    def show(chapter):
        chapter.cells[number - 1].node.outputs = list(outputs)

    return show


def receipt(**values):
    """Other values in the receipt, None for a key that is lost."""

    def receipt(chapter):
        chapter.receipt.update(values)
        for key in [key for key, value in values.items() if value is None]:
            del chapter.receipt[key]

    return receipt


def edit_stream(chapter):
    output = chapter.cells[2].node.outputs[0]
    output.text = output.text.replace("before", "after")


def never_executed(chapter):
    chapter.cells[3].node.execution_count = None


def no_receipt(chapter):
    del chapter.notebook.metadata["casebook"]


def receipt_of_another_notebook(chapter):
    cells = chapter.receipt["cells"]
    chapter.receipt["cells"] = {
        f"other-{number}": cells[f"cell-{number}"] for number in (1, 2, 3, 4)
    }


def add_cell(chapter):
    node = nbformat.v4.new_code_cell("print(1)", id="new", execution_count=5)
    chapter.notebook.cells.append(node)


def remove_cell(chapter):
    chapter.notebook.cells.remove(chapter.cells[1].node)


NOT_STORED = "its stored output is not the one that the run produced"
EDITED = "edited since the run that the receipt is for; run `make execute`"
NOT_IN_RECEIPT = "not in the receipt: added after the run, or the receipt is another notebook's"
PICTURE = nbformat.v4.new_output("display_data", {"image/png": "AAAA"})
BREAKAGES = [
    (write(2, "x = 7\nx * 7"), [f", cell [2]: {EDITED}"]),
    (write(2, "x = 6\n x * 7"), [f", cell [2]: {EDITED}"]),
    (
        write(3, SOURCES[2].replace("raises", "rises")),
        [
            ", cell [3]: [tool.casebook] has an unknown key 'rises'; did you mean 'raises'?",
            f", cell [3]: {EDITED}",
        ],
    ),
    (show(2, nbformat.v4.new_output("stream", text="43")), [f", cell [2]: {NOT_STORED}"]),
    (show(4, nbformat.v4.new_output("stream", text="1\n")), [f", cell [4]: {NOT_STORED}"]),
    (show(1, PICTURE), [f", cell [1]: {NOT_STORED}"]),
    (edit_stream, [f", cell [3]: {NOT_STORED}"]),
    (never_executed, [", cell [4]: never executed"]),
    (
        no_receipt,
        [
            ": the card is not that of the facts; run `python -m casebook facts`",
            ": no receipt; `make execute` on a machine with a GPU makes one",
        ],
    ),
    (receipt(gpu=None), [": the receipt lacks gpu"]),
    (
        receipt(environment="0" * 16),
        [
            ": the receipt is stale, the pins of the GPU libraries or native/ have changed since; "
            "run `make execute`"
        ],
    ),
    (
        receipt_of_another_notebook,
        [
            *(f", cell [{number}]: {NOT_IN_RECEIPT}" for number in (1, 2, 3, 4)),
            ": the receipt has 4 cells that the notebook lacks: other-1, other-2, other-3, other-4",
        ],
    ),
    (add_cell, [f", cell [5]: {NOT_IN_RECEIPT}"]),
    (remove_cell, [": the receipt has 1 cells that the notebook lacks: cell-2"]),
]


@pytest.mark.parametrize(("breakage", "sentences"), BREAKAGES)
def test_a_breakage_is_a_problem_that_names_its_place(chapter, breakage, sentences):
    breakage(chapter)
    nbformat.write(chapter.notebook, chapter.path)
    assert problems(Chapter(chapter.path)) == [f"09-example{sentence}" for sentence in sentences]


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
            f"09-example, cell [2]: its output names a path of the machine that ran it: {text}"
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
    assert list(tmp_path.glob("*.ipynb")) == [chapter.path]


def test_without_a_gpu_nothing_is_executed(tmp_path, no_gpu):
    with pytest.raises(
        CasebookError, match="chapters are executed on a GPU, and this machine has none"
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
    assert chapter.needs() == "a GPU for 4 of 6 cells, two for 2"

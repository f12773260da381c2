"""The copies for a class: all that can be run, no result, and nobody's work overwritten."""

import copy
import functools
import re
from dataclasses import replace

import nbformat
import pytest

from casebook.__main__ import main
from casebook.authoring import chapters
from casebook.authoring.chapters import Chapter
from casebook.authoring.exercises import exercises
from casebook.authoring.publish import CARD
from casebook.authoring.workshop import ASK, MARK, asked, encoded, passages, unsolved, write
from casebook.cells.header import read
from casebook.errors import CasebookError
from casebook.execution.replay import framed

BOOKS = chapters.load()
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)*(?!\w)")
# What stands in front of a cell that also shows it, and is no result.
TOLD_BEFORE = {
    "50": "NEP 50, a proposal's number",
    "268": "the size of arrays that the cell allocates",
    "dltensor": "a name in DLPack's text",
    **dict.fromkeys(
        ("rem.u32", "div.u32", "cvt.rn.f64.s16", "ld.global.u32", "setp.lt.u16"),
        "a table that has both answers",
    ),
    **dict.fromkeys(
        ("i8", "i32", "divui", "sitofp"),
        "words of MLIR, explained before they are read; what is expected",
    ),
    "[:]": "the type of an array",
    **dict.fromkeys(
        ("a.real == b.real and a.imag == b.imag", "b if b > a else a"),
        "an entry's name is its code",
    ),
}

each_chapter = pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)


@functools.cache
def copied(book):
    return unsolved(book.notebook)


def tagged(cell, tag):
    return tag in cell.metadata.get("tags", [])


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def numbers(text):
    """The numbers of two digits or more, without their commas."""
    return {found.replace(",", "") for found in NUMBER.findall(text) if len(found) > 1}


def give_aways(book):
    """Results that a copy tells in front of the cells that show them, or right below them.

    Text below an output that is neither a heading nor marked is named, too.
    """
    kept = {
        cell.id: cell.source
        for cell in unsolved(book.notebook).cells
        if cell.cell_type == "markdown"
    }
    cells, shown = book.notebook.cells, {cell.node.id: cell.text for cell in book.cells}
    sources = "\n".join(cell.source for cell in book.cells) + book.first
    for place in range(1, len(cells)):
        if cells[place].id not in kept or cells[place].cell_type != "markdown":
            continue
        before = [cell for cell in cells[:place] if cell.cell_type == "code"]
        right_above = cells[place - 1].id if cells[place - 1].cell_type == "code" else None
        below = "\n".join(shown[cell.id] for cell in next_cells(cells[place + 1 :])) + shown.get(
            right_above, ""
        )
        known = sources + "\n".join(shown[cell.id] for cell in before if cell.id != right_above)
        text = re.sub(rf"\]\([^)]*\)|{re.escape(ASK)}.*", "", kept[cells[place].id])
        told = (numbers(text) & numbers(below)) - numbers(known)
        told |= {
            span for span in re.findall(r"`([^`]+)`", text) if span in below and span not in known
        }
        yield from (
            f"{book.name}, Markdown {cells[place].id}: {one!r} is what a cell shows"
            for one in sorted(told - TOLD_BEFORE.keys())
        )
        if shown.get(right_above) and not re.match(
            r"#{2,3} |<!-- (result|next)|\*\*\d+\. ", cells[place].source
        ):
            yield f"{book.name}, Markdown {cells[place].id}: below an output, and not marked"


def next_cells(cells):
    """The code cells up to the next Markdown."""
    for cell in cells:
        if cell.cell_type != "code":
            return
        yield cell


@each_chapter
def test_nothing_is_lost_but_solutions_and_results(book):
    participants = copied(book)
    given = [cell for cell in code(book.notebook) if not tagged(cell, "solution")]
    assert [(c.id, c.metadata) for c in code(participants)] == [(c.id, c.metadata) for c in given]
    assert [c.source for c in code(participants) if not tagged(c, "check")] == [
        re.sub(r"# match = .*\n", "", c.source) for c in given if not tagged(c, "check")
    ]
    nbformat.validate(participants)
    assert "casebook" not in participants.metadata
    assert not any(cell.outputs or cell.execution_count for cell in code(participants))
    text = "\n".join(cell.source for cell in participants.cells if cell.cell_type == "markdown")
    assert re.findall(r"(?m)^#+ .+", text) == [
        line for line in headings(book) if line not in ("## How we know", "## References")
    ]
    assert not re.search(r"<!--|\n{3}| {2}\*\*Before|\.[A-Z]\w+ \w+ \w", text)


def headings(book):
    return re.findall(
        r"(?m)^#+ .+",
        "\n".join(cell.source for cell in book.notebook.cells if cell.cell_type == "markdown"),
    )


@each_chapter
def test_no_copy_tells_how_a_cell_ends(book):
    assert list(give_aways(book)) == []


@each_chapter
def test_every_question_is_asked_once_and_in_front_of_its_cell(book):
    """No question ends a section, where no cell would follow that answers it."""
    questions = [
        question
        for cell in book.notebook.cells
        if cell.cell_type == "markdown"
        for question, _ in passages(cell.source)
        if question
    ]
    participants = copied(book)
    for question in questions:
        (place,) = [n for n, cell in enumerate(participants.cells) if question in cell.source]
        assert participants.cells[place + 1].cell_type == "code", question
        assert "\n## " not in participants.cells[place].source.partition(question)[2], question
    assert len(questions) >= 3


@each_chapter
def test_no_copy_holds_a_solution_or_a_verdict(book):
    participants = copied(book)
    text = "\n".join(cell.source for cell in participants.cells)
    given = "\n".join(
        cell.source
        for cell in book.notebook.cells
        if not tagged(cell, "solution") and not tagged(cell, "check")
    )
    for cell in book.cells:
        if "solution" in cell.tags:
            own = [
                line.strip()
                for line in cell.body.splitlines()
                if len(line.strip()) > 12 and line.strip() not in given
            ]
            assert not [line for line in own if line in text]
    assert not re.search(r"(?m)^\|.*\| (true|partly|false|not testable)\b", text)
    assert not any("Correct" in cell.source for cell in code(participants) if tagged(cell, "check"))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("Only the first compiles.", "below an output, and not marked"),
        ("<!-- next -->\nIt takes `1050 characters`.", "'1050 characters' is what a cell shows"),
        ("<!-- next -->\nIt takes 3,736 bytes.", "'3736' is what a cell shows"),
        ("<!-- next -->\nIt takes 4,711 bytes.", None),
    ],
)
def test_what_is_not_marked_is_found(source, found):
    """Each kind of give-away, put below a cell of a chapter whose copy has none."""
    book = copy.copy(BOOKS[0])
    book.notebook = copy.deepcopy(book.notebook)
    next(cell for cell in book.notebook.cells if cell.id == "b1de2c3b-1").source = source
    assert (
        found in [line.partition(": ")[2] for line in give_aways(book)]
        if found
        else not [*give_aways(book)]
    )


def test_a_mark_replaces_what_it_marks():
    assert asked("<!-- result: Which? -->\nThe first. <!-- next -->The next cell counts.") == (
        "The next cell counts.",
        "Which?",
    )
    assert asked("Look. <!-- result: How many? -->Seven.\n\n## Why\n\nSo.") == (
        f"Look.\n\n{ASK} How many?\n\n## Why\n\nSo.",
        "",
    )
    assert asked("<!-- next -->\n<!-- result: And then? -->\nNothing.") == (
        f"\n\n{ASK} And then?\n\n",
        "",
    )
    assert asked("<!-- result -->\nIt does. <!-- result: Why? -->So.") == (
        f"\n\n{ASK} Why?\n\n",
        "",
    )
    assert asked("No mark at all.") == ("No mark at all.", "")


@each_chapter
def test_marks_leave_the_markdown_as_it_reads(book):
    """A mark that begins a line stands alone in it, and closes what it opens."""
    for cell in book.notebook.cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"(?m)^<!--.*?-->[ \t]*\S", cell.source), cell.id
            assert MARK.sub("", CARD.sub("", cell.source)).count("<!--") == 0, cell.id


@each_chapter
def test_cells_of_a_copy_are_valid_and_find_their_stored_output(book):
    """A header names the exception and not its message; the stored output is still found."""
    for cell in code(copied(book)):
        assert "# match" not in cell.source
        (original,) = [one for one in book.cells if one.node.id == cell.id]
        if original.header:
            assert replace(read(cell.source), match=original.header.match) == original.header
        if (
            original.node.outputs
            and not original.varies
            and original.needs_gpu
            and not original.tags
        ):
            assert framed(book.path, cell.source), cell.id


def test_an_encoded_check_is_the_check():
    for book in BOOKS:
        for cell in (cell for one in exercises(book) for cell in one.check):
            copied = encoded(cell.source)
            lead, _, call = copied.partition("import base64, zlib\n\nexec(")
            assert cell.source.startswith(lead) and call.endswith(")")
            names = {}
            exec("import base64, zlib", names)
            assert lead + eval(call.removesuffix(")"), names).decode() == cell.source
            assert max(map(len, copied.splitlines())) <= 88 or "%%pinned" in copied


def test_the_chapters_in_memory_stay_as_they_are():
    for book in BOOKS:
        copied(book)
        assert book.notebook == Chapter(book.path).notebook, book.name


def test_a_second_call_changes_nothing_and_work_is_not_overwritten(tmp_path):
    first, *others = write(BOOKS[:2], tmp_path)
    assert write(BOOKS[:2], tmp_path) == [first, *others]
    first.write_text("my answers")
    others[0].unlink()
    with pytest.raises(CasebookError, match=f"{first.name} exists and differs from this copy"):
        write(BOOKS[:2], tmp_path)
    assert first.read_text() == "my answers"
    assert not others[0].exists()


def test_the_command(tmp_path, capsys):
    assert main(["workshop", str(tmp_path / "class")]) == 0
    said = f"{len(BOOKS)} chapters without solutions and outputs: {tmp_path / 'class'}\n"
    assert capsys.readouterr().out == said
    names = sorted(path.name for path in (tmp_path / "class").iterdir())
    assert names == [book.path.name for book in BOOKS]

"""The copies for a class run as the chapters do: each cell without a GPU prints what is stored."""

import nbformat
import pytest
from nbclient import NotebookClient

from casebook import chapters
from casebook.cells.class_cell import for_class
from casebook.chapters.stamps import stamps
from casebook.teaching.workshop import unsolved

OTHER = {"exercise", "check", "solution"}


def compared(book):
    """The cells whose source is another in the copy, and whose output is always the same."""
    return [
        cell
        for cell in book.cells
        if for_class(cell.source) != cell.source
        and not (cell.needs_gpu or cell.varies or OTHER & set(cell.tags))
    ]


BOOKS = [book for book in chapters.load() if compared(book)]


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
def test_a_copy_prints_what_the_chapter_prints(book, tmp_path):
    wanted = {cell.node.id: cell.text for cell in compared(book)}
    copy = unsolved(book.notebook)
    found = stamps(book)
    given = {number for name in wanted for number in found[name].givers}
    givers = {cell.node.id for cell in book.cells if cell.number in given and not cell.needs_gpu}
    preamble = {cell.node.id for cell in book.preamble}
    shared = {cell.node.id for cell in book.cells if "--folder" in cell.source.partition("\n")[0]}
    copy.cells = [cell for cell in copy.cells if cell.id in {*wanted, *givers, *shared, *preamble}]
    path = tmp_path / book.path.name
    nbformat.write(copy, path)
    client = NotebookClient(copy, kernel_name="python3", timeout=300, coalesce_streams=True)
    client.execute(cwd=str(tmp_path))
    nbformat.write(copy, path)
    printed = {cell.node.id: cell.text for cell in chapters.Chapter(path).cells}
    assert {name: printed[name] for name in wanted} == wanted

"""Cells as files: `uv run` on them ends as the cell's header promises.

Run here is one cell of each library and way to end; all that can be exported are compiled.
"""

import subprocess

import pytest

from casebook import chapters
from casebook.cells.line import of_source
from casebook.environments import create, store, uv
from casebook.errors import EnvironmentFailure
from casebook.execution.export import export

UV_FAILED = 2  # uv's own exit status; no header promises it


def exportable():
    """For each library and way to end the first cell that runs without a GPU."""
    found = {}
    for book in chapters.load():
        for cell in book.cells:
            header = cell.header
            alone = header and not of_source(cell.source).folder  # it needs no other cell's files
            if alone and not header.gpu and not header.build and not header.timeout_expected:
                library = header.dependencies[0].split("==")[0] if header.dependencies else "none"
                ends = header.raises is None, header.signal, header.cuda_home, bool(header.env)
                cell_of_kind = pytest.param(book, cell, id=f"{book.name}-{cell.number}")
                found.setdefault((library, *ends), cell_of_kind)
    return found.values()


def uv_run(file):
    """How `uv run` on a file ended: without the network where uv has the packages, else with it."""
    # A reader may have no toolkit, which old Numba looks for.
    variables = uv.variables() | {"CUDA_HOME": "/nowhere"}
    for option in ("--offline", "--no-progress"):
        command = [uv.executable(), "run", "--quiet", option, file]
        ended = subprocess.run(
            command, cwd=file.parent, env=variables, capture_output=True, text=True
        )
        if ended.returncode != UV_FAILED:
            break
    return ended


@pytest.mark.parametrize(("book", "cell"), exportable())
def test_the_file_ends_as_the_header_promises(book, cell):
    try:
        create.make(cell.header)
    except EnvironmentFailure as failure:
        pytest.skip(str(failure))
    file = (
        store.cache() / "exports" / f"{book.name}-{cell.number}.py"
    )  # uv keeps one environment for each path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(export(book, cell.number))
    ended = uv_run(file)
    assert (ended.returncode, ended.stdout.splitlines()[-1:]) == (
        0,
        [f"as expected: {cell.header.expected.ending}"],
    ), ended.stdout + ended.stderr


@pytest.mark.parametrize("book", chapters.load(), ids=lambda book: book.name)
def test_every_cell_that_can_leave_its_notebook_is_a_script(book):
    for cell in book.cells:
        if cell.header and not cell.header.build:
            compile(export(book, cell.number), f"{book.name}-{cell.number}", "exec")

"""One cell of each environment as a file: `uv run` on it, with nothing else, ends as the cell's header promises.

Left out: environments of GPU cells alone, and cells that build native/, which cannot be exported. The mechanics are in test_export.py.
"""
import subprocess

import pytest

from casebook import chapters, environment
from casebook.errors import EnvironmentFailure
from casebook.export import export

UV_FAILED = 2       # uv's own exit status; no header promises it


def exportable():
    """For each environment the first cell that runs without a GPU."""
    found = {}
    for book in chapters.load():
        for cell in book.cells:
            if cell.pinned and not cell.needs_gpu and not cell.header.build and not cell.header.timeout_expected:
                found.setdefault(cell.header.environment_key, pytest.param(book, cell, id=f"{book.name}-{cell.number}"))
    return found.values()


def uv_run(file):
    """How `uv run` on a file ended: without the network where uv has the packages, else with it."""
    variables = environment.uv_variables() | {"CUDA_HOME": "/nowhere"}       # old Numba finds no toolkit of the machine
    for option in ("--offline", "--no-progress"):
        ended = subprocess.run([environment.uv(), "run", "--quiet", option, file], cwd=file.parent, env=variables,
                               capture_output=True, text=True)
        if ended.returncode != UV_FAILED:
            break
    return ended


@pytest.mark.parametrize(("book", "cell"), exportable())
def test_the_file_ends_as_the_header_promises(book, cell):
    try:
        environment.make(cell.header)
    except EnvironmentFailure as failure:
        pytest.skip(str(failure))
    file = environment.cache() / "exports" / f"{book.name}-{cell.number}.py"     # uv keeps one environment for each path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(export(book, cell.number))
    ended = uv_run(file)
    assert (ended.returncode, ended.stdout.splitlines()[-1:]) == (0, [f"as told: {cell.header.ending}"]), ended.stdout + ended.stderr


@pytest.mark.parametrize("book", chapters.load(), ids=lambda book: book.name)
def test_every_cell_that_can_leave_its_notebook_is_a_script(book):
    for cell in book.cells:
        if cell.header and not cell.header.build:
            compile(export(book, cell.number), f"{book.name}-{cell.number}", "exec")

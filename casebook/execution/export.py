"""A cell as one file for `uv run`, ready for a bug report: it needs nothing else, and says at its
end whether it ended as expected."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

from casebook.cells import outcome, repository
from casebook.cells.header import BLOCK, Header
from casebook.cells.notebook import Cell, Notebook, gpus_of
from casebook.environments.cuda_home import LINKS
from casebook.errors import HeaderError, WrongUse
from casebook.execution.modules import imported

BEGINNING = r"""import os
if "CASEBOOK_REPORTS" not in os.environ:  # the check at the end runs this file as a process
    exec(
        open(__file__, encoding="utf-8").read().partition("\n# ---- The check\n")[2],
        {"__name__": "check"},
    )
"""

END = """# ---- The check
{outcome}

MODULES = {modules}       # of the book, which the script imports
if __name__ == "check":
    sys.exit(watch({expected!r}, {variables}, {links}, MODULES))
"""


def command(name: str, number: int) -> int:
    """Print a cell of a notebook file, or of a chapter, as a file."""
    if not name.endswith(".ipynb"):
        repository.need(f"the chapter {name!r}")
        name = str(repository.notebooks([name])[0])
    text = export(Notebook(name), number)
    if isinstance(sys.stdout, io.TextIOWrapper):  # Python reads a file as UTF-8, anywhere
        sys.stdout.reconfigure(encoding="utf-8")
    print(text, end="")
    return 0


def export(notebook: Notebook, number: int) -> str:
    """Text of the file for the code cell with this number.

    Raises WrongUse for a cell that cannot stand alone, HeaderError for one with a wrong header.
    """
    if not 1 <= number <= len(notebook.cells):
        raise WrongUse(f"{notebook.name} has code cells 1 to {len(notebook.cells)}, not {number}")
    cell, place = notebook.cells[number - 1], f"{notebook.name}, cell [{number}]"
    if not cell.pinned:
        raise WrongUse(f"{place} is no %%pinned cell: it needs the notebook around it")
    header, block = cell.header, BLOCK.search(cell.script)
    if not header:
        raise HeaderError(f"{place}: {cell.header_error}")
    if header.build:
        raise WrongUse(
            f"{place} builds {header.build}/: it needs a clone of the book; "
            f"git clone {repository.ADDRESS}, and open the notebook there"
        )
    before = cell.script[: block.start()].strip() if block else ""
    code = (before + cell.script[block.end() if block else 0 :]).strip("\n")
    header_text = block[0] if block else header.block()
    beginning = [*origin(notebook, cell, header), header_text, BEGINNING, code, ""]
    return "\n".join([*beginning, *printed(notebook, cell), check(header, imported(code))])


def origin(notebook: Notebook, cell: Cell, header: Header) -> Iterator[str]:
    """Comment: where the cell comes from, what it is about, what it needs and how it must end."""
    book = f"the GPU Python Casebook, {notebook.name}" if notebook.address else notebook.path.name
    yield f"# From {book}, cell [{cell.number}]: {notebook.title}"
    if notebook.address:
        yield f"# {notebook.address}"
    for name, link in notebook.threads:
        yield f"# {name}: {link}"
    if header.gpu:
        many = f"{header.gpus} NVIDIA GPUs" if header.gpus > 1 else "an NVIDIA GPU"
        yield f"# Needs {many}{f' with a driver {header.driver}' if header.driver else ''}."
    yield f"# Expected: {header.expected}."
    yield "# `uv run` on this file exits 0 if it ended as expected, otherwise 1."


def printed(notebook: Notebook, cell: Cell) -> Iterator[str]:
    """Comment: the stored output, and where it comes from."""
    if (receipt := notebook.receipt) and cell.text:
        yield (
            f"# What it printed on a machine with {gpus_of(receipt)}, "
            + (f"driver {receipt['driver']}, " if receipt["driver"] else "")
            + f"Python {receipt['python']}, {receipt['date']}:"
        )
        yield from (f"#     {line}".rstrip() for line in cell.text.splitlines())
        yield ""


def check(header: Header, modules: dict[str, str]) -> str:
    """The end of the file: the text of outcome.py, the modules, and what this header promises."""
    texts = "".join(f"    {name + '.py'!r}: {quoted(text)},\n" for name, text in modules.items())
    return END.format(
        outcome=Path(outcome.__file__).read_text("utf-8").split('"""', 2)[2].strip(),
        modules=f"{{\n{texts}}}" if texts else "{}",
        expected=header.expected,
        variables=header.env,
        links={place: file for place, (file, _) in LINKS.items()} if header.cuda_home else {},
    )


def quoted(text: str) -> str:
    """A literal of a text of many lines, as readable as can be."""
    return "'''\\\n" + text.replace("\\", r"\\").replace("'''", r"\'\'\'") + "'''"

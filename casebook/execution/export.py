"""One cell as one file for `uv run`: it needs nothing else, and it reports itself whether it ended as expected. Ready for a bug report."""

import re
from pathlib import Path

from casebook.cells import outcome, repository
from casebook.cells.header import BLOCK
from casebook.cells.notebook import Notebook, gpus_of
from casebook.environments.cuda_home import LINKS
from casebook.errors import HeaderError, WrongUse
from casebook.execution.modules import imported

BEGINNING = r"""import os
if "CASEBOOK_REPORTS" not in os.environ:      # the check at the end runs this file once more and looks how it ends
    exec(open(__file__, encoding="utf-8").read().partition("\n# ---- The check\n")[2], {"__name__": "check"})
"""

END = """# ---- The check
from types import SimpleNamespace
{verdict}

MODULES = {files}       # of the book, which the script imports
if __name__ == "check":
    sys.exit(watch(SimpleNamespace({expected}), {variables}, {links}, MODULES))
"""

EXPECTED = ("raises", "match", "signal", "timeout", "timeout_expected", "ending", "expectation")


def command(name, number):
    """Print a cell of a notebook file, or of a chapter, as a file."""
    if not name.endswith(".ipynb"):
        repository.need(f"the chapter {name!r}")
        (name, *_) = repository.notebooks([name])
    print(export(Notebook(name), number), end="")
    return 0


def export(notebook, number):
    """Text of the file for the code cell with this number of a Notebook."""
    cell = next((c for c in notebook.cells if c.number == number), None)
    place = f"{notebook.name}, cell [{number}]"
    if cell is None:
        raise WrongUse(f"{notebook.name} has code cells 1 to {len(notebook.cells)}, not {number}")
    if not cell.pinned:
        raise WrongUse(f"{place} is no %%pinned cell: it needs the notebook around it")
    if cell.header_error:
        raise HeaderError(f"{place}: {cell.header_error}")
    if cell.header.build:
        raise WrongUse(
            f"{place} builds {cell.header.build}/: it needs a clone of the book; git clone {repository.ADDRESS}, "
            "and open the notebook there"
        )
    body = cell.source.split("\n", 1)[1]
    block = BLOCK.search(body)
    code = (body[: block.start()].strip() + body[block.end() :]).strip("\n")
    return "\n".join(
        [
            *origin(notebook, cell),
            block[0],
            BEGINNING,
            code,
            "",
            *printed(notebook, cell),
            check(cell.header, imported(code)),
        ]
    )


def origin(notebook, cell):
    """Comment: where the cell comes from, what it is about, what it needs and how it must end."""
    yield f"# From {notebook.origin}, cell [{cell.number}]: {notebook.title}"
    if notebook.address:
        yield f"# {notebook.address}/blob/main/notebooks/{notebook.path.name}"
    for name, link in re.findall(r"\[([^]]+)\]\((\S+?)\)", notebook.card.get("Upstream", "")):
        yield f"# {name}: {link}"
    if cell.header.gpu:
        many = f"{cell.header.gpus} NVIDIA GPUs" if cell.header.gpus > 1 else "an NVIDIA GPU"
        yield f"# Needs {many}{f' with a driver {cell.header.driver}' if cell.header.driver else ''}."
    yield f"# Expected: {cell.header.expectation}. `uv run` on this file says whether it ends so, with status 0 or 1."


def printed(notebook, cell):
    """Comment: the stored output, and where it comes from."""
    receipt = notebook.receipt
    if receipt and cell.text:
        machine = f"{gpus_of(receipt)}, driver {receipt['driver']}, Python {receipt['python']}, {receipt['date']}"
        yield f"# What it printed on a machine with {machine}:"
        yield from (f"#     {line}".rstrip() for line in cell.text.splitlines())
        yield ""


def check(header, modules):
    """The end of the file: the modules, the text of outcome.py, and what this header promises."""
    expected = ", ".join(f"{name}={getattr(header, name)!r}" for name in EXPECTED)
    links = {place: file for place, (file, _) in LINKS.items()} if header.cuda_home else {}
    files = "".join(f"    {name + '.py'!r}: {quoted(text)},\n" for name, text in modules.items())
    text = Path(outcome.__file__).read_text("utf-8").split('"""', 2)[2].strip()
    return END.format(
        files=f"{{\n{files}}}" if files else "{}",
        verdict=text,
        expected=expected,
        variables=header.env,
        links=links,
    )


def quoted(text):
    """A literal of a text of many lines, as readable as can be."""
    return "'''\\\n" + text.replace("\\", r"\\").replace("'''", r"\'\'\'") + "'''"

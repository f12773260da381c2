"""One cell as one file for `uv run`: it needs nothing else, and it says itself whether it ended as told. Ready for a bug report."""
import re
from pathlib import Path

from . import verdict
from .chapters import address
from .cuda_home import LINKS
from .errors import CasebookError
from .header import BLOCK
from .run import CHILD

BEGINNING = r'''import os
if "CASEBOOK_REPORTS" not in os.environ:      # the check at the end runs this file once more and looks how it ends
    exec(open(__file__, encoding="utf-8").read().partition("\n# ---- The check\n")[2], {"__name__": "check"})
'''

END = '''# ---- The check
from types import SimpleNamespace
{verdict}

MODULES = {files}       # of the book, which the script imports
if __name__ == "check":
    sys.exit(watch(SimpleNamespace({told}), {variables}, {links}, MODULES))
'''

TOLD = ("raises", "match", "signal", "timeout", "timeout_expected", "ending", "expectation")


def export(chapter, number):
    """Text of the file for the code cell with this number."""
    cell = next((c for c in chapter.cells if c.number == number), None)
    if cell is None:
        raise CasebookError(f"{chapter.name} has code cells 1 to {len(chapter.cells)}, not {number}")
    if not cell.pinned:
        raise CasebookError(f"{chapter.name}, cell [{number}] is no %%pinned cell: it needs the notebook around it")
    if cell.header.build:
        raise CasebookError(f"{chapter.name}, cell [{number}] builds {cell.header.build}/: it needs a clone of the book; "
                            f"git clone {address()}, and open the notebook there")
    body = cell.source.split("\n", 1)[1]
    block = BLOCK.search(body)
    code = (body[:block.start()].strip() + body[block.end():]).strip("\n")
    return "\n".join([*origin(chapter, cell), block[0], BEGINNING, code, "", *printed(chapter, cell), check(cell.header, modules(code))])


def origin(chapter, cell):
    """Comment: where the cell comes from, what it is about, what it needs and how it must end."""
    yield f"# From the GPU Python Casebook, {chapter.name}, cell [{cell.number}]: {chapter.title}"
    yield f"# {address()}/blob/main/notebooks/{chapter.path.name}"
    for name, link in re.findall(r"\[([^]]+)\]\((\S+?)\)", chapter.card.get("Upstream", "")):
        yield f"# {name}: {link}"
    if cell.header.gpu:
        yield f"# Needs an NVIDIA GPU{f' with a driver {cell.header.driver}' if cell.header.driver else ''}."
    yield f"# Expected: {cell.header.expectation}. `uv run` on this file says whether it ends so, with status 0 or 1."


def modules(code, found=()):
    """The modules of casebook/child that code imports, and those that they import: {name: text}; `found` are known already."""
    found = dict(found)
    for path in sorted(CHILD.glob("*.py")):
        if path.stem not in found and re.search(rf"\b(?:import|from)\b.*\b{path.stem}\b", code):
            text = path.read_text("utf-8")
            found = modules(text, found | {path.stem: text})
    return found


def printed(chapter, cell):
    """Comment: the stored output, and where it comes from."""
    receipt = chapter.receipt
    if receipt and cell.text:
        machine = f"{receipt['gpu']}, driver {receipt['driver']}, Python {receipt['python']}, {receipt['date']}"
        yield f"# What it printed on a machine with an {machine}:"
        yield from (f"#     {line}".rstrip() for line in cell.text.splitlines())
        yield ""


def check(header, modules):
    """The end of the file: the modules, the text of verdict.py, and what this header promises."""
    told = ", ".join(f"{name}={getattr(header, name)!r}" for name in TOLD)
    links = {place: file for place, (file, _) in LINKS.items()} if header.cuda_home else {}
    files = "".join(f"    {name + '.py'!r}: {quoted(text)},\n" for name, text in modules.items())
    text = Path(verdict.__file__).read_text("utf-8").split('"""', 2)[2].strip()
    return END.format(files=f"{{\n{files}}}" if files else "{}", verdict=text, told=told, variables=header.env, links=links)


def quoted(text):
    """A literal of a text of many lines, as readable as can be."""
    return "'''\\\n" + text.replace("\\", r"\\").replace("'''", r"\'\'\'") + "'''"

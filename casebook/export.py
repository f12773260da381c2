"""One cell as one file that `uv run` executes with nothing else: ready for a bug report."""
from .cuda_home import LINKS
from .errors import CasebookError
from .header import BLOCK

LAYOUT = '''# This Numba does not find CUDA in wheels: give it the CUDA_HOME layout that it searches, from its environment's own wheels.
import os, pathlib, sysconfig, tempfile
_nvidia, _home = pathlib.Path(sysconfig.get_paths()["purelib"], "nvidia"), pathlib.Path(tempfile.mkdtemp())
for _place, _file in {links}.items():
    (_home / _place).parent.mkdir(parents=True, exist_ok=True)
    (_home / _place).symlink_to(_nvidia / _file)
os.environ["CUDA_HOME"] = str(_home)
'''

VARIABLES = '''# These variables must be there when the process starts, so the script starts itself again with them.
import os, sys, sysconfig, tempfile
_wanted = {table}
if "CASEBOOK_EXPORT" not in os.environ:
    _fill = {{"{{site}}": sysconfig.get_paths()["purelib"], "{{empty}}": tempfile.mkdtemp()}}
    for _key, _value in _wanted.items():
        for _name, _path in _fill.items():
            _value = _value.replace(_name, _path)
        os.environ[_key] = _value
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {{"CASEBOOK_EXPORT": "1"}})
'''


def export(chapter, number):
    """Text of the file for the code cell with this number."""
    cell = next((c for c in chapter.cells if c.number == number), None)
    if cell is None:
        raise CasebookError(f"{chapter.name} has code cells 1 to {len(chapter.cells)}, not {number}")
    if not cell.pinned:
        raise CasebookError(f"{chapter.name}, cell [{number}] is no %%pinned cell: it needs the notebook around it")
    if cell.header.build:
        raise CasebookError(f"{chapter.name}, cell [{number}] builds {cell.header.build}/: it needs a clone of the book")
    body = cell.source.split("\n", 1)[1]
    block = BLOCK.search(body)
    lines = [f"# From the GPU Python Casebook, {chapter.name}, cell [{number}]. Expected: {cell.header.expectation}.", block[0]]
    if cell.header.env:
        lines.append(VARIABLES.format(table=cell.header.env))
    if cell.header.cuda_home:
        lines.append(LAYOUT.format(links={place: file for place, (file, _) in LINKS.items()}))
    return "\n".join([*lines, body[:block.start()].strip() + body[block.end():]]).rstrip() + "\n"

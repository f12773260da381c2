"""What was found, as files: one program each, with complete pins, that asserts the right answer."""

import textwrap
from pathlib import Path

from casebook.hunt.search import Difference
from casebook.hunt.targets import Target


def write(target: Target, found: list[Difference], folder: Path) -> None:
    """Write a file for each difference, in the place of those of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    for number, difference in enumerate(found, 1):
        file = folder / f"{number:02}.py"
        file.write_text(text(target, difference), encoding="utf-8")
        print(f"{difference.verdict.kind}: {file}")


def text(target: Target, difference: Difference) -> str:
    """The file for a difference."""
    verdict = difference.verdict
    *lines, last = difference.program.splitlines()
    program = textwrap.indent("\n".join([*lines, f"return {last}"]), "    ")
    said = textwrap.indent(f"right: {verdict.right}\ngot:   {verdict.got}\n", "# ")
    return target.header.script_block() + said + target.frame.format(program=program)

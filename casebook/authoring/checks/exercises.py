"""Each exercise has a check that rejects it as it is stored, and a solution that it accepts."""

import re
import symtable
from collections.abc import Collection, Iterator

from casebook.chapters import Cell, Chapter
from casebook.chapters.exercises import ROLES, Exercise, exercises, role


def exercise_problems(chapter: Chapter) -> Iterator[str]:
    found = exercises(chapter)
    if [one.number for one in found] != list(range(1, len(found) + 1)):
        yield f": the exercises are numbered {', '.join(str(one.number) for one in found)}"
    for one in found:
        yield from (f", exercise {one.number}: {problem}" for problem in form(one, chapter.pending))
    inside = {cell.number for one in found for kind in ROLES for cell in getattr(one, kind)}
    for cell in chapter.cells:
        if role(cell) != "given" and cell.number not in inside:
            yield f", cell [{cell.number}]: tagged {role(cell)}, and belongs to no exercise"


def form(one: Exercise, pending: Collection[str]) -> Iterator[str]:
    if len(one.exercise) != 1:
        yield f"{len(one.exercise)} cells are tagged exercise, not one"
        return
    (reader,) = one.exercise
    for cell in one.given:
        if cell.number > reader.number:
            yield (
                f"cell [{cell.number}] follows the reader's cell without a tag: "
                "tag it check or solution, or move it up"
            )
    if not one.check and not reader.pinned:
        yield "no cell is tagged check"
    if not one.solution:
        yield "no cell is tagged solution"
    output = "".join(cell.text for cell in one.asked)
    waits = any(cell.node.id in pending for cell in (*one.asked, *one.solution))
    if (
        any(cell.node.execution_count for cell in one.asked)
        and not waits
        and (not re.search(r"(?m)^Not yet", output) or "Correct" in output)
    ):
        yield 'as it is stored, its check does not print "Not yet": is it solved already?'
    # A script that checks itself has words of its own.
    begins = "Solution: Correct" if one.check else "Solution: "
    for cell in one.solution:
        if (
            cell.node.execution_count
            and not waits
            and (not cell.text.startswith(begins) or "Not yet" in cell.text)
        ):
            yield (
                f"the output of the solution, cell [{cell.number}], does not begin with "
                f'"{begins.strip()}"'
            )
        if taken := sorted(names(reader) & names(cell)):
            yield (
                f"the solution, cell [{cell.number}], binds {', '.join(taken)}, "
                "which overwrites the reader's answer: choose other names"
            )


def names(cell: Cell) -> set[str]:
    """Names that a kernel cell binds, imported modules aside; none for a %%pinned cell."""
    plain = "\n".join(line for line in cell.source.splitlines() if not line.startswith("%"))
    try:
        table = symtable.symtable("" if cell.pinned else plain, "cell", "exec")
    except SyntaxError:
        return set()
    symbols = table.get_symbols()
    return {one.get_name() for one in symbols if one.is_assigned() and not one.is_imported()}

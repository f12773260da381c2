"""The exercises of a chapter: a cell for the reader, the cells that check it, and its solutions."""

import re
from dataclasses import dataclass, field

from casebook.chapters.chapter import Cell, Chapter

ROLES = "exercise", "check", "solution"
BEGINS = re.compile(r"(?m)^\*\*(\d+)\. ")


@dataclass
class Exercise:
    """One exercise. `check` is empty where the reader's cell is pinned and checks itself."""

    number: int
    given: list[Cell] = field(default_factory=list)
    exercise: list[Cell] = field(default_factory=list)
    check: list[Cell] = field(default_factory=list)
    solution: list[Cell] = field(default_factory=list)

    @property
    def asked(self) -> list[Cell]:
        """The cells whose output is the verdict on the reader's cell."""
        return self.check or self.exercise

    @property
    def needs_gpu(self) -> bool:
        return any(cell.needs_gpu for cell in self.exercise + self.check)


def role(cell: Cell) -> str:
    return next((tag for tag in ROLES if tag in cell.tags), "given")


def exercises(chapter: Chapter) -> list[Exercise]:
    """The exercises of a chapter, in order.

    One begins where the prose has a number in bold, **1. Predict.**, or at `## Exercise`.
    """
    found: list[Exercise] = []
    inside = False
    cells = {cell.node.id: cell for cell in chapter.cells}
    for node in chapter.notebook.cells:
        if node.cell_type == "markdown":
            if heading := re.findall(r"(?m)^## (.+)$", node.source):
                inside = heading[-1].startswith("Exercise")
            if inside:
                alone = ["1"] if re.search(r"(?m)^## Exercise$", node.source) else []
                found += [Exercise(int(number)) for number in BEGINS.findall(node.source) or alone]
        elif node.cell_type == "code" and inside and found:
            getattr(found[-1], role(cells[node.id])).append(cells[node.id])
    return found

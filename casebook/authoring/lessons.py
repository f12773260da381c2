"""Run lessons and store what their demonstrations print: python -m casebook.authoring.lessons 05

Exercises run, too, so that none is broken, and keep no output: a lesson is stored as a learner gets
it.
"""

import sys
from collections.abc import Sequence

from casebook.authoring import execute
from casebook.chapters import lessons


def store(lesson: lessons.Lesson) -> None:
    """Run all cells in order. Raises CasebookError for one that fails."""
    execute.run(lesson)
    execute.normalise(lesson.notebook)
    execute.fold(lesson.notebook)
    for node in lesson.notebook.cells:
        if node.cell_type == "code" and "exercise" in node.metadata.get("tags", []):
            node.outputs, node.execution_count = [], None
    lesson.write()


def main(names: Sequence[str]) -> None:
    for lesson in lessons.load():
        if not names or lesson.name.startswith(tuple(names)):
            store(lesson)


if __name__ == "__main__":
    main(sys.argv[1:])

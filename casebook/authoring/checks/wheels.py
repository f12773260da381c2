"""`check --wheels`: each pin has a wheel for each Python that its header promises."""

from collections.abc import Iterator

from casebook.authoring.chapters import Chapter
from casebook.environments.wheels import missing_wheels


def wheel_problems(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.cells:
        for problem in missing_wheels(cell.header) if cell.header else ():
            yield f"{chapter.name}, cell [{cell.number}]: {problem}"

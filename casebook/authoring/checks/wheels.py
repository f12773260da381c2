"""`check --wheels`: each pin has a wheel for each Python that its header promises."""

from collections.abc import Iterable, Iterator

from casebook.authoring.chapters import Chapter
from casebook.environments.wheels import promised, without_wheel


def wheel_problems(chapters: Iterable[Chapter]) -> Iterator[str]:
    """Sentences about all chapters at once, because the index is asked for many pins in one call.

    Raises DownloadFailure where it cannot be asked.
    """
    cells = [(book, cell, cell.header) for book in chapters for cell in book.cells if cell.header]
    missing = without_wheel(header for *_, header in cells)
    for book, cell, header in cells:
        for pin in header.dependencies:
            if pythons := [p for p in promised(header) if (p, pin) in missing]:
                yield (
                    f"{book.name}, cell [{cell.number}]: {pin} has no wheel for Python "
                    f"{', '.join(pythons)}, which requires-python = {header.requires_python!r} "
                    "promises: narrow it, or pin a release that has one"
                )

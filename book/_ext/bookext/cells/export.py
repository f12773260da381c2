"""%%pinned cells as files, as `casebook export` prints them.

Below each cell that can leave its notebook there is a link to save the file and a button to copy
it. *Found here* has the link, too.
"""

from html import escape
from pathlib import Path

from sphinx.application import Sphinx

from casebook.chapters import Cell, Chapter
from casebook.chapters.lessons import Lesson
from casebook.errors import CasebookError
from casebook.execution.export import export

from .. import notebook

FOLDER = "exports"
LINK = '<a href="{file}" download>Cell {number} as one file</a>'
OFFER = (
    f'<div class="export">{LINK} <button type="button" data-file="{{file}}" '
    'aria-label="Copy cell {number} as one file">Copy</button> <span role="status"></span></div>\n'
)


def file_of(chapter: Chapter, cell: Cell) -> str:
    """Path of a cell's file in the site. Ids stay when cells move."""
    lesson = "lesson-" * isinstance(chapter, Lesson)
    return f"{FOLDER}/{lesson}{chapter.name}-{cell.node['id']}.py"


def can_leave(cell: Cell) -> bool:
    """Whether a cell can leave its notebook."""
    return bool(cell.header and not cell.header.build)


def markup(template: str, chapter: Chapter, cell: Cell) -> str:
    """A template filled in for a page as deep as the chapter's."""
    up = "../" * len(chapter.folder.split("/"))
    return template.format(number=cell.number, file=escape(up + file_of(chapter, cell)))


def offer(chapter: Chapter, cell: Cell) -> str:
    """Markup of a cell's link and button; nothing where the cell needs the notebook around it."""
    return markup(OFFER, chapter, cell) if can_leave(cell) else ""


def write(app: Sphinx, out: Path) -> None:
    """Write the files into the built site."""
    (out / FOLDER).mkdir(exist_ok=True)
    for chapter in [*notebook.chapters(app.env), *notebook.lessons(app.env)]:
        for cell in filter(can_leave, chapter.cells):
            try:
                (out / file_of(chapter, cell)).write_text(export(chapter, cell.number), "utf8")
            except CasebookError as error:
                raise CasebookError(f"{chapter.name}, cell [{cell.number}]: {error}") from None


def setup(app: Sphinx) -> None:
    app.add_js_file("export.js", loading_method="defer")
    notebook.when_built(app, write)

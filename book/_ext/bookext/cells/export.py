"""%%pinned cells as files, as `casebook export` prints them.

Below each cell that can leave its notebook there is a link to save the file and a button to copy
it; the directive `exported` gives the link on any page.
"""

from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.chapters import Cell, Chapter
from casebook.errors import CasebookError
from casebook.execution.export import export

from .. import notebook
from . import summary

FOLDER = "exports"
LINK = '<a href="../{file}" download>Cell {number} as one file</a>'
OFFER = (
    f'<div class="export">{LINK} <button type="button" data-file="../{{file}}" '
    'aria-label="Copy cell {number} as one file">Copy</button> <span role="status"></span></div>\n'
)


def file_of(chapter: Chapter, cell: Cell) -> str:
    """Path of a cell's file in the site. Ids stay when cells move."""
    return f"{FOLDER}/{chapter.name}-{cell.node['id']}.py"


def can_leave(cell: Cell) -> bool:
    """Whether a cell can leave its notebook."""
    return bool(cell.header and not cell.header.build)


def markup(template: str, chapter: Chapter, cell: Cell) -> str:
    return template.format(number=cell.number, file=escape(file_of(chapter, cell)))


def offer(chapter: Chapter, cell: Cell) -> str:
    """Markup of a cell's link and button; nothing where the cell needs the notebook around it."""
    return markup(OFFER, chapter, cell) if can_leave(cell) else ""


class Exported(SphinxDirective):
    """One line, by notebook and cell id: the cell's file, its packages, and where the cell is.

    ```{exported} 13-stale-helper stale-fails
    ```
    """

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        name, identity = self.arguments
        found = [
            (chapter, cell, cell.header)
            for chapter in notebook.chapters(self.env)
            for cell in chapter.cells
            if chapter.name == name and cell.node["id"] == identity
            if cell.header and can_leave(cell)
        ]
        if not found:
            problem = f"exported: there is no cell {identity} to export in {name}"
            return [self.state_machine.reporter.warning(problem, line=self.lineno)]
        ((chapter, cell, header),) = found
        facts = " · ".join([*summary.packages(header), *summary.needs(header)])
        anchor, place = f"cell-{cell.number}", f"cell {cell.number}"
        line = notebook.element(
            nodes.paragraph,
            notebook.html(markup(LINK, chapter, cell)),
            f" ({facts}), which is ",
            notebook.link(self.env, chapter, anchor, place),
            " of ",
            notebook.link(self.env, chapter, "", f"case {notebook.number(name)}"),
            ".",
            classes=["exported"],
        )
        return [line]


def write(app: Sphinx, out: Path) -> None:
    """Write the files into the built site."""
    (out / FOLDER).mkdir(exist_ok=True)
    for chapter in notebook.chapters(app.env):
        for cell in filter(can_leave, chapter.cells):
            try:
                (out / file_of(chapter, cell)).write_text(export(chapter, cell.number), "utf8")
            except CasebookError as error:
                raise CasebookError(f"{chapter.name}, cell [{cell.number}]: {error}") from None


def setup(app: Sphinx) -> None:
    app.add_js_file("export.js", loading_method="defer")
    app.add_directive("exported", Exported)
    notebook.when_built(app, write)

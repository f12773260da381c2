"""%%pinned cells as files, as `python -m casebook export` prints them: below each cell that can leave its notebook, to be saved or copied,
and on any page through the directive `exported`."""

from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from casebook.errors import CasebookError
from casebook.execution.export import export

from . import notebook

FOLDER = "exports"
OFFER = """<div class="export"><a href="../{file}" download>Cell {number} as one file</a> <button type="button" data-file="../{file}"
aria-label="Copy cell {number} as one file">Copy</button> <span role="status"></span></div>
"""


def file_of(chapter, cell):
    """Place of a cell's file in the site. Ids stay when cells move."""
    return f"{FOLDER}/{chapter.name}-{cell.node.id}.py"


def leaves(cell):
    """Whether a cell can leave its notebook."""
    return bool(cell.header) and not cell.header.build


def offer(chapter, cell):
    """Markup of a cell's link and button, or nothing where the cell needs the notebook around it."""
    return (
        OFFER.format(number=cell.number, file=escape(file_of(chapter, cell)))
        if leaves(cell)
        else ""
    )


class Exported(SphinxDirective):
    """One line: the file of a cell, by notebook and cell id; its packages; and where the cell stands.

    ```{exported} 13-stale-helper stale-fails
    ```
    """

    required_arguments = 2

    def run(self):
        from .pinned import needs, packages

        name, identity = self.arguments
        chapter = next((c for c in notebook.chapters(self.env) if c.name == name), None)
        cell = (
            next((c for c in chapter.cells if c.node.id == identity and leaves(c)), None)
            if chapter
            else None
        )
        if not cell:
            return [
                self.state_machine.reporter.warning(
                    f"exported: there is no cell {identity} to export in {name}", line=self.lineno
                )
            ]
        file = nodes.raw(
            "",
            f'<a href="../{escape(file_of(chapter, cell))}" download>Cell {cell.number} as one file</a>',
            format="html",
        )
        facts = " · ".join([*packages(cell.header), *needs(cell.header)])
        place = notebook.link(
            self.env, chapter, f"cell-{cell.number}", nodes.Text(f"cell {cell.number}")
        )
        title = notebook.link(self.env, chapter, "", nodes.Text(f"case {notebook.number(name)}"))
        return [
            nodes.paragraph(
                "",
                "",
                file,
                nodes.Text(f" ({facts}), which is "),
                place,
                nodes.Text(" of "),
                title,
                nodes.Text("."),
                classes=["exported"],
            )
        ]


def write(app, exception):
    """The files, beside the pages."""
    if exception or app.builder.name != "html":
        return
    folder = Path(app.outdir, FOLDER)
    folder.mkdir(exist_ok=True)
    for chapter in notebook.chapters(app.env):
        for cell in filter(leaves, chapter.cells):
            try:
                (Path(app.outdir) / file_of(chapter, cell)).write_text(
                    export(chapter, cell.number), "utf8"
                )
            except CasebookError as error:
                raise CasebookError(f"{chapter.name}, cell [{cell.number}]: {error}") from None


def setup(app):
    app.add_js_file("export.js", loading_method="defer")
    app.add_directive("exported", Exported)
    app.connect("build-finished", write)

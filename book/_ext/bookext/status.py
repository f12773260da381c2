"""The status page's table, through the directive `status`: each chapter and its last run."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.authoring.chapters import Chapter
from casebook.authoring.receipts import receipt_problems

from . import notebook

COLUMNS = ("Chapter", "Executed", "On", "Seconds", "Cells", "Receipt")


class Status(SphinxDirective):
    """A table with a row for each notebook."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        head = row(*COLUMNS)
        body = [self.chapter(chapter) for chapter in notebook.chapters(self.env)]
        group = nodes.tgroup(
            "",
            *(nodes.colspec(colwidth=1) for _ in COLUMNS),
            nodes.thead("", head),
            nodes.tbody("", *body),
            cols=len(COLUMNS),
        )
        return [nodes.table("", group, classes=["status"])]

    def chapter(self, chapter: Chapter) -> nodes.row:
        title = [f"{notebook.number(chapter.name)} ", *self.parse_inline(chapter.title)[0]]
        link = notebook.link(self.env, chapter, "", *title)
        receipt = notebook.link(self.env, chapter, "receipt", standing(chapter))
        return row(link, *facts(chapter), receipt)


def facts(chapter: Chapter) -> tuple[str, str, str, str]:
    """When, on what, how long, and the cells without and with a GPU."""
    gpu = sum(cell.needs_gpu for cell in chapter.cells)
    cells = f"{len(chapter.cells) - gpu} CPU, {gpu} GPU"
    receipt = chapter.receipt
    if not receipt:
        return "never", "", "", cells
    return (
        receipt["date"],
        f"{receipt['gpu']}, driver {receipt['driver']}, Python {receipt['python']}",
        str(receipt["seconds"]),
        cells,
    )


def standing(chapter: Chapter) -> str:
    """Whether the receipt still matches the notebook."""
    if not chapter.receipt:
        return "none"
    return "stale" if any(receipt_problems(chapter)) else "holds"


def row(*cells: str | nodes.Node) -> nodes.row:
    inside = [notebook.element(nodes.paragraph, cell) for cell in cells]
    return nodes.row("", *(nodes.entry("", one) for one in inside))


def setup(app: Sphinx) -> None:
    app.add_directive("status", Status)

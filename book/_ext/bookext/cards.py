"""Case cards: a chapter's own on top of its page, and all of them on the index page, through the directive `cases`."""
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from casebook.chapters import Chapter

from . import notebook

SHOWN = ("You see", "Affected", "Fixed in", "Needs")


def style_card(app, tree):
    """The first table of a chapter is its case card: without its empty head, the first column as row headings."""
    chapter = notebook.chapter(app, app.env.docname)
    if not chapter:
        return
    tree.insert(0, notebook.html(f'<p class="case-number">Case {notebook.number(app.env.docname)}</p>'))
    table = next(tree.findall(nodes.table), None)
    if table and chapter.card:
        table["classes"].append("case-card")
        for head in list(table.findall(nodes.thead)):
            head.parent.remove(head)
        next(table.findall(nodes.colspec))["stub"] = 1


class Cases(SphinxDirective):
    """A card for each notebook: number, title, and the rows of its case card that tell whether it is yours."""

    def run(self):
        self.env.note_reread()
        paths = sorted(Path(self.env.srcdir, "notebooks").glob("*.ipynb"))
        return [nodes.bullet_list("", *map(self.card, paths), classes=["cases"])]

    def card(self, path):
        chapter = Chapter(path)
        link = addnodes.pending_xref("", nodes.inline("", "", *self.parse_inline(chapter.title)[0]), refdomain="std", reftype="doc",
                                     reftarget=f"/notebooks/{chapter.name}", refexplicit=True, refwarn=True, refdoc=self.env.docname)
        number = nodes.paragraph("", f"Case {notebook.number(chapter.name)}", classes=["case-number"])
        rows = [self.row(key, chapter.card[key]) for key in SHOWN if key in chapter.card]
        return nodes.list_item("", number, nodes.paragraph("", "", link, classes=["case-title"]), nodes.definition_list("", *rows))

    def row(self, key, text):
        value = nodes.paragraph("", "", *self.parse_inline(text)[0])
        return nodes.definition_list_item("", nodes.term("", key), nodes.definition("", value))


def setup(app):
    app.add_directive("cases", Cases)
    app.connect("doctree-read", style_card)

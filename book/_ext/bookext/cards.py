"""Case cards: a chapter's own on top of its page, and all of them on the index page, through the directive `cases`."""
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

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
        return [nodes.bullet_list("", *map(self.card, notebook.chapters(self.env)), classes=["cases"])]

    def card(self, chapter):
        link = notebook.link(self.env, chapter, "", *self.parse_inline(chapter.title)[0])
        number = nodes.paragraph("", f"Case {notebook.number(chapter.name)}", classes=["case-number"])
        rows = [self.row(key, chapter.card[key]) for key in SHOWN if key in chapter.card]
        return nodes.list_item("", number, nodes.paragraph("", "", link, classes=["case-title"]), nodes.definition_list("", *rows))

    def row(self, key, text):
        value = nodes.paragraph("", "", *self.parse_inline(text)[0])
        return nodes.definition_list_item("", nodes.term("", key), nodes.definition("", value))


def setup(app):
    app.add_directive("cases", Cases)
    app.connect("doctree-read", style_card)

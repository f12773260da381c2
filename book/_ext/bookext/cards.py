"""Case cards: a chapter's own on top of its page, and all of them on the first page, by what is seen, through the directive `cases`."""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from . import libraries, notebook

KINDS = ("wrong numbers", "crash", "hang", "slow", "does not start")
SHOWN = ("You see", "Affected", "Fixed in")
FILTER = """<form id="filter" aria-label="Cases by library"><fieldset><legend>Library</legend>
<label><input type="radio" name="library" value="" checked> all</label>
{choices}</fieldset><p role="status" aria-live="polite"></p></form>
"""
CHOICE = '<label><input type="radio" name="library" value="{name}"> {label}</label>'


def style_card(app, tree):
    """The first table of a chapter is its case card: without its empty head, the first column as row headings."""
    chapter = notebook.chapter(app, app.env.docname)
    if not chapter:
        return
    tree.insert(
        0, notebook.html(f'<p class="case-number">Case {notebook.number(app.env.docname)}</p>')
    )
    table = next(tree.findall(nodes.table), None)
    if table and chapter.card:
        table["classes"].append("case-card")
        for head in list(table.findall(nodes.thead)):
            head.parent.remove(head)
        next(table.findall(nodes.colspec))["stub"] = 1


class Cases(SphinxDirective):
    """All notebooks, a section for each kind of trouble; one with two kinds stands in both. A script filters them by library."""

    def run(self):
        self.env.note_reread()
        chapters = notebook.chapters(self.env)
        sections = [
            self.section(kind, found)
            for kind in (*KINDS, "")
            if (found := [c for c in chapters if kind in kinds(c)])
        ]
        used = {
            name
            for chapter in chapters
            for name in libraries.named(chapter.card.get("Libraries", ""))
        }
        choices = [
            CHOICE.format(name=name, label=library["label"])
            for name, library in libraries.LIBRARIES.items()
            if name in used and "packages" in library
        ]
        return [notebook.html(FILTER.format(choices="\n".join(choices))), *sections]

    def section(self, kind, chapters):
        name = kind or "other"
        cases = nodes.bullet_list("", *map(self.card, chapters), classes=["cases"])
        return nodes.section(
            "",
            nodes.title("", name.capitalize()),
            cases,
            ids=[name.replace(" ", "-")],
            classes=["kind"],
        )

    def card(self, chapter):
        number = notebook.number(chapter.name)
        link = notebook.link(self.env, chapter, "", *self.parse_inline(chapter.title)[0])
        heading = nodes.paragraph(
            "",
            "",
            nodes.inline("", number, classes=["number"]),
            nodes.Text(" "),
            link,
            classes=["case-title"],
        )
        rows = [self.row(key, chapter.card[key]) for key in SHOWN if key in chapter.card]
        named = [f"about-{name}" for name in libraries.named(chapter.card.get("Libraries", ""))]
        return nodes.list_item("", heading, nodes.definition_list("", *rows), classes=named)

    def row(self, key, text):
        value = nodes.paragraph("", "", *self.parse_inline(text)[0])
        return nodes.definition_list_item("", nodes.term("", key), nodes.definition("", value))


def kinds(chapter):
    """What a reader of a chapter's case sees; an empty word where its card does not say."""
    found = [kind.strip() for kind in chapter.card.get("Kind", "").lower().split("·")]
    return [kind for kind in found if kind in KINDS] or [""]


def load_script(app, pagename, templatename, context, doctree):
    if doctree and any('id="filter"' in raw.astext() for raw in doctree.findall(nodes.raw)):
        app.add_js_file("cases-filter.js", loading_method="defer")


def setup(app):
    app.add_directive("cases", Cases)
    app.connect("doctree-read", style_card)
    app.connect("html-page-context", load_script)

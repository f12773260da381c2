"""Case cards: a chapter's own on top of its page, and all cases on the first page (`cases`)."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.authoring.chapters import Chapter
from casebook.authoring.facts import Fault, kinds

from . import libraries, notebook

FILTER = """<form id="filter" aria-label="Cases by library"><fieldset><legend>Library</legend>
<label><input type="radio" name="library" value="" checked> all</label>
{choices}</fieldset><p role="status" aria-live="polite"></p></form>
"""
CHOICE = '<label><input type="radio" name="library" value="{name}"> {label}</label>'


def style_card(app: Sphinx, tree: nodes.document) -> None:
    """The first table of a chapter is its card, and the paragraph after it tells the rest."""
    chapter = notebook.chapter(app, app.env.docname)
    if not chapter:
        return
    number = notebook.number(app.env.docname)
    tree.insert(0, notebook.html(f'<p class="case-number">Case {number}</p>'))
    if table := next(tree.findall(nodes.table), None):
        table["classes"].append("case-card")
        rest = table.next_node(nodes.paragraph, descend=False, siblings=True)
        if rest:
            rest["classes"].append("case-facts")


class Cases(SphinxDirective):
    """All cases, a section for each kind; with two kinds, in both. A script filters them."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        chapters = notebook.chapters(self.env)
        sections = [
            self.section(kind, found)
            for kind in kinds()
            if (found := [c for c in chapters if kind in c.facts.kind])
        ]
        used = {name for chapter in chapters for name in libraries.of_chapter(chapter)}
        choices = [
            CHOICE.format(name=name, label=library.label)
            for name, library in libraries.LIBRARIES.items()
            if name in used and library.packages
        ]
        return [notebook.html(FILTER.format(choices="\n".join(choices))), *sections]

    def section(self, kind: str, chapters: list[Chapter]) -> nodes.section:
        cases = nodes.bullet_list("", *map(self.case, chapters), classes=["cases"])
        title = nodes.title("", kind.capitalize())
        return nodes.section("", title, cases, ids=[kind.replace(" ", "-")], classes=["kind"])

    def case(self, chapter: Chapter) -> nodes.list_item:
        """Number and title of a case, and what is seen and to be done for each of its faults."""
        number = nodes.inline("", notebook.number(chapter.name), classes=["number"])
        link = notebook.link(self.env, chapter, "", *self.parse_inline(chapter.title)[0])
        heading = nodes.paragraph("", "", number, nodes.Text(" "), link, classes=["case-title"])
        faults = nodes.definition_list("", *map(self.fault, chapter.facts.faults))
        about = [f"about-{name}" for name in libraries.of_chapter(chapter)]
        return nodes.list_item("", heading, faults, classes=about)

    def fault(self, fault: Fault) -> nodes.definition_list_item:
        see, do = (self.parse_inline(text)[0] for text in (fault.see, fault.do))
        action = nodes.paragraph("", "", *do)
        return nodes.definition_list_item(
            "", nodes.term("", "", *see), nodes.definition("", action)
        )


def load_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """The filter's script, on the page that has the filter."""
    if tree and any('id="filter"' in raw.astext() for raw in tree.findall(nodes.raw)):
        app.add_js_file("cases-filter.js", loading_method="defer")


def setup(app: Sphinx) -> None:
    app.add_directive("cases", Cases)
    app.connect("doctree-read", style_card)
    app.connect("html-page-context", load_script)

"""Case cards: a chapter's own on top of its page, and all cases on the first page (`cases`)."""

import re
import textwrap
from collections.abc import Iterable, Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.chapters import Chapter
from casebook.chapters.facts import Fault, kinds

from . import libraries, notebook

FILTER = """<form id="filter" aria-label="Filter"><details open>
<summary>Filter by library and kind</summary>{}</details>
<p role="status" aria-live="polite"></p></form>
<script defer src="../_static/cases-filter.js"></script>"""
GROUP = "<fieldset><legend>{name}</legend>{choices}</fieldset>"
CHOICE = '<label><input type="radio" name="{group}" value="{value}"{first}> {label}</label>\n'


def style_card(app: Sphinx, tree: nodes.document) -> None:
    """The first table of a chapter is its card, and the paragraph after it tells the rest."""
    chapter = notebook.chapter(tree)
    if not chapter:
        return
    number = notebook.number(chapter.name)
    tree.insert(0, notebook.html(f'<p class="case-number">Case {number}</p>'))
    if table := next(tree.findall(nodes.table), None):
        table["classes"].append("case-card")
        link_proofs(chapter, table)
        rest = table.next_node(nodes.paragraph, descend=False, siblings=True)
        if rest:
            rest["classes"].append("case-facts")


def link_proofs(chapter: Chapter, table: nodes.table) -> None:
    """Below what a row of the card tells to do, lead to the first cell that runs it."""
    numbers = {cell.node["id"]: cell.number for cell in chapter.cells}
    rows = next(table.findall(nodes.tbody)).children
    for fault, row in zip(chapter.facts.faults, rows, strict=True):
        if found := [numbers[name] for name in fault.proof if name in numbers]:
            row[1][-1] += notebook.html(f'<br><a href="#cell-{found[0]}">see it run</a>')


class Cases(SphinxDirective):
    """A line for each case: what is seen, and what to do, under the captions of the table of
    contents. A script filters them, and shows the fault that fits in place of the first."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        chapters = notebook.chapters(self.env)
        used = {name for chapter in chapters for name in libraries.of_chapter(chapter)}
        about = {
            f"about-{name}": library.label
            for name, library in libraries.LIBRARIES.items()
            if name in used and library.packages
        }
        present = {kind for chapter in chapters for kind in chapter.facts.kind}
        of = {kind_class(kind): kind for kind in kinds() if kind in present}
        groups = group("Library", about) + group("Kind", of)
        items = [item for part in self.parts(chapters) for item in part]
        cases = nodes.bullet_list("", *items, classes=["cases"])
        return [notebook.html(FILTER.format(groups)), cases]

    def parts(self, chapters: list[Chapter]) -> Iterator[list[nodes.list_item]]:
        """For each part of the table of contents with cases its caption, then its cases."""
        by_page = {f"notebooks/{chapter.name}": chapter for chapter in chapters}
        for part in self.env.external_site_map.root.subtrees:  # type: ignore[attr-defined]
            if cases := [self.case(by_page[name]) for name in part.items if name in by_page]:
                caption = nodes.paragraph("", part.caption)
                yield [nodes.list_item("", caption, classes=["caption"]), *cases]

    def case(self, chapter: Chapter) -> nodes.list_item:
        """The faults of a case, of which the first, which its title is about, is shown."""
        subjects = libraries.of_chapter(chapter)
        faults = [self.fault(chapter, fault) for fault in chapter.facts.faults]
        for other in faults[1:]:
            other["classes"].append("other")
        return nodes.list_item("", *faults, classes=classes(subjects, chapter.facts.kind))

    def fault(self, chapter: Chapter, fault: Fault) -> nodes.container:
        """What is seen, with a link, what to do, and how many more faults the case has."""
        see, do = (self.parse_inline(text)[0] for text in (fault.see, fault.do))
        number = nodes.inline("", notebook.number(chapter.name), classes=["number"])
        more = len(chapter.facts.faults) - 1
        others = nodes.inline("", f" and {more} more" if more else "", classes=["more"])
        link = notebook.link(self.env, chapter, "", *see)
        return nodes.container(
            "",
            nodes.paragraph("", "", number, nodes.Text(" "), link, others, classes=["see"]),
            nodes.paragraph("", "", *do, classes=["do"]),
            classes=["fault", *classes(libraries.of_fault(fault), fault.kind)],
        )


def classes(names: Iterable[str], kinds: Iterable[str]) -> list[str]:
    """What the script chooses by: libraries, the main one first, and kinds."""
    return [*(f"about-{name}" for name in names), *map(kind_class, kinds)]


def kind_class(kind: str) -> str:
    return f"kind-{kind.replace(' ', '-')}"


def group(name: str, labels: dict[str, str]) -> str:
    """The choices of one filter: the classes of cases, and their labels."""
    choices = "".join(
        CHOICE.format(group=name, value=value, label=label, first=" checked" * (not value))
        for value, label in {"": "all", **labels}.items()
    )
    return GROUP.format(name=name, choices=choices)


def add_keywords(app: Sphinx, tree: nodes.document) -> None:
    """Have the site's search find a case by the words in which people describe it."""
    if chapter := notebook.chapter(tree):
        faults = chapter.facts.faults
        texts = (text for one in faults for text in (one.see, *one.messages, *one.heard))
        words = dict.fromkeys(re.findall(r"\w+", " ".join(texts)))
        tree.insert(0, nodes.meta(name="keywords", content=",".join(words), lang="en"))


def describe_page(app: Sphinx, tree: nodes.document) -> None:
    """What a search engine and a shared link show of a case: its first fault and what to do."""
    if chapter := notebook.chapter(tree):
        fault = chapter.facts.faults[0]
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", f"{fault.see.rstrip('.')}. {fault.do}")
        plain = " ".join(text.replace("`", "").split())
        described = app.env.metadata[app.env.docname]
        described["og:description"] = textwrap.shorten(plain, 200, placeholder=" …")


def setup(app: Sphinx) -> None:
    app.add_directive("cases", Cases)
    app.connect("doctree-read", style_card)
    app.connect("doctree-read", add_keywords)
    app.connect("doctree-read", describe_page)

"""Words of the glossary, linked where the page of a case or a lesson first uses them."""

import functools
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from . import notebook

GLOSSARY = "book/glossary.md"
TERM = re.compile(r"(?m)^(\w[\w -]*)\n  ")
# Pages use most of these in a second sense too; everybody knows the last three.
UNLINKED = "block cache context control guard pass pin register thread view cuda cupy numba"


@functools.cache
def words(glossary: Path) -> re.Pattern[str]:
    """Finds each term of the glossary, also in the plural; the longest comes first."""
    terms = set(TERM.findall(glossary.read_text("utf-8").lower())).difference(UNLINKED.split())
    longest = sorted(terms, key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(longest)})s?\b", re.IGNORECASE)


def link(app: Sphinx, tree: nodes.document) -> None:
    """Link each term at its first use in a paragraph, where that use is not code or a link."""
    if not notebook.page(tree):
        return
    glossary = Path(app.srcdir, GLOSSARY)
    app.env.note_dependency(str(glossary))
    terms, seen = words(glossary), set[str]()
    for paragraph in list(tree.findall(nodes.paragraph)):
        if not isinstance(paragraph.parent, nodes.section | nodes.list_item):
            continue  # a card, a note or an output
        if isinstance(paragraph[0], nodes.strong) and paragraph[0].astext() == "Libraries:":
            continue  # below the card
        for text in [child for child in paragraph.children if isinstance(child, nodes.Text)]:
            paragraph.replace(text, linked(text.astext(), terms, seen))


def linked(text: str, terms: re.Pattern[str], seen: set[str]) -> list[nodes.Node]:
    """The parts of a text, where terms that are not in `seen` are references; `seen` grows."""
    parts: list[nodes.Node] = []
    end = 0
    for match in terms.finditer(text):
        term = match[1].lower()
        if term not in seen:
            seen.add(term)
            inside = nodes.inline("", match[0], classes=["std-term"])
            reference = addnodes.pending_xref(
                "", inside, refdomain="std", reftype="term", reftarget=term, refexplicit=True
            )
            parts += [nodes.Text(text[end : match.start()]), reference]
            end = match.end()
    return [*parts, nodes.Text(text[end:])]


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", link, 550)

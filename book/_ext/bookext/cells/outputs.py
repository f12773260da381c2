"""Outputs: the last line of a pinned cell as a mark; text in columns, which must not wrap."""

import re

from docutils import nodes
from sphinx.application import Sphinx

from .. import notebook

ENDING = re.compile(r"(?:^|\n)as expected: ([^\n]+)\n?$")
COLUMNS = re.compile(r"\S {2,}\S|[│┃]|\|.*\|")  # a line that lines up with others


NOT_RUN = "Not run yet: this cell waits for a machine with the GPUs that it needs."


def style(app: Sphinx, tree: nodes.document) -> None:
    chapter = notebook.chapter(tree)
    pending = chapter.pending if chapter else ()
    for cell, container in notebook.cells(tree):
        if cell.node["id"] in pending:
            container += notebook.element(nodes.paragraph, NOT_RUN, classes=["pending"])
        for output in container[1:]:  # below the source
            for block in list(output.findall(nodes.literal_block)):
                classify(block)
                mark(block)


def classify(block: nodes.literal_block) -> None:
    """Class `columns` for text of which three lines or more are set in columns."""
    lines = block.astext().splitlines()
    if sum(bool(COLUMNS.search(line)) for line in lines) >= 3:
        block["classes"].append("columns")


def mark(block: nodes.literal_block) -> None:
    """Put the line `as expected: TypeError` below its block."""
    text = block.astext()
    if found := ENDING.search(text):
        rest = text[: found.start()]
        name = nodes.strong("", found[1])
        line = notebook.element(nodes.paragraph, "as expected: ", name, classes=["ending"])
        block.parent.insert(block.parent.index(block) + 1, line)
        if rest.strip():
            block.rawsource, block.children = rest, [nodes.Text(rest)]
        else:
            block.parent.remove(block)


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", style)

"""What stands below a cell: the verdict line as a mark, and text in columns, which must not wrap, told from messages, which may."""

import re

from docutils import nodes

from casebook.cells.verdict import renewed

from . import notebook

VERDICT = re.compile(r"(?:^|\n)as expected: ([^\n]+)\n?$")
COLUMNS = re.compile(r"\S {2,}\S|[│┃]|\|.*\|")  # a line that lines up with others


def dress(app, tree):
    chapter = notebook.chapter(app, app.env.docname)
    for _, container in notebook.cells(tree, chapter) if chapter else ():
        if container.children and container[-1].get("nb_element") == "cell_code_output":
            for block in list(container[-1].findall(nodes.literal_block)):
                classify(block)
                mark(block)


def classify(block):
    """Class `columns` for text of which three lines or more are set in columns."""
    lines = block.astext().splitlines()
    if sum(bool(COLUMNS.search(line)) for line in lines) >= 3:
        block["classes"].append("columns")


def mark(block):
    """Put the line `as expected: TypeError` below its block."""
    text = renewed(block.astext())
    if found := VERDICT.search(text):
        rest = text[: found.start()]
        told = nodes.paragraph(
            "", "", nodes.inline("", "as expected: "), nodes.strong("", found[1]), classes=["told"]
        )
        block.parent.insert(block.parent.index(block) + 1, told)
        if rest.strip():
            block.rawsource, block.children = rest, [nodes.Text(rest)]
        else:
            block.parent.remove(block)


def setup(app):
    app.connect("doctree-read", dress)

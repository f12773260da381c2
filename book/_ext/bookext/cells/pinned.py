"""%%pinned cells: a line that says what matters and opens the header; failing cells look different.

The header's lines stand in the cell's own <pre>, so that the copy button copies a cell that runs
anywhere; a cell that names its environment gets the header that this stands for. A
<details> before it shows and hides them by a sibling selector in book.css, without a script.
"""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from casebook.cells.header import Header, read
from casebook.cells.line import of_source, with_header

from .. import notebook
from . import export, summary

LOG = logging.getLogger(__name__)
PERMALINK = '<a class="permalink" href="#cell-{number}" aria-label="Link to cell {number}">#</a>'


class pinned_source(nodes.literal_block):
    """Source of a %%pinned cell, with the markup of its bar and of its export."""


def mark(app: Sphinx, tree: nodes.document) -> None:
    """Give each %%pinned cell its line, and every code cell an anchor, `cell-7`."""
    chapter = notebook.page(tree)
    if not chapter:
        return
    for cell, container in notebook.cells(tree):
        container["ids"].append(f"cell-{cell.number}")
        if cell.header_error:
            LOG.warning("cell [%s]: %s", cell.number, cell.header_error, location=app.env.docname)
        elif cell.header:
            container["classes"] += classes(cell.header)
            source = next(container.findall(nodes.literal_block))
            text = with_header(cell.source, cell.header)
            source.replace_self(
                pinned_source(
                    text,
                    text,
                    names_environment=text != cell.source,
                    bar=bar(cell.number, cell.header, environment(cell.source, cell.header)),
                    export=export.offer(chapter, cell),
                )
            )


def classes(header: Header) -> list[str]:
    return ["pinned", "fails" if summary.outcome(header)[1] else "runs"]


class ExampleCell(SphinxDirective):
    """A %%pinned cell on a page that is no notebook, to explain what its parts mean."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        source = "\n".join(self.content)
        header = read(source)
        line = bar(1, header, environment(source, header))
        block = pinned_source(source, source, bar=line)
        inside = nodes.container("", block, classes=["cell_input"], is_div=True)
        return [nodes.container("", inside, classes=["cell", *classes(header)], is_div=True)]


def environment(source: str, header: Header) -> str:
    """The name of a cell's environment, or the first package of its own header."""
    return of_source(source).name or next(iter(header.dependencies), "standard library")


def bar(number: int, header: Header, environment: str) -> str:
    """The line above a cell, which opens and closes its header; `environment` is its name."""
    must, fails = summary.outcome(header)
    facts = " · ".join([environment, summary.pythons(header), *summary.needs(header)])
    return (
        '<details class="bar"><summary>'
        f'<span class="verdict">{"Fails" if fails else "Runs"}</span>'
        f'<span class="must">{escape(must)}</span><span class="facts">{escape(facts)}</span>'
        f'<span class="more">cell {number}, <span class="toggle">header</span></span>'
        "</summary></details>\n"
    )


def visit(translator: HTML5Translator, node: pinned_source) -> None:
    """Write the bar, the source with header and body apart, and the export; lines are numbered as
    in tracebacks."""
    text = node.rawsource
    marked = translator.highlighter.highlight_block(text, "ipython3", location=node)
    start, pre, rest = marked.partition("<pre>")
    inside, close, after = rest.rpartition("</pre>")
    lines = inside.rstrip("\n").split("\n")
    split = text.splitlines().index("# ///") + 1
    header = "".join(f"{line}\n" for line in lines[:split])
    body = "\n".join(f'<span class="line">{line}</span>' for line in lines[split:])
    above = 1 if node.get("names_environment") else split  # lines of the cell above its body
    source = (
        f'<div class="highlight-ipython3 notranslate">{start}{pre}'
        f'<span class="header">{header}</span>'
        f'<span class="body" style="counter-reset: line {above}">{body}</span>'
        f"\n{close}{after}</div>\n"
    )
    translator.body += [node["bar"], source, node.get("export", "")]
    raise nodes.SkipNode


def add_permalinks(app: Sphinx, tree: nodes.document, docname: str) -> None:
    """A link to itself in each code cell; after myst-nb has folded what is hidden."""
    for cell, container in notebook.cells(tree):
        container.insert(0, notebook.html(PERMALINK.format(number=cell.number)))


def setup(app: Sphinx) -> None:
    app.add_node(pinned_source, html=(visit, None))
    app.connect("doctree-resolved", add_permalinks)
    app.add_directive("example-cell", ExampleCell)
    app.connect("doctree-read", mark)

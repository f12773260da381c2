"""%%pinned cells: one line says what matters, the whole header is a click away, and failing cells look unlike running ones.

The header's lines stay in the cell's own <pre>, so that the copy button copies the cell whole. A <details> before it shows and hides
them by a sibling selector in book.css: no script is needed.
"""
from html import escape

import nbformat
from docutils import nodes
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from casebook.chapters import Cell
from casebook.errors import HeaderError

from . import export, notebook

LOG = logging.getLogger(__name__)
SUBJECTS = ("nanobind", "numba-cuda", "numba", "cupy-cuda12x", "cuda-core", "cuda-bindings")     # what the book is about
NAMED = 2               # so many of them stand in the line
MINORS = range(8, 31)   # Python versions that a requires-python is tried with


class pinned_source(nodes.literal_block):
    """Source of a %%pinned cell, with the Cell."""


def packages(header):
    """The pins that matter: `numba 0.59.0`, at most NAMED of the book's subjects, else the first pin."""
    pins = {canonicalize_name(r.name): next(iter(r.specifier)).version for r in header.requirements}
    names = [name for name in SUBJECTS if name in pins][:NAMED] or list(pins)[:1]
    return [f"{name} {pins[name]}" for name in names] or ["standard library"]


def pythons(header):
    """`Python 3.11–3.12` for '>=3.11,<3.13'; `Python 3.11+` where there is no upper end."""
    fit = [minor for minor in MINORS if SpecifierSet(header.requires_python).contains(f"3.{minor}")]
    if not fit:
        return f"Python {header.requires_python}"
    if fit[-1] == MINORS[-1]:
        return f"Python 3.{fit[0]}+"
    return f"Python 3.{fit[0]}" + (f"–3.{fit[-1]}" if fit[-1] > fit[0] else "")


def needs(header):
    """What the cell needs beside packages."""
    driver = f", driver {header.driver}" if header.driver else ""
    build = [f"builds {header.build}/"] if header.build else []
    return build + ([f"GPU{driver}"] if header.gpu else [])


def outcome(header):
    """What the cell must do, in a few words, and whether that is a failure."""
    if header.raises:
        return f"must raise {header.raises}", True
    if header.signal:
        return f"must die by {header.signal}", True
    if header.timeout_expected:
        return f"must hang for {header.timeout:g} s", True
    return "must exit with 0", False


def mark(app, tree):
    """Give each %%pinned cell its line, and all code cells an anchor, `cell-7`."""
    chapter = notebook.chapter(app, app.env.docname)
    if not chapter:
        return
    for cell, container in notebook.cells(tree, chapter):
        container["ids"].append(f"cell-{cell.number}")
        try:
            header = cell.header
        except HeaderError as error:
            LOG.warning("cell [%s]: %s", cell.number, error, location=app.env.docname)
            continue
        if header:
            container["classes"] += classes(header)
            for source in list(container.findall(nodes.literal_block))[:1]:
                source.replace_self(pinned_source(cell.source, cell.source, cell=cell, export=export.button(chapter, cell.number)))


def classes(header):
    return ["pinned", "fails" if outcome(header)[1] else "runs"]


class ExampleCell(SphinxDirective):
    """A %%pinned cell on a page that is no notebook, to explain what its parts mean."""

    has_content = True

    def run(self):
        source = "\n".join(self.content)
        cell = Cell(1, nbformat.v4.new_code_cell(source))
        inside = nodes.container("", pinned_source(source, source, cell=cell), classes=["cell_input"], is_div=True)
        return [nodes.container("", inside, classes=["cell", *classes(cell.header)], is_div=True)]


def bar(cell):
    """The line above a cell, which opens and closes its header."""
    must, fails = outcome(cell.header)
    facts = " · ".join([*packages(cell.header), pythons(cell.header), *needs(cell.header)])
    return (f'<details class="bar"><summary><span class="verdict">{"Fails" if fails else "Runs"}</span>'
            f'<span class="must">{escape(must)}</span><span class="facts">{escape(facts)}</span>'
            f'<span class="more">cell {cell.number}, <span class="toggle">header</span></span></summary></details>\n')


def visit(translator, node):
    cell = node["cell"]
    end = cell.source.index("# ///\n", cell.source.index("# /// script") + 1) + len("# ///\n")
    marked = translator.highlighter.highlight_block(cell.source, "ipython3", location=node)
    start, pre, inside = marked.partition("<pre>")
    lines = inside.splitlines(keepends=True)
    split = cell.source[:end].count("\n")
    header, body = "".join(lines[:split]), "".join(lines[split:])
    source = f'{start}{pre}<span class="header">{header}</span>{body}'
    translator.body.append(f'{bar(cell)}<div class="highlight-ipython3 notranslate">{source}</div>\n{node.get("export", "")}')
    raise nodes.SkipNode


def setup(app):
    app.add_node(pinned_source, html=(visit, None))
    app.add_directive("example-cell", ExampleCell)
    app.connect("doctree-read", mark)

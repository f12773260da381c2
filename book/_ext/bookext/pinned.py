"""%%pinned cells: one line says what matters, the whole header is a click away, and failing cells look unlike running ones.

The header's lines stay in the cell's own <pre>, so that the copy button copies the cell whole. A <details> before it shows and hides
them by a sibling selector in book.css: no script is needed.
"""

import re
from html import escape

import nbformat
from docutils import nodes
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from casebook.authoring.chapters import Cell

from . import export, libraries, notebook

LOG = logging.getLogger(__name__)
SUBJECTS = (
    "nanobind",
    "numba-cuda-mlir",
    "numba-cuda",
    "numba",
    "cupy-cuda12x",
    "cuda-core",
    "cuda-bindings",
)  # of the book
TOOLS = (
    "numpy",
    "llvmlite",
    "nvrtc",
    "nvjitlink",
    "nvvm",
    "nvcc",
)  # named where they make the difference between two cells
NVIDIA = re.compile(r"^nvidia-(?:cuda-)?|(?<!cuda)-cu\d+$")  # around the name of a tool
NAMED = 2  # so many of them stand in the line
MINORS = range(8, 31)  # Python versions that a requires-python is tried with
PERMALINK = '<a class="permalink" href="#cell-{number}" aria-label="Link to cell {number}">#</a>'


class pinned_source(nodes.literal_block):
    """Source of a %%pinned cell, with the Cell and what its line says of packages."""


def pins(header):
    return {canonicalize_name(r.name): next(iter(r.specifier)).version for r in header.requirements}


def packages(header, neighbours=(), case=()):
    """The pins that matter: `numba 0.59.0`, at most NAMED.

    First what differs from a neighbouring cell that has the same package in another version, then the case's library, then a tool
    that differs, then the book's other subjects; where there is none of them, the first pin.
    """
    mine = pins(header)
    others = [pins(other) for other in neighbours]
    differs = {
        name
        for name, version in mine.items()
        for other in others
        if other.get(name, version) != version
    }
    own = [name for library in case for name in libraries.LIBRARIES[library].get("packages", ())]
    order = [name for name in dict.fromkeys([*own, *SUBJECTS]) if name in mine]
    tools = (
        [name for name in mine if name in differs and any(tool in name for tool in TOOLS)]
        if not differs & set(order)
        else []
    )
    order = sorted(order, key=lambda name: name not in differs)
    names = [*order[:1], *tools, *order[1:]][:NAMED] or list(mine)[:1]
    return [f"{NVIDIA.sub('', name)} {mine[name]}" for name in names] or ["standard library"]


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
    case = libraries.named(chapter.card.get("Libraries", ""))
    pinned = [cell for cell in chapter.cells if cell.header]
    for cell, container in notebook.cells(tree, chapter):
        container["ids"].append(f"cell-{cell.number}")
        if cell.header_error:
            LOG.warning("cell [%s]: %s", cell.number, cell.header_error, location=app.env.docname)
        elif cell.header:
            container["classes"] += classes(cell.header)
            place = pinned.index(cell)
            line = packages(
                cell.header,
                [c.header for c in pinned[max(place - 1, 0) : place + 2] if c is not cell],
                case,
            )
            for source in list(container.findall(nodes.literal_block))[:1]:
                source.replace_self(
                    pinned_source(
                        cell.source,
                        cell.source,
                        cell=cell,
                        packages=line,
                        export=export.offer(chapter, cell),
                    )
                )


def classes(header):
    return ["pinned", "fails" if outcome(header)[1] else "runs"]


class ExampleCell(SphinxDirective):
    """A %%pinned cell on a page that is no notebook, to explain what its parts mean."""

    has_content = True

    def run(self):
        source = "\n".join(self.content)
        cell = Cell(1, nbformat.v4.new_code_cell(source))
        inside = nodes.container(
            "",
            pinned_source(source, source, cell=cell, packages=packages(cell.header)),
            classes=["cell_input"],
            is_div=True,
        )
        return [nodes.container("", inside, classes=["cell", *classes(cell.header)], is_div=True)]


def bar(cell, packages):
    """The line above a cell, which opens and closes its header."""
    must, fails = outcome(cell.header)
    facts = " · ".join([*packages, pythons(cell.header), *needs(cell.header)])
    return (
        f'<details class="bar"><summary><span class="verdict">{"Fails" if fails else "Runs"}</span>'
        f'<span class="must">{escape(must)}</span><span class="facts">{escape(facts)}</span>'
        f'<span class="more">cell {cell.number}, <span class="toggle">header</span></span></summary></details>\n'
    )


def visit(translator, node):
    cell = node["cell"]
    end = cell.source.index("# ///\n", cell.source.index("# /// script") + 1) + len("# ///\n")
    marked = translator.highlighter.highlight_block(cell.source, "ipython3", location=node)
    start, pre, rest = marked.partition("<pre>")
    inside, close, after = rest.rpartition("</pre>")
    lines = inside.rstrip("\n").split("\n")
    split = cell.source[:end].count("\n")
    header = "".join(f"{line}\n" for line in lines[:split])
    body = "\n".join(
        f'<span class="line">{line}</span>' for line in lines[split:]
    )  # numbered as in tracebacks
    source = (
        f'{start}{pre}<span class="header">{header}</span><span class="body" style="counter-reset: line {split}">{body}</span>'
        f"\n{close}{after}"
    )
    source = f'<div class="highlight-ipython3 notranslate">{source}</div>\n'
    translator.body += [bar(cell, node["packages"]), source, node.get("export", "")]
    raise nodes.SkipNode


def add_permalinks(app, tree, docname):
    """A link to itself in each code cell; after myst-nb has folded what is hidden."""
    chapter = notebook.chapter(app, docname)
    for cell, container in notebook.cells(tree, chapter) if chapter else ():
        container.insert(0, notebook.html(PERMALINK.format(number=cell.number)))


def setup(app):
    app.add_node(pinned_source, html=(visit, None))
    app.connect("doctree-resolved", add_permalinks)
    app.add_directive("example-cell", ExampleCell)
    app.connect("doctree-read", mark)

"""What is closed at first: solutions, long outputs, and what carries a hide- tag."""

from html import escape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from .. import notebook

LONG = 40  # lines of an output that are shown at once


def fold(app: Sphinx, tree: nodes.document) -> None:
    """Close cells tagged `solution` with their output, and the long outputs of other cells."""
    for cell, container in notebook.cells(tree):
        lines = cell.text.count("\n")
        if "solution" in cell.tags:
            mode, prompt = "all", "Solution"
        elif "setup" in cell.tags:
            mode, prompt = "input", "Set-up"
        elif cell.names_environments:
            mode, prompt = "input", "The environments of this page"
        elif "hide-input" in cell.tags:
            mode, prompt = "input", f"Code, {cell.source.count(chr(10)) + 1} lines"
        elif lines > LONG and not notebook.has_drawing(cell):
            mode, prompt = "output", f"Output, {lines} lines"
        else:
            continue
        container.attributes.update(hide_mode=mode, prompt_show=prompt, prompt_hide=prompt)


def visit(translator: HTML5Translator, node: HideCodeCellNode) -> None:
    """As myst-nb's, but valid: no paragraph in a summary, which shows the text of the prompt."""
    kind = " ".join(node["classes"])
    translator.body.append(
        f'<details class="fold {kind}"><summary>{escape(node["prompt_show"])}</summary>\n'
    )


def depart(translator: HTML5Translator, node: HideCodeCellNode) -> None:
    translator.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", fold)
    app.add_node(HideCodeCellNode, override=True, html=(visit, depart))

"""What is closed at first: solutions, long outputs, and the inputs and outputs that carry a hide- tag."""

from html import escape

from myst_nb.sphinx_ import HideCodeCellNode

from . import notebook

LONG = 40  # lines of an output that are shown at once


def fold(app, tree):
    """A cell tagged `solution` is closed, with its output; of other cells an output that is long."""
    chapter = notebook.chapter(app, app.env.docname)
    for cell, container in notebook.cells(tree, chapter) if chapter else ():
        if "solution" in cell.tags:
            container.attributes.update(
                hide_mode="all", prompt_show="Solution", prompt_hide="Solution"
            )
        elif "hide-input" in cell.tags:
            container.attributes.update(
                hide_mode="input",
                prompt_show=f"Code, {cell.source.count(chr(10)) + 1} lines",
                prompt_hide="Code",
            )
        elif (lines := cell.text.count("\n")) > LONG and not any(
            "image/svg+xml" in o.get("data", {}) for o in cell.node.outputs
        ):
            container.attributes.update(
                hide_mode="output", prompt_show=f"Output, {lines} lines", prompt_hide="Output"
            )


def visit(translator, node):
    """As myst-nb's, but valid: no paragraph in a summary, and the name is what is written there."""
    kind = " ".join(node["classes"])
    translator.body.append(
        f'<details class="fold {kind}"><summary>{escape(node["prompt_show"])}</summary>\n'
    )


def depart(translator, node):
    translator.body.append("</details>\n")


def setup(app):
    app.connect("doctree-read", fold)
    app.add_node(HideCodeCellNode, override=True, html=(visit, depart))

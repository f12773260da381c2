"""The foot of a chapter: which GPU its outputs come from, and when."""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import SphinxError

from casebook.cells.notebook import gpus_of
from casebook.chapters import Chapter
from casebook.chapters.markup import problems
from casebook.chapters.receipts import receipt_problems, standing_confirmations

from . import notebook

LABEL = '<p class="label">Receipt</p>'
NONE = (
    f'<aside class="receipt none" id="receipt" aria-label="Receipt">{LABEL}'
    "<p>None. The outputs of this chapter, where it has any, were not made by a recorded run on a "
    "GPU. Do not rely on them yet.</p></aside>"
)
CURRENT = (
    "Every output above comes from this one run. The notebook keeps a hash of each cell and of "
    "what it printed."
)
STALE = "Something was edited after this run: parts of the page may not come from it."


def show(app: Sphinx, tree: nodes.document) -> None:
    """Append the receipt to a chapter's page. Raises SphinxError for outputs it must not show."""
    if chapter := notebook.chapter(tree):
        for cell in chapter.cells:
            for output in cell.node["outputs"]:
                for kind, text in output.get("data", {}).items():
                    for problem in problems(kind, text):
                        place = f"{chapter.name}, cell [{cell.number}]"
                        raise SphinxError(f"{place}: its stored output {problem}")
        tree.children[-1] += notebook.html(markup(chapter))


def markup(chapter: Chapter) -> str:
    """The receipt of a chapter as HTML."""
    receipt = chapter.receipt
    if not receipt:
        return NONE
    gpus = gpus_of(receipt).removeprefix("an ")
    rows = {
        "GPU": f"{gpus}, compute capability {receipt['compute_capability']}",
        "Driver": receipt["driver"],
    }
    if not receipt["gpus"]:
        rows = {"GPU": "none; no output above comes from one"}
    rows |= {
        "Python": receipt["python"],
        "Date": receipt["date"],
        "Time": f"{receipt['seconds']} s for {len(receipt['cells'])} cells",
    }
    if pending := chapter.pending:
        cells = f"{len(pending)} cell{'s wait' if len(pending) > 1 else ' waits'}"
        rows["Pending"] = f"{cells} for a machine with as many GPUs as they need"
    if rerun := receipt.get("rerun"):
        rows["Run again"] = f"all but the GPU cells, {rerun['date']}, Python {rerun['python']}"
    for one, standing in standing_confirmations(chapter):
        rows[f"Also on {one['gpu']}"] = (
            f"{standing} of {len(chapter.gpu_cells)} GPU cells ended as expected, {one['date']}, "
            f"driver {one['driver']}"
        )
    lines = "".join(
        f"<div><dt>{escape(key)}</dt><dd>{escape(str(value))}</dd></div>"
        for key, value in rows.items()
    )
    stale = any(receipt_problems(chapter))
    return (
        f'<aside class="receipt{" stale" * stale}" id="receipt" aria-label="Receipt">{LABEL}'
        f"<dl>{lines}</dl><p>{STALE if stale else CURRENT}</p></aside>"
    )


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", show)

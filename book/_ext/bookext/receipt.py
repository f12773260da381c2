"""The foot of a chapter: which GPU its outputs come from, and when."""

from html import escape

from casebook.authoring.receipts import receipt_problems

from . import notebook


def show(app, tree):
    chapter = notebook.chapter(app, app.env.docname)
    if chapter:
        tree.children[-1] += notebook.html(markup(chapter))


def markup(chapter):
    receipt = chapter.receipt
    if not receipt:
        return (
            '<aside class="receipt none" id="receipt" aria-label="Receipt"><p class="label">Receipt</p><p>None. The outputs of '
            "this chapter, where it has any, were not made by a recorded run on a GPU. Do not rely on them yet.</p></aside>"
        )
    many = f"{receipt['gpus']} × " if receipt.get("gpus", 1) > 1 else ""
    rows = {
        "GPU": f"{many}{receipt['gpu']}, compute capability {receipt['compute_capability']}",
        "Driver": receipt["driver"],
        "Python": receipt["python"],
        "Date": receipt["date"],
        "Time": f"{receipt['seconds']} s for {len(receipt['cells'])} cells",
    }
    lines = "".join(
        f"<div><dt>{key}</dt><dd>{escape(str(value))}</dd></div>" for key, value in rows.items()
    )
    stale = any(receipt_problems(chapter))
    closing = (
        "Something was edited after this run: parts of the page may not come from it."
        if stale
        else "Every output above comes from this one run. The notebook keeps a hash of each cell and of what it printed."
    )
    return (
        f'<aside class="receipt{" stale" * stale}" id="receipt" aria-label="Receipt"><p class="label">Receipt</p>'
        f"<dl>{lines}</dl><p>{closing}</p></aside>"
    )


def setup(app):
    app.connect("doctree-read", show)

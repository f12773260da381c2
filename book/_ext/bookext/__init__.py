"""The book's own Sphinx extension. One idea a file; each has a `setup(app)` of its own.

Notebooks are read through `casebook.authoring.chapters` and `casebook.cells.header`; nothing here parses them anew.
"""

from . import (
    address,
    cards,
    errors,
    export,
    folds,
    highlighting,
    icons,
    outputs,
    pinned,
    postprocess,
    prune_css,
    receipt,
    status,
    teach,
    versions,
)


def setup(app):
    for part in (
        address,
        highlighting,
        pinned,
        outputs,
        export,
        folds,
        cards,
        errors,
        status,
        versions,
        teach,
        receipt,
        postprocess,
        icons,
        prune_css,
    ):
        part.setup(app)
    app.add_css_file("book.css")
    app.add_js_file("paper.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

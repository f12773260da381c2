"""The book's own Sphinx extension. One feature per module or package, each with its own
`setup(app)`.

It reads the book through `casebook.chapters`, `casebook.reports` and what lies below them.
"""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

FEATURES = (
    "address",
    "cells.highlighting",
    "cells.pinned",
    "cells.outputs",
    "cells.export",
    "cells.folds",
    "cards",
    "installs",
    "doctor",
    "watch",
    "errors",
    "status",
    "architectures",
    "hunts",
    "found",
    "versions",
    "receipt",
    "terms",
    "lessons",
    "postprocess",
    "icons",
)


def setup(app: Sphinx) -> ExtensionMetadata:
    for name in FEATURES:
        app.setup_extension(f"bookext.{name}")
    app.add_css_file("book.css")
    app.add_js_file("paper.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

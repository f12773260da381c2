"""The book's own Sphinx extension. One idea a file; each has a `setup(app)` of its own.

Notebooks are read through `casebook.chapters` and `casebook.header`; nothing here parses them anew.
"""
from . import address, cards, folds, highlighting, icons, pinned, receipt, tidy


def setup(app):
    for part in (address, highlighting, pinned, folds, cards, receipt, tidy, icons):
        part.setup(app)
    app.add_css_file("book.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""From a page's document tree to the notebook behind it."""

import functools
from pathlib import Path

from docutils import nodes

from casebook.authoring.chapters import Chapter

read = functools.cache(Chapter)  # by path: a build reads each notebook once


def chapter(app, docname):
    """The Chapter behind a page, or None where the page is no notebook."""
    path = Path(app.env.doc2path(docname))
    return read(path) if path.suffix == ".ipynb" else None


def chapters(env):
    """All chapters of the table of contents, in the order of their numbers."""
    return [
        read(Path(env.srcdir, f"{name}.ipynb"))
        for name in sorted(env.found_docs)
        if name.startswith("notebooks/")
    ]


def number(docname):
    """The case's number as its file name gives it: '01' for notebooks/01-default-arguments."""
    return Path(docname).name.partition("-")[0]


def cells(tree, chapter):
    """Pairs of a code cell and the container that shows it."""
    numbered = iter(chapter.cells)
    by_index = {
        index: next(numbered)
        for index, node in enumerate(chapter.notebook.cells)
        if node.cell_type == "code"
    }
    for container in list(tree.findall(nodes.container)):
        if container.get("nb_element") == "cell_code":
            yield by_index[container["cell_index"]], container


def link(env, chapter, anchor, *words):
    """A reference to a chapter's page, or to a place on it."""
    uri = env.app.builder.get_relative_uri(env.docname, f"notebooks/{chapter.name}")
    return nodes.reference(
        "", "", *words, internal=True, refuri=uri + (f"#{anchor}" if anchor else "")
    )


def html(markup):
    """A node that holds HTML."""
    return nodes.raw("", markup, format="html")

"""The lesson of *Learn* that a case belongs to: at its foot, with a copy that asks first.

The copies, for all cases of the lessons, are in the folder `copies` of the site.
"""

import functools
import re
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.application import Sphinx

from casebook.chapters.class_copy import FIRST, first_of_all, unsolved

from . import notebook

PAGE = "book/learn"
LESSON = re.compile(r"(?m)^## (Lesson \d+: .+)$")
CASE = re.compile(r"\(\.\./notebooks/([\w.-]+)\.ipynb")


@functools.cache
def lessons(page: Path) -> dict[str, str]:
    """The title of the first lesson of a page that each case belongs to, by the case's name."""
    _, *parts = LESSON.split(page.read_text("utf-8")) if page.exists() else [""]
    found: dict[str, str] = {}
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        for name in CASE.findall(text.partition("\n## ")[0]):
            found.setdefault(name, title)
    return found


def show(app: Sphinx, tree: nodes.document) -> None:
    """Say at the foot of a case which lesson it belongs to."""
    chapter = notebook.chapter(tree)
    source = Path(app.srcdir, f"{PAGE}.md")
    title = lessons(source).get(chapter.name) if chapter else None
    if not chapter or not title:
        return
    app.env.note_dependency(str(source))
    page = app.builder.get_relative_uri(f"notebooks/{chapter.name}", PAGE)
    lesson = notebook.element(
        nodes.reference, title, internal=True, refuri=f"{page}#{nodes.make_id(title)}"
    )
    copy = f'<a href="../copies/{chapter.path.name}" download>a copy that asks first</a>'
    offer = notebook.html(f" You can work through it in {copy}, without outputs and solutions.")
    tree.children[-1] += notebook.element(
        nodes.paragraph, "This case belongs to ", lesson, ".", offer, classes=["notes"]
    )


def write(app: Sphinx, out: Path) -> None:
    """Write the copies."""
    names = lessons(Path(app.srcdir, f"{PAGE}.md"))
    folder = out / "copies"
    folder.mkdir(exist_ok=True)
    books = [chapter for chapter in notebook.chapters(app.env) if chapter.name in names]
    copies = {chapter.path.name: unsolved(chapter.notebook) for chapter in books}
    for name, copy in (copies | {FIRST: first_of_all()}).items():
        (folder / name).write_text(f"{nbformat.writes(copy)}\n", "utf-8")


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", show, 600)
    notebook.when_built(app, write)

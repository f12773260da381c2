"""From a page's document tree to the notebook behind it."""

import csv
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from casebook.chapters import Cell, Chapter
from casebook.chapters.lessons import Lesson

CASES, LESSONS = f"{Chapter.folder}/", f"{Lesson.folder}/"


@functools.cache
def read(path: Path) -> Chapter:
    """The case or lesson in a file. A build reads each notebook once."""
    return Lesson(path) if path.parent.name == "lessons" else Chapter(path)


def page(tree: nodes.document) -> Chapter | None:
    """The case or lesson behind a page, or None where the page is no notebook."""
    path = Path(tree["source"])
    return read(path) if path.suffix == ".ipynb" else None


def chapter(tree: nodes.document) -> Chapter | None:
    """The case behind a page, or None where the page is none."""
    found = page(tree)
    return None if isinstance(found, Lesson) else found


def chapters(env: BuildEnvironment) -> list[Chapter]:
    """All cases of the table of contents, in the order of their numbers."""
    return [
        read(Path(env.srcdir, f"{name}.ipynb"))
        for name in sorted(env.found_docs)
        if name.startswith(CASES) and not name.startswith(LESSONS)
    ]


def lessons(env: BuildEnvironment) -> list[Lesson]:
    """All lessons of the table of contents, in their order."""
    names = sorted(name for name in env.found_docs if name.startswith(LESSONS))
    found = [read(Path(env.srcdir, f"{name}.ipynb")) for name in names]
    return [one for one in found if isinstance(one, Lesson)]


def number(docname: str) -> str:
    """The case's number as its file name gives it: '01' for notebooks/01-default-arguments."""
    return Path(docname).name.partition("-")[0]


def cells(tree: nodes.document) -> Iterator[tuple[Cell, nodes.container]]:
    """Pairs of a code cell and the container that shows it; none where the page is no notebook."""
    if found := page(tree):
        containers = list(tree.findall(nodes.container))
        code_cells = [one for one in containers if one.get("nb_element") == "cell_code"]
        yield from zip(found.cells, code_cells, strict=True)


def has_drawing(cell: Cell) -> bool:
    """Whether a cell's stored output has a plot."""
    return any("image/svg+xml" in output.get("data", {}) for output in cell.node["outputs"])


def element(kind: type[nodes.Element], *parts: str | nodes.Node, **attributes: Any) -> nodes.Node:
    """A node of a kind that holds text, with texts and nodes in it."""
    inside = [nodes.Text(part) if isinstance(part, str) else part for part in parts]
    return kind("", "", *inside, **attributes)


def link(
    env: BuildEnvironment, chapter: Chapter, anchor: str, *parts: str | nodes.Node
) -> nodes.Node:
    """A reference to the page of a case or a lesson, or to a place on it."""
    uri = env.app.builder.get_relative_uri(env.docname, f"{chapter.folder}/{chapter.name}")
    if anchor:
        uri += f"#{anchor}"
    return element(nodes.reference, *parts, internal=True, refuri=uri)


def html(markup: str) -> nodes.raw:
    """A node that holds HTML."""
    return nodes.raw("", markup, format="html")


def when_built(app: Sphinx, finish: Callable[[Sphinx, Path], None], priority: int = 500) -> None:
    """Have a function called with the folder of the site, at the end of its build."""

    def call(app: Sphinx, exception: Exception | None) -> None:
        if not exception and app.builder.name == "html":
            finish(app, Path(app.outdir))

    app.connect("build-finished", call, priority)


def offer_file(
    app: Sphinx, name: str, columns: list[str], rows: Callable[[Chapter], Iterable[Mapping]]
) -> None:
    """Write a CSV file of the site at the end of its build: the rows of each chapter, in order."""

    def write(app: Sphinx, out: Path) -> None:
        with (out / name).open("w", newline="", encoding="utf8") as file:
            sheet = csv.DictWriter(file, columns)
            sheet.writeheader()
            for chapter in chapters(app.env):
                sheet.writerows(rows(chapter))

    when_built(app, write)

"""What each release does: strips in *How we know*, and the page Versions with its file."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from docutils import nodes
from jinja2 import Environment, FileSystemLoader
from packaging.version import Version
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.chapters import Chapter, evidence
from casebook.chapters.evidence import Row

from . import notebook

LEVELS = {"cpu": "", "gpu": ", on a GPU"}
DAYS = {"release": "as of release", "today": "today"}
STOPPED = "stopped before"  # it failed for a reason that has nothing to do with the case
REASON = re.compile(
    r"^(?:\w+\.)*(?:ModuleNotFound|Import|Attribute)Error: |cannot open shared object"
    r"|could not be built|Failed to load|driver init"
)
SIGNS = {
    evidence.REPRODUCED: "✗",
    evidence.NOT_REPRODUCED: "✓",
    evidence.DIFFERENT: "!",
    STOPPED: "·",
    evidence.CANNOT: "–",
}
KINDS = dict(zip(SIGNS, ("fails", "works", "otherwise", "stopped", "none"), strict=True))  # style
FILE = "_static/versions.csv"

Ran = dict[tuple[str, str], Row]  # a release's rows by level and day


def runs(chapter: Chapter) -> list[Row]:
    """The rows of a chapter; those that ended before the case began say so."""
    known = chapter.facts.messages
    rows = evidence.rows(chapter)
    return [replace(row, outcome=STOPPED) if stopped(row, known) else row for row in rows]


def stopped(row: Row, known: list[str]) -> bool:
    """Whether a run ended, by no message of the case, before the case began."""
    ended = row.outcome == evidence.DIFFERENT and REASON.search(row.line)
    return bool(ended) and not any(words in row.line for words in known)


def anchor(row: Row) -> str:
    """The place of a release on the page Versions."""
    return f"{row.library}-{row.release}".replace(".", "-")


def by(rows: Iterable[Row], *names: str) -> dict[Any, list[Row]]:
    """Rows in groups of equal attributes, in the order in which they come."""
    key = attrgetter(*names)
    return evidence.grouped((key(row), row) for row in rows)


def span(values: Sequence[str]) -> str:
    """From the first value to the last: "0.9.0 – 0.15.1", or the only one."""
    return "\u00a0– ".join(dict.fromkeys((values[0], values[-1])))


def ending(row: Row) -> str:
    return f"{row.outcome} · {row.line}" if row.line else row.outcome


def dependency_set(level: str, as_of: str) -> str:
    return DAYS[as_of] + LEVELS[level]


def legend(rows: list[Row]) -> tuple[list[str], list[str]]:
    """The outcomes that rows have; the days of today's sets, and the GPUs."""
    days = sorted(row.date for row in rows if row.as_of == "today")
    notes = [f"today: {span(days)}"] if days else []
    notes += dict.fromkeys(f"GPU: {row.gpu}, driver {row.driver}" for row in rows if row.gpu)
    seen = by(rows, "outcome")
    return [each for each in SIGNS if each in seen], notes


TEMPLATES = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
TEMPLATES.globals |= {"signs": SIGNS, "kinds": KINDS, "span": span, "ending": ending}


def render(macro: str, *values: Any) -> nodes.raw:
    """A node with the HTML of a macro of versions.html."""
    return notebook.html(
        str(getattr(TEMPLATES.get_template("versions.html").module, macro)(*values))
    )


# --- the strip


def show_strips(app: Sphinx, tree: nodes.document) -> None:
    """Put the strips of a chapter into its section *How we know*, before the text."""
    chapter = notebook.chapter(tree)
    for section in list(tree.findall(nodes.section)):
        if chapter and section[0].astext() == "How we know":
            app.env.note_dependency(str(evidence.path(chapter)))
            section[1:1] = [strip(*each) for each in by(runs(chapter), "library").items()]


def strip(library: str, rows: list[Row]) -> nodes.raw:
    """The releases of a library side by side, a line for each dependency set; what they said.

    Neighbouring releases that end alike in every line share a column, sets that do so a line.
    """
    ran = [{(row.level, row.as_of): row for row in same} for same in by(rows, "release").values()]
    shared = groupby(ran, key=lambda one: {where: row.outcome for where, row in one.items()})
    columns = [list(column) for _, column in shared]
    places = sorted({where for one in ran for where in one})
    cells = {at: [column[-1].get(at) for column in columns] for at in places}
    alike = evidence.grouped(
        (tuple(row and row.outcome for row in line), at) for at, line in cells.items()
    )
    lines = [
        ("; ".join(dependency_set(*at) for at in same), cells[same[-1]]) for same in alike.values()
    ]
    releases = [[head(one).release for one in column] for column in columns]
    return render("strip", library, releases, lines, map(summary, columns), *legend(rows))


def head(ran: Ran) -> Row:
    """A row of a release, for its name and day."""
    return next(iter(ran.values()))


def summary(column: list[Ran]) -> tuple[str, str, str, list[tuple[str, str, str]]]:
    """Anchor, releases, days, and the ends of a column: (outcome, where if not in all, words)."""
    whole = span([head(one).release for one in column])
    ends = evidence.grouped(
        (end, dependency_set(*at))
        for at in sorted(column[0])
        for end in different_ends([one[at] for one in column])
    )
    items = [
        (outcome, "; ".join([some] * (some != whole) + at * (len(at) < len(column[0]))), words)
        for (outcome, some, words), at in ends.items()
    ]
    days = sorted(head(one).released for one in column)
    return anchor(head(column[-1])), whole, span(days), items


def different_ends(rows: list[Row]) -> Iterator[tuple[str, str, str]]:
    """Outcome, releases and words of neighbours whose last lines differ by their numbers alone."""
    for _, group in groupby(rows, key=lambda row: row.line.replace(row.release, "…")):
        alike = list(group)
        yield alike[-1].outcome, span([row.release for row in alike]), ending(alike[-1])


# --- the page


class Versions(SphinxDirective):
    """A section for each library: its releases, newest first, and what each case does with them."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        rows = [row for chapter in notebook.chapters(self.env) for row in runs(chapter)]
        return [section(*each) for each in sorted(by(rows, "library").items())]


def section(library: str, rows: list[Row]) -> nodes.section:
    cases = sorted(by(rows, "case"))
    found = sorted(by(rows, "release").items(), key=lambda pair: Version(pair[0]), reverse=True)
    releases = [
        (anchor(same[0]), name, [marks(same, case) for case in cases], about(same))
        for name, same in found
    ]
    numbered = {notebook.number(case): case for case in cases}
    table = render("section", library, numbered, releases, *legend(rows))
    return nodes.section("", nodes.title("", library), table, ids=[f"of-{library}"])


def marks(rows: list[Row], case: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """What a case does with a release, by level: one mark for runs alike, down to the last line."""
    mine = [row for row in rows if row.case == case]
    return [
        (level, [mark(alike) for alike in by(same, "outcome", "line").values()])
        for level, same in sorted(by(mine, "level").items())
    ]


def mark(alike: list[Row]) -> tuple[str, str]:
    """The outcome of runs that ended alike, and the words at the pointer."""
    one, days = alike[0], " and ".join(DAYS[row.as_of] for row in alike)
    where = f"case {notebook.number(one.case)}, {one.release}, {days}{LEVELS[one.level]}"
    return one.outcome, f"{where}: {ending(one)}"


def about(rows: list[Row]) -> list[str]:
    """A release's day, and the newest Python and NumPy that it was reproduced or not with."""
    ended = [row for row in rows if row.outcome in ("reproduced", "not reproduced")]
    pythons = [row.python or "" for row in ended]
    numpys = [pin[7:] for row in ended for pin in row.closure if pin.startswith("numpy==")]
    return [rows[0].released, *(max(some, key=Version, default="–") for some in (pythons, numpys))]


def lines_of_file(chapter: Chapter) -> Iterator[dict[str, object]]:
    """Every row of a chapter."""
    for row in map(asdict, evidence.rows(chapter)):
        yield row | {"closure": " ".join(row["closure"])}


def setup(app: Sphinx) -> None:
    app.add_directive("versions", Versions)
    app.connect("doctree-read", show_strips, priority=600)
    notebook.offer_file(app, FILE, [field.name for field in fields(Row)], lines_of_file)

"""What each release does: a strip under a case's card, and the tables of the page Versions, which are a file to download too."""

import csv
from html import escape
from itertools import accumulate, groupby
from pathlib import Path

from docutils import nodes
from packaging.version import Version
from sphinx.util.docutils import SphinxDirective

from casebook.authoring.releases import evidence

from . import notebook

SIGNS = {
    evidence.REPRODUCED: "✗",
    evidence.NOT_REPRODUCED: "✓",
    evidence.DIFFERENT: "!",
    evidence.CANNOT: "–",
}
KINDS = {
    evidence.REPRODUCED: "fails",
    evidence.NOT_REPRODUCED: "works",
    evidence.DIFFERENT: "otherwise",
    evidence.CANNOT: "none",
}  # in the style sheet
DAYS = {"release": "as of release", "today": "today"}
LEVELS = {"cpu": "", "gpu": ", on a GPU"}
COLUMNS = (
    "case",
    "library",
    "release",
    "released",
    "as_of",
    "level",
    "outcome",
    "line",
    "python",
    "closure",
    "date",
    "driver",
    "gpu",
)
FILE = "_static/versions.csv"
EMPTY = "<td></td>"
SCREENFUL = 16  # rows of the page Versions below each header


def runs(chapter):
    """The rows of a chapter, without those for which a machine had no Python: they say nothing about the release."""
    return [row for row in evidence.rows(chapter) if row.outcome != evidence.NO_PYTHON]


def anchor(row):
    """The place of a release on the page Versions."""
    return f"{row.library}-{row.release}".replace(".", "-")


def by(rows, *names):
    """Rows in groups of equal attributes, in the order in which they come: [(values, rows), …]."""
    return evidence.gathered(
        (tuple(getattr(row, name) for name in names), row) for row in rows
    ).items()


def different(rows, name):
    """The values of an attribute, each once, in the order in which they come."""
    return list(dict.fromkeys(getattr(row, name) for row in rows))


def span(values):
    """From the first value to the last: "0.9.0 – 0.15.1", or the only one."""
    return "\u00a0– ".join(dict.fromkeys((values[0], values[-1])))


def ending(outcome, line):
    return escape(f"{outcome} · {line}" if line else outcome)


def sign(outcome, attributes="", more=""):
    return f'<span class="{KINDS[outcome]}"{attributes}>{SIGNS[outcome]}{more}</span>'


def legend(rows, *more):
    seen, gpus = (
        {row.outcome for row in rows},
        {f"GPU: {row.gpu}, driver {row.driver}": None for row in rows if row.gpu},
    )
    signs = [f"{sign(outcome)} {outcome}" for outcome in SIGNS if outcome in seen]
    days = sorted(row.date for row in rows if row.as_of == "today")
    words = " \u2002 ".join(
        [*signs, *more, *([f"today: {span(days)}"] if days else []), *map(escape, gpus)]
    )
    return f'<p class="legend">{words}</p>'


def scrolling(name, table):
    """A table in a box of the theme's, which scrolls and says so."""
    return f'<div class="pst-scrollable-table-container" tabindex="0" role="region" aria-label="{name}">{table}</div>'


# --- the strip


def show_strips(app, tree):
    chapter = notebook.chapter(app, app.env.docname)
    card = next(tree.findall(nodes.table), None)
    if chapter and card:
        app.env.note_dependency(str(evidence.path(chapter)))
        strips = [
            notebook.html(strip(name, rows)) for (name,), rows in by(runs(chapter), "library")
        ]
        card.parent[card.parent.index(card) + 1 : card.parent.index(card) + 1] = strips


def strip(library, rows):
    """The releases of a library side by side, a line for each dependency set; folded below it, what they said."""
    lines = sorted({(row.level, row.as_of) for row in rows})
    shared = columns(rows, lines)
    releases = [different(column, "release") for column in shared]
    head = "".join(f'<th scope="col"><span>{span(some)}</span></th>' for some in releases)
    body = "".join(
        line(dependency_set(*one), (cell(column, *one) for column in shared)) for one in lines
    )
    if len(shared) < len(by(rows, "release")):
        body = line("releases", (f"<td>{len(some)}</td>" for some in releases)) + body
    name = f"Releases of {library}"
    table = scrolling(
        name,
        f'<table class="strip"><tr><th scope="col">dependency set</th>{head}</tr>{body}</table>',
    )
    more = ["empty: not run"] if EMPTY in body else []
    return (
        f'<figure class="releases"><figcaption>{name}</figcaption>{table}{legend(rows, *more)}'
        f"<details><summary>What they said</summary><dl>{''.join(map(said, shared))}</dl></details></figure>"
    )


def dependency_set(level, as_of):
    return DAYS[as_of] + LEVELS[level]


def line(name, cells):
    return f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>'


def columns(rows, lines):
    """Rows in groups: neighbouring releases that end alike in every line share a column."""
    releases = [same for _, same in by(rows, "release")]
    ends = [
        bridged(
            [
                next((row.outcome for row in same if (row.level, row.as_of) == line), None)
                for same in releases
            ]
        )
        for line in lines
    ]
    return [
        [row for _, same in column for row in same]
        for _, column in groupby(
            zip(zip(*ends, strict=True), releases, strict=True), key=lambda pair: pair[0]
        )
    ]


def bridged(outcomes):
    """What was not run (None) between two that ended alike is taken to end so, too."""
    before = list(accumulate(outcomes, lambda last, one: one or last))
    after = list(accumulate(reversed(outcomes), lambda last, one: one or last))[::-1]
    return [old if old == new else None for old, new in zip(before, after, strict=True)]


def cell(column, level, as_of):
    """The sign of those that were run; the pointer reads what the newest of them said."""
    ran = [row for row in column if (row.level, row.as_of) == (level, as_of)]
    if not ran:
        return EMPTY
    releases, newest = len(different(column, "release")), ran[-1]
    others = "; older ones said something else" if len(set(map(masked, ran))) > 1 else ""
    part = f" {len(ran)} of {releases}" if len(ran) < releases else ""
    mark = sign(
        newest.outcome,
        f' role="img" aria-label="{newest.outcome}{part}"',
        part and f"<small>{part}</small>",
    )
    return (
        f'<td title="{newest.release}: {ending(newest.outcome, newest.line)}{others}">{mark}</td>'
    )


def masked(row):
    """The last line without the release's own number, by which alone those of neighbours may differ."""
    return row.line.replace(row.release, "…")


def said(column):
    """Each end with its last line: in which of the column's releases and dependency sets, where not in all."""
    releases, sets = span(different(column, "release")), by(column, "level", "as_of")
    items = ""
    for (outcome, line, some), where in evidence.gathered(ends(column)).items():
        only = [some] * (some != releases) + where * (len(where) < len(sets))
        items += f"<dd>{sign(outcome)} {'; '.join(only)}{': ' if only else ''}{ending(outcome, line)}</dd>"
    days = span(sorted(different(column, "released")))
    return f'<dt><a href="../book/versions.html#{anchor(column[-1])}">{releases}</a> ({days})</dt>{items}'


def ends(column):
    """Pairs of an end, (outcome, last line, the neighbouring releases that said so), and a dependency set."""
    for (level, as_of), rows in sorted(by(column, "level", "as_of")):
        for (outcome, _), alike in groupby(rows, key=lambda row: (row.outcome, masked(row))):
            alike = list(alike)
            yield (
                (outcome, alike[-1].line, span(different(alike, "release"))),
                dependency_set(level, as_of),
            )


# --- the page


class Versions(SphinxDirective):
    """A section for each library: its releases, newest first, and what each case does with them."""

    def run(self):
        self.env.note_reread()
        rows = [row for chapter in notebook.chapters(self.env) for row in runs(chapter)]
        return [section(name, found) for (name,), found in sorted(by(rows, "library"))]


def section(library, rows):
    cases = sorted({row.case for row in rows})
    linked = [
        f'<a href="../notebooks/{case}.html" title="{case}">{notebook.number(case)}</a>'
        for case in cases
    ]
    releases = groupby(
        sorted(rows, key=lambda row: Version(row.release), reverse=True),
        key=lambda row: row.release,
    )
    body = [release(list(found), cases) for _, found in releases]
    for place in range(SCREENFUL, len(body), SCREENFUL):
        body[place] = header(map(notebook.number, cases)) + body[place]
    table = scrolling(library, f'<table class="versions">{header(linked)}{"".join(body)}</table>')
    return nodes.section(
        "", nodes.title("", library), notebook.html(table + legend(rows)), ids=[f"of-{library}"]
    )


def release(rows, cases):
    one = rows[0]
    found = {case: [row for row in rows if row.case == case] for case in cases}
    cells = "".join(f"<td>{marks(found[case])}</td>" for case in cases)
    about = "".join(f"<td>{value}</td>" for value in (one.released, *newest(rows)))
    return f'<tr id="{anchor(one)}"><th scope="row">{one.release}</th>{cells}{about}</tr>'


def header(cases):
    return (
        "<tr>"
        + "".join(
            f'<th scope="col">{name}</th>' for name in ("Release", *cases, "Day", "Python", "NumPy")
        )
        + "</tr>"
    )


def marks(rows):
    """Those of a case and a release, in a box of their own for each level."""
    return "".join(
        f'<span class="{level}">{"".join(mark(alike) for _, alike in by(same, "outcome", "line"))}</span>'
        for (level,), same in sorted(by(rows, "level"))
    )


def mark(rows):
    """One for runs that ended alike, down to the last line."""
    one = rows[0]
    days = " and ".join(DAYS[row.as_of] for row in rows)
    words = f"case {notebook.number(one.case)}, {one.release}, {days}{LEVELS[one.level]}: {ending(one.outcome, one.line)}"
    return sign(one.outcome, f' role="img" title="{words}"')


def newest(rows):
    """The newest Python, and the newest NumPy, with which a case ended as a case ends; a dash for none."""
    ended = [row for row in rows if row.outcome in (evidence.REPRODUCED, evidence.NOT_REPRODUCED)]
    numpys = [
        pin.removeprefix("numpy==")
        for row in ended
        for pin in row.closure
        if pin.startswith("numpy==")
    ]
    return [
        max(found, key=Version, default="–") for found in ([row.python for row in ended], numpys)
    ]


def write_file(app, exception):
    """Every row, as a file."""
    if not exception and app.builder.name == "html":
        with (Path(app.outdir) / FILE).open("w", newline="", encoding="utf8") as file:
            sheet = csv.writer(file)
            sheet.writerow(COLUMNS)
            for chapter in notebook.chapters(app.env):
                for row in evidence.rows(chapter):
                    sheet.writerow(
                        " ".join(row.closure) if name == "closure" else getattr(row, name) or ""
                        for name in COLUMNS
                    )


def setup(app):
    app.add_directive("versions", Versions)
    app.connect("doctree-read", show_strips, priority=600)
    app.connect("build-finished", write_file)

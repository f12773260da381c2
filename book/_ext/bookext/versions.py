"""What each release does: a strip under a case's card, and the tables of the page Versions, which are a file to download too."""
import csv
from html import escape
from itertools import groupby
from pathlib import Path

from docutils import nodes
from packaging.version import Version
from sphinx.util.docutils import SphinxDirective

from casebook.versions import data

from . import notebook

SIGNS = {data.FAILS: "\u2717", data.WORKS: "\u2713", data.OTHERWISE: "!", data.CANNOT: "\u2013", data.NO_PYTHON: "\u2013"}
SURROUNDINGS = {"release": "its day", "today": "today"}
LEVELS = {"cpu": "", "gpu": ", on a GPU"}
COLUMNS = ("case", "library", "release", "released", "as_of", "level", "outcome", "line", "python", "closure", "date", "driver", "gpu")
FILE = "_static/versions.csv"


def kind(outcome):
    """The outcome's word in the style sheet."""
    return {data.FAILS: "fails", data.WORKS: "works", data.OTHERWISE: "otherwise"}.get(outcome, "none")


def anchor(row):
    """The place of a release on the page Versions."""
    return f"{row.library}-{row.release}".replace(".", "-")


def said(row):
    """One run in words."""
    day = f"as of {row.released}" if row.as_of == "release" else f"as of {row.date}"
    return f"{row.library} {row.release}, {day}{LEVELS[row.level]}: {row.outcome}" + (f" \u00b7 {row.line}" if row.line else "")


def by(rows, *names):
    """Rows in groups of equal attributes, in the order in which they come: [(values, rows), …]."""
    return data.gathered((tuple(getattr(row, name) for name in names), row) for row in rows).items()


# --- the strip

def show_strips(app, tree):
    chapter = notebook.chapter(app, app.env.docname)
    card = next(tree.findall(nodes.table), None)
    if chapter and card:
        app.env.note_dependency(str(data.path(chapter)))
        strips = [notebook.html(strip(name, rows)) for (name,), rows in by(data.rows(chapter), "library")]
        card.parent[card.parent.index(card) + 1:card.parent.index(card) + 1] = strips


def strip(library, rows):
    """The releases of a library side by side, a line for each surrounding. A script says below what the pointer or the focus is on."""
    releases = list(dict.fromkeys(row.release for row in rows))
    head = "".join(f'<th scope="col"><span>{escape(release)}</span></th>' for release in releases)
    lines = "".join(line(f"{SURROUNDINGS[as_of]}{LEVELS[level]}", releases, same)
                    for (level, as_of), same in sorted(by(rows, "level", "as_of")))
    name = f"Releases of {library}"
    table = scrolling(name, f'<table class="strip"><tr><th scope="col">with the packages of</th>{head}</tr>{lines}</table>')
    return (f'<figure class="releases"><figcaption>{name}</figcaption>{table}<p class="legend">{legend(rows)}</p>'
            '<p class="run" aria-hidden="true"></p></figure>')


def scrolling(name, table):
    """A table in a box of the theme's, which scrolls and says so."""
    return f'<div class="pst-scrollable-table-container" tabindex="0" role="region" aria-label="{name}">{table}</div>'


def line(name, releases, rows):
    found = {row.release: row for row in rows}
    cells = "".join(sign(found[release]) if release in found else "<td></td>" for release in releases)
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'


def sign(row):
    words = escape(said(row))
    return (f'<td class="{kind(row.outcome)}"><a href="../book/versions.html#{anchor(row)}" title="{words}" aria-label="{words}">'
            f"{SIGNS[row.outcome]}</a></td>")


def legend(rows):
    seen, gpus = {row.outcome for row in rows}, {f"GPU: {row.gpu}, driver {row.driver}": None for row in rows if row.gpu}
    signs = [f'<span class="{kind(outcome)}">{SIGNS[outcome]}</span> {outcome}' for outcome in data.OUTCOMES if outcome in seen]
    return " \u2002 ".join([*signs, *map(escape, gpus)])


# --- the page

class Versions(SphinxDirective):
    """A section for each library: its releases, newest first, and what each case does with them."""

    def run(self):
        self.env.note_reread()
        rows = [row for chapter in notebook.chapters(self.env) for row in data.rows(chapter)]
        return [self.section(name, found) for (name,), found in sorted(by(rows, "library"))]

    def section(self, library, rows):
        cases = sorted({row.case for row in rows})
        head = "".join(f'<th scope="col"><a href="../notebooks/{case}.html" title="{case}">{notebook.number(case)}</a></th>'
                       for case in cases)
        releases = groupby(sorted(rows, key=lambda row: Version(row.release), reverse=True), key=lambda row: row.release)
        body = "".join(self.release(list(found), cases) for _, found in releases)
        columns = "".join(f'<th scope="col">{name}</th>' for name in ("Release", "Day", "Python", "NumPy"))
        table = scrolling(library, f'<table class="versions"><tr>{columns}{head}</tr>{body}</table>')
        shown = notebook.html(f'{table}<p class="legend">{legend(rows)}</p>')
        return nodes.section("", nodes.title("", library), shown, ids=[f"of-{library}"])

    def release(self, rows, cases):
        one = rows[0]
        found = {case: [row for row in rows if row.case == case] for case in cases}
        cells = "".join(f"<td>{marks(found[case])}</td>" for case in cases)
        about = "".join(f"<td>{value}</td>" for value in (one.released, *newest(rows)))
        return f'<tr id="{anchor(one)}"><th scope="row">{one.release}</th>{about}{cells}</tr>'


def marks(rows):
    """Those of a case and a release, in a box of their own for each level."""
    return "".join(f'<span class="{level}">{"".join(map(mark, same))}</span>' for (level,), same in sorted(by(rows, "level")))


def mark(row):
    words = escape(said(row))
    return f'<span class="{kind(row.outcome)}" role="img" aria-label="{words}" title="{words}">{SIGNS[row.outcome]}</span>'


def newest(rows):
    """The newest Python, and the newest NumPy, with which a case ended as a case ends; a dash for none."""
    ended = [row for row in rows if row.outcome in (data.FAILS, data.WORKS)]
    numpys = [pin.removeprefix("numpy==") for row in ended for pin in row.closure if pin.startswith("numpy==")]
    return [max(found, key=Version, default="\u2013") for found in ([row.python for row in ended], numpys)]


def write_file(app, exception):
    """Every row, as a file."""
    if not exception and app.builder.name == "html":
        with (Path(app.outdir) / FILE).open("w", newline="", encoding="utf8") as file:
            sheet = csv.writer(file)
            sheet.writerow(COLUMNS)
            for chapter in notebook.chapters(app.env):
                for row in data.rows(chapter):
                    sheet.writerow(" ".join(row.closure) if name == "closure" else getattr(row, name) or "" for name in COLUMNS)


def load_script(app, pagename, templatename, context, doctree):
    if doctree and any('class="releases"' in raw.astext() for raw in doctree.findall(nodes.raw)):
        app.add_js_file("versions.js", loading_method="defer")


def setup(app):
    app.add_directive("versions", Versions)
    app.connect("doctree-read", show_strips, priority=600)
    app.connect("html-page-context", load_script)
    app.connect("build-finished", write_file)

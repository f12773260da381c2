"""What was hunted, for the status page: a table and a picture, through the directive `hunts`.

`casebook hunt` stores the data in book/hunts.json.
"""

import html
import json
import math
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.cells.repository import HUNTS

from . import notebook
from .status import table

COLUMNS = ("Target", "Programs", "Agree", "Explained", "Not judged", "New", "Run")
SIDE = 12  # of a square, in pixels
LEFT, TOP = 170, 90  # room for names


class Hunts(SphinxDirective):
    """A row for each target, and how many programs had which operation and dtype."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(HUNTS))
        hunts = json.loads(HUNTS.read_text("utf-8"))
        drawn = [picture(hunt) for hunt in hunts if hunt["covered"]]
        return [table("hunts", COLUMNS, map(summary, hunts)), *drawn]


def summary(hunt: dict[str, Any]) -> list[str]:
    counts = hunt["outcomes"]
    some = (counts.get(key, 0) for key in ("same", "documented", "unable"))
    numbers = [f"{count:,}" for count in (sum(counts.values()), *some, hunt["new"])]
    place = hunt["gpu"] or "no GPU"
    return [f"{hunt['target']}: {hunt['library']}", *numbers, f"{hunt['date']}, {place}"]


def picture(hunt: dict[str, Any]) -> nodes.raw:
    """Operations by dtypes: the more programs, the darker, by powers of ten."""
    counts = {tuple(pair.split()): n for pair, n in hunt["covered"].items()}
    rows = sorted({operation for operation, _ in counts})
    columns = sorted({dtype for _, dtype in counts})
    parts = []
    for y, row in enumerate(rows):
        place = f'x="{LEFT - 6}" y="{TOP + SIDE * y + 10}" text-anchor="end"'
        parts.append(f"<text {place}>{html.escape(row)}</text>")
    for x, column in enumerate(columns):
        place = f'transform="translate({LEFT + SIDE * x + 10} {TOP - 6}) rotate(-90)"'
        parts.append(f"<text {place}>{html.escape(column)}</text>")
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            count = counts.get((row, column), 0)
            shade = min(1.0, 0.08 + math.log10(1 + count) / 4)
            title = html.escape(f"{row}, {column}: {count}")
            parts.append(
                f'<rect x="{LEFT + SIDE * x}" y="{TOP + SIDE * y}" width="{SIDE - 1}"'
                f' height="{SIDE - 1}" opacity="{shade:.2f}"><title>{title}</title></rect>'
            )
    width, height = LEFT + SIDE * len(columns), TOP + SIDE * len(rows)
    about = html.escape(
        f"{hunt['target']}: programs for each of {len(rows)} operations and {len(columns)} dtypes"
    )
    return notebook.html(
        f'<figure class="hunt"><figcaption>{about}</figcaption><svg viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" role="img" aria-label="{about}"'
        f' fill="currentColor" font-size="10">{"".join(parts)}</svg></figure>'
    )


def setup(app: Sphinx) -> None:
    app.add_directive("hunts", Hunts)

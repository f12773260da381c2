"""The vocabulary of the book's drawings: SVG text, without a library, the same bytes each time.

A drawing is 480 units wide, so that its words are legible on a phone, and its parts stand one below
the other: the failing panel above the fixed one. Red (BAD) goes wrong and has a thick or dashed
edge, green (OK) is right. Words that do not fit, malformed entries and colours of one's own raise
ValueError. A field in brackets may be left out; where it says dashed, any true value will do.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

INK, OK, BAD = "#6e6e6e", "#1a7f5a", "#c1440e"
BLUE, OCHRE, VIOLET = "#3f6ac4", "#876500", "#8f4fa5"
COLOURS = {INK, OK, BAD, BLUE, OCHRE, VIOLET}
WIDTH, LEFT, RIGHT = 480, 2, 478
ROW = 34  # height of a box
EDGE = 'stroke-width="2"', 'stroke-width="3"'  # the second for red
EMS = {r"[ .,:;'|!()\[\]/fijlrtI]": 0.4, "[mwMW%@→…−=+<>×]": 0.95, "[A-Z]": 0.72, ".": 0.64}
Entries = Iterable[Sequence[Any]]
ColourOf = Callable[[int, int], str | None]


def parse_entries(entries: Entries, fields: str, least: int = 0) -> list[list[Any]]:
    """Entries of named fields, of which those with a ? may be missing."""
    names = fields.split()
    needed = sum("?" not in name for name in names)
    parsed = []
    for entry in entries:
        given = list(entry) if isinstance(entry, tuple | list) else []
        if not needed <= len(given) <= len(names):
            raise ValueError(f"{entry!r} is not ({', '.join(names)})")
        parsed.append(given + [""] * (len(names) - len(given)))
        if "colour" in names and parsed[-1][names.index("colour")] not in COLOURS:
            raise ValueError(f"{entry!r} has no colour of casebook.drawing as its colour")
    if len(parsed) < least:
        raise ValueError(f"at least one entry ({', '.join(names)}) is needed")
    return parsed


def width_of(words: Any, size: float, bold: bool = False) -> float:
    """Units that words take, estimated for DejaVu Sans, the widest of the usual fonts."""
    ems = sum(next(em for kind, em in EMS.items() if re.match(kind, c)) for c in str(words))
    return ems * size * (1.14 if bold else 1)


def fit_words(words: Any, room: float, sizes: Iterable[int], bold: bool = False) -> int:
    """The first of the sizes in which the words fit into the room."""
    for size in sizes:
        if (need := width_of(words, size, bold)) <= max(room, 0) + 0.01:
            return size
    raise ValueError(f"{words!r} needs {need:.0f} units and has {max(room, 0):.0f}")


def wrap_words(words: str, room: float, size: int, bold: bool = False) -> list[str]:
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size, bold) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return [line for line in lines if line]


class Drawing:
    """A picture that a cell shows by its last expression; each method adds a part at the bottom.

    description: a sentence with what the picture shows, for those who do not see it.
    """

    def __init__(self, description: str) -> None:
        self.description = " ".join(description.split())
        if not self.description:
            raise ValueError("a drawing needs a description: a sentence with what it shows")
        self.parts: list[str] = []
        self.y = 4.0

    def __repr__(self) -> str:
        return "<casebook.drawing.Drawing object>"  # stored beside the picture: without an address

    def _repr_svg_(self) -> str:
        height = f"{self.y + 4:g}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" role="img" '
            f"aria-label={quoteattr(self.description)}>\n<title>{escape(self.description)}</title>\n"
            + "\n".join(self.parts)
            + "\n</svg>"
        )

    def title(self, words: str, colour: str = INK) -> None:
        """The heading of a panel, wrapped."""
        self.y += 6
        self._paragraph(words, colour, 16, bold=True)

    def note(self, words: str, colour: str = INK) -> None:
        """A sentence, wrapped."""
        self._paragraph(words, colour, 15)

    def lanes(
        self, names: Sequence[str], spans: Entries, arrows: Entries = (), ticks: Entries = ()
    ) -> None:
        """Time or memory from left to right, with a lane for each stream, thread, block or array.

        spans: (lane, start, end, words, colour[, dashed]); arrows: (lane, at, lane, at, colour), to
        another lane; ticks: (at, words), above the lanes. start, end and at are from 0 to 1.
        """
        if not names or len({*names}) < len(names):
            raise ValueError(f"lanes need names, each of them once, not {names!r}")
        bars = parse_entries(spans, "lane start end words colour dashed?")
        tips = parse_entries(arrows, "lane at lane at colour")
        for lane in [bar[0] for bar in bars] + [lane for tip in tips for lane in tip[0:4:2]]:
            if lane not in names:
                raise ValueError(f"{lane!r} is not a lane: {', '.join(names)}")
        left = LEFT + max(width_of(name, 15) + 8 for name in names)

        def x_of(at: float) -> float:
            if not 0 <= at <= 1:
                raise ValueError(f"{at!r} is not from 0 to 1")
            return left + at * (RIGHT - left)

        if marks := parse_entries(ticks, "at words"):
            self._labels((x_of(at), words, INK) for at, words in marks)
        step = ROW + (18 if tips else 8)
        top = {name: self.y + step * row for row, name in enumerate(names)}
        for name, y in top.items():
            self._text(LEFT, y + 22, name, INK)
            middle, edge = y + ROW / 2, 0.0  # a thin line, where nothing stands on it
            own = sorted((bar for bar in bars if bar[0] == name), key=lambda bar: bar[1:3])
            for _, start, end, words, colour, dashed in own:
                x, width = x_of(start), x_of(end) - x_of(start)
                if not edge <= start < end:
                    raise ValueError(f"{words!r} on {name!r} overlaps, or ends before it starts")
                self._line([(x_of(edge), middle), (x, middle)], INK, tip=False)
                self._box(x + 1, width - 2, words, colour, dashed, y)
                edge = end
            self._line([(x_of(edge), middle), (RIGHT, middle)], INK, tip=False)
        for lane, at, other, then, colour in tips:
            if lane == other:
                raise ValueError(f"an arrow from {lane!r} to itself")
            down = top[lane] < top[other]
            ends = (top[lane] + ROW, top[other] - 1) if down else (top[lane], top[other] + ROW + 1)
            self._line([(x_of(at), ends[0]), (x_of(then), ends[1])], colour)
        self.y = y + ROW + 8

    def cells(
        self, values: Sequence[Any], colours: Sequence[str], reads: Entries = (),
        outside: Iterable[int] = (),
    ) -> None:  # fmt: skip
        """A row of memory: a box for each value, in the colour of its owner.

        None as a value leaves a gap, so that rows stand in line. reads: (box, words, colour), an
        arrow from below to the box of that number; outside: numbers of boxes with a dashed edge.
        """
        if len(values) == 0 or len(values) != len(colours):
            raise ValueError(f"{len(values)} values and {len(colours)} colours")
        tips, dashed = parse_entries(reads, "box words colour"), {*outside}
        for box in [tip[0] for tip in tips] + [*dashed]:
            if box not in range(len(values)):
                raise ValueError(f"there is no box {box!r} among {len(values)}")
        width = min(44, (RIGHT - LEFT) / len(values))
        for k, (value, colour) in enumerate(zip(values, colours, strict=True)):
            if value is not None:
                self._box(LEFT + k * width, width, value, colour, k in dashed)
        self.y += ROW + 4
        marks = [(LEFT + (box + 0.5) * width, words, colour) for box, words, colour in tips]
        for x, _, colour in marks:
            self._line([(x, self.y + 18), (x, self.y)], colour)
        if marks:
            self.y += 18
            self._labels(marks)
        self.y += 4

    def bits(self, fields: Entries, readings: Entries = ()) -> None:
        """The bits or bytes of a number, and below them what is read from which of them.

        fields: (words, count, colour), count in bits or bytes; readings: (first, end, words,
        colour[, dashed]), from the bit or byte `first` up to `end`, which is not read.
        """
        parts = parse_entries(fields, "words count colour", least=1)
        if min(count for _, count, _ in parts) <= 0:
            raise ValueError("a field needs a count above 0")
        total = sum(count for _, count, _ in parts)
        unit, x, edge = (RIGHT - LEFT) / total, float(LEFT), 0
        for words, count, colour in parts:
            self._box(x, count * unit, words, colour)
            x += count * unit
        self.y += ROW + 5
        reads = parse_entries(readings, "first end words colour dashed?")
        for first, end, words, colour, dashed in reads:
            if not 0 <= first < end <= total:
                raise ValueError(f"{words!r} reads {first} to {end} of {total}")
            self.y += ROW + 5 if first < edge else 0
            edge = end
            self._box(LEFT + first * unit + 2, (end - first) * unit - 4, words, colour, dashed)
        self.y += ROW + 8 if reads else 3

    def files(self, asker: str, places: Entries) -> None:
        """Who looks for a file, and what lies in each place, in the order of the search.

        places: (place, content, colour[, outside]); no arrow leads to a place that is outside.
        """
        rows = parse_entries(places, "place content colour outside?", least=1)
        self._box(LEFT, RIGHT - LEFT, asker, INK)
        trunk = self.y + ROW
        for place, content, colour, outside in rows:
            self.y += ROW + 8
            self._box(44, RIGHT - 44, "", colour, outside)
            size = fit_words(f"{place}   {content}", RIGHT - 60, (15, 14, 13))
            self._text(52, self.y + 22, place, colour, "start", size)
            self._text(RIGHT - 8, self.y + 22, content, colour, "end", size)
            if not outside:
                middle = self.y + ROW / 2
                self._line([(20, trunk), (20, middle), (43, middle)], INK)
        self.y += ROW + 8

    def keyed(self, inputs: Entries, key: str, entry: str, colour: str) -> None:
        """What goes into a cache's key, and what only into the entry that the key finds.

        inputs: (words, colour[, missing]), missing if the key does not hold it; key, entry: words;
        colour: of the entry.
        """
        rows = sorted(parse_entries(inputs, "words colour missing?"), key=lambda row: bool(row[2]))
        held = sum(not missing for *_, missing in rows)
        if not held:
            raise ValueError("a key needs at least one input that it holds")
        height, rest = (n * (ROW + 8) - 8 for n in (held, max(len(rows) - held, 1)))
        entry_y = self.y + height + 18
        self._box(270, RIGHT - 270, key, INK, height=height)
        self._line([(374, entry_y - 18), (374, entry_y - 1)], INK)
        self._box(270, RIGHT - 270, entry, colour, y=entry_y, height=rest)
        for k, (words, own, missing) in enumerate(rows):
            y = self.y + k * (ROW + 8) + (10 if missing else 0)
            self._box(LEFT, 210, words, own, missing, y)
            self._line([(212, y + ROW / 2), (268, y + ROW / 2)], own, dashed=missing)
        self.y = entry_y + rest + 8

    def ruler(self, points: Entries, ranges: Entries = (), jumps: Entries = ()) -> None:
        """A number line from the lowest to the highest number that the entries name.

        points: (number, words, colour); ranges: (low, high, words, colour), bars below the line;
        jumps: (number, number, words, colour), arrows above it, the widest first.
        """
        dots = parse_entries(points, "number words colour", least=1)
        bars = parse_entries(ranges, "low high words colour")
        leaps = parse_entries(jumps, "number number words colour")
        numbers = [dot[0] for dot in dots] + [n for entry in bars + leaps for n in entry[:2]]
        low, high = min(numbers), max(numbers)
        if low == high:
            raise ValueError("a ruler needs two different numbers")

        def x_of(number: float) -> float:
            return 14 + (number - low) / (high - low) * (WIDTH - 28)

        axis = self.y + 30 * len(leaps) + 14
        for start, end, words, colour in leaps:
            x, then = x_of(start), x_of(end)
            self._labels([((x + then) / 2, words, colour)])
            self._line([(x, axis - 8), (x, self.y), (then, self.y), (then, axis - 8)], colour)
            self.y += 10
        self._line([(LEFT, axis), (RIGHT, axis)], INK, tip=False)
        for number, _, colour in dots:
            self.parts.append(
                f'<circle cx="{x_of(number):.5g}" cy="{axis:g}" r="5" fill="{colour}" '
                f'fill-opacity="0.2" stroke="{colour}" {EDGE[colour == BAD]}/>'
            )
        self.y = axis + 8
        self._labels((x_of(number), words, colour) for number, words, colour in dots)
        for start, end, words, colour in bars:
            if start >= end:
                raise ValueError(f"{words!r} ends before it starts")
            self._box(x_of(start), x_of(end) - x_of(start), words, colour)
            self.y += ROW + 5
        self.y += 4

    def threads(self, rows: Sequence[Any], columns: Sequence[Any], colour_of: ColourOf) -> None:
        """Threads as rows, elements as columns, each with its name, which may be empty.

        colour_of: takes the numbers of a row and a column; None if the thread does not touch it.
        """
        if not rows or not columns:
            raise ValueError("threads need at least one row and one column")
        left = LEFT + max(width_of(row, 15) + 8 for row in rows)
        width = min(60, (RIGHT - left) / len(columns))
        if any(columns):
            self._labels((left + (k + 0.5) * width, name, INK) for k, name in enumerate(columns))
        for row, name in enumerate(rows):
            self._text(LEFT, self.y + 20, name, INK)
            for k in range(len(columns)):
                colour = colour_of(row, k)
                x, tint = left + k * width + 2, 0.35 if colour else 0.03
                self._box(x, width - 4, "", colour or INK, height=28, tint=tint)
            self.y += 32
        self.y += 4

    def layers(self, layers: Entries) -> None:
        """Layers of software from top to bottom: (words, colour[, remark[, missing]])."""
        rows = parse_entries(layers, "words colour remark? missing?", least=1)
        width = 240 if any(remark for _, _, remark, _ in rows) else RIGHT - LEFT
        for k, (words, colour, remark, missing) in enumerate(rows):
            if k:
                self._line([(122, self.y - 18), (122, self.y - 2)], INK)
            self._box(LEFT, width, words, colour, missing)
            self._beside(252, self.y + ROW / 2, remark, colour, RIGHT - 252, 2)
            self.y += ROW + 18
        self.y -= 10

    def flow(self, boxes: Entries, arrows: Entries) -> None:
        """Boxes from top to bottom: (words, colour[, dashed]).

        arrows: (box, box, words, colour) with numbers of boxes. One to the next box goes straight
        down, of the others the first bends round the left, the second round the right.
        """
        rows = parse_entries(boxes, "words colour dashed?", least=1)
        tips = parse_entries(arrows, "box box words colour")
        middles = [self.y + ROW / 2 + k * (ROW + 30) for k in range(len(rows))]
        for (words, colour, dashed), y in zip(rows, middles, strict=True):
            self._box(120, 240, words, colour, dashed, y - ROW / 2)
        straight = [start for start, end, *_ in tips if end == start + 1]
        if len({*straight}) < len(straight) or len(tips) > len(straight) + 2:
            raise ValueError("two arrows straight down from one box, or more than two that bend")
        sides = [(120, 98, 90, -88), (360, 382, 390, 88)]
        for start, end, words, colour in tips:
            if start == end or not {start, end} <= {*range(len(rows))}:
                raise ValueError(f"an arrow from box {start!r} to box {end!r} of {len(rows)}")
            y, then = middles[start], middles[end]
            if end == start + 1:
                self._line([(240, y + ROW / 2), (240, then - ROW / 2 - 1)], colour)
                self._beside(250, (y + then) / 2, words, colour, RIGHT - 250, 1)
            else:
                edge, out, x, room = sides.pop(0)
                self._line([(edge, y), (out, y), (out, then), (edge, then)], colour)
                self._beside(x, (y + then) / 2, words, colour, room, 3)
        self.y = middles[-1] + ROW / 2 + 8

    def _text(
        self, x: float, y: float, words: Any, colour: str,
        anchor: str = "start", size: int = 15, bold: bool = False,
    ) -> None:  # fmt: skip
        if colour not in COLOURS:
            raise ValueError(f"{colour!r} is no colour of casebook.drawing")
        if re.search(r"[\x00-\x1f]", str(words)):
            raise ValueError(f"{words!r} has a character that SVG cannot show")
        room = {"start": WIDTH - x, "middle": 2 * min(x, WIDTH - x), "end": x}[anchor]
        weight = "bold" if bold else "normal"
        fit_words(words, room, [size], bold)
        if str(words):
            self.parts.append(
                f'<text x="{x:.5g}" y="{y:.5g}" fill="{colour}" text-anchor="{anchor}" '
                f'font-size="{size}" font-weight="{weight}">{escape(str(words))}</text>'
            )

    def _paragraph(self, words: str, colour: str, size: int, bold: bool = False) -> None:
        for line in wrap_words(words, RIGHT - LEFT, size, bold):
            self.y += size + 4
            self._text(LEFT, self.y - 4, line, colour, "start", size, bold)
        self.y += 6

    def _beside(
        self, x: float, middle: float, words: str, colour: str, room: float, most: int
    ) -> None:
        """At most so many lines of words, right of x, or left of it if the room is negative."""
        lines = wrap_words(words, abs(room), 14)
        if len(lines) > most:
            raise ValueError(f"{words!r} needs {len(lines)} lines and has {most}")
        for k, line in enumerate(lines):
            y = middle + 5 + 17 * (k - (len(lines) - 1) / 2)
            self._text(x, y, line, colour, "start" if room > 0 else "end", 14)

    def _labels(self, labels: Iterable[tuple[float, Any, str]]) -> None:
        """Words in a row, each centred at its x, or as near as the canvas lets them."""
        edge = 0.0
        for x, words, colour in sorted(labels, key=lambda label: label[0]):
            half = width_of(words, 14) / 2
            x = max(LEFT + half, min(x, RIGHT - half))
            if x - half < edge:
                raise ValueError(f"{words!r} overlaps the words before it")
            edge = x + half + 3
            self._text(x, self.y + 14, words, colour, "middle", 14)
        self.y += 20

    def _box(
        self, x: float, width: float, words: Any, colour: str, dashed: Any = "",
        y: float | None = None, height: float = ROW, tint: float = 0.08,
    ) -> None:  # fmt: skip
        y = self.y if y is None else y
        edge = EDGE[0] + ' stroke-dasharray="5 4"' if dashed else EDGE[colour == BAD]
        self.parts.append(
            f'<rect x="{x:.5g}" y="{y:.5g}" width="{max(width, 1):.5g}" height="{height:.5g}" '
            f'rx="3" fill="{colour}" fill-opacity="{tint}" stroke="{colour}" {edge}/>'
        )
        size = fit_words(words, width - 6, (15, 14, 13))
        self._text(x + width / 2, y + height / 2 + 5, words, colour, "middle", size)

    def _line(
        self, points: Sequence[tuple[float, float]], colour: str, tip: bool = True, dashed: Any = ""
    ) -> None:
        path = "L".join(f"{x:.5g} {y:.5g}" for x, y in points)
        edge = EDGE[colour == BAD] if tip else 'stroke-width="0.7"'
        edge += ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" {edge}/>')
        if tip:
            (x, y), (x1, y1) = points[-2:]
            length = ((x1 - x) ** 2 + (y1 - y) ** 2) ** 0.5
            dx, dy = (x1 - x) / length, (y1 - y) / length
            wings = ((x1 - 9 * dx + s * dy, y1 - 9 * dy - s * dx) for s in (5, -5))
            head = "L".join(f"{a:.5g} {b:.5g}" for a, b in ((x1, y1), *wings))
            self.parts.append(f'<path d="M{head}z" fill="{colour}"/>')

"""Numbers in prose: each one with a unit or a decimal point needs a source.

That is an output, the code, or an entry of the sidecar with its reason.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

UNITS: dict[str, tuple[str, float]] = {  # what a unit measures, and how much of it
    "ns": ("time", 1e-9),
    "us": ("time", 1e-6),
    "ms": ("time", 1e-3),
    "s": ("time", 1),
    "second": ("time", 1),
    "minute": ("time", 60),
    "hour": ("time", 3600),
    "%": ("part", 0.01),
    "percent": ("part", 0.01),
    "times": ("part", 1),
    "x": ("part", 1),
    "kHz": ("frequency", 1e3),
    "MHz": ("frequency", 1e6),
    "GHz": ("frequency", 1e9),
    "B": ("bytes", 1),
    "byte": ("bytes", 1),
    **{
        f"{letter}{i}B{rate}": ("rate" if rate else "bytes", (1024 if i else 1000) ** power)
        for power, letter in enumerate("kMGT", 1)
        for i in ("", "i")
        for rate in ("", "/s")
    },
}
SPELLED = {
    "µs": "us",
    "μs": "us",
    "seconds": "second",
    "minutes": "minute",
    "hours": "hour",
    "bytes": "byte",
    "×": "x",
    "KB": "kB",
    "KiB": "kiB",
    "KB/s": "kB/s",
    "KiB/s": "kiB/s",
}
UNIT = "|".join(sorted(map(re.escape, [*UNITS, *SPELLED]), key=len, reverse=True)).replace(
    "×", r"×(?! ?\d)"
)
SPACE = r"[ \u00a0\u202f]?"
NUMBER = (
    rf"(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)*)"
    rf"(?:{SPACE}(?P<unit>{UNIT})(?![\w/]))?(?![\w]|[.,]\d)"
)
HEDGE = (
    "about|around|almost|nearly|roughly|some|more than|less than|over|under|below|above|"
    "at least|up to|within"
)
CLAIMED = re.compile(
    rf"(?<![\w.,#-])(?:(?P<hedge>{HEDGE}) )?{NUMBER}"
    rf"(?: ?(?P<range>to|and|or|–) (?=\d[\d.,]*{SPACE}(?P<later>{UNIT})(?![\w/])))?"
)
SHOWN = re.compile(
    rf"(?<![\d.])(?P<number>\d{{1,3}}(?:[,_]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)*(?:e[+-]?\d+)?)"
    rf"(?:{SPACE}(?P<unit>{UNIT})(?![\w/]))?"
)


@dataclass(frozen=True)
class Figure:
    """A number as it is written, with its unit ('' for none).

    `hedged`: a word such as `about` stands before it. `cell_kinds`: what the units in the cell
    that shows it measure.
    """

    number: str
    unit: str = ""
    hedged: bool = False
    cell_kinds: frozenset[str] = frozenset()

    @property
    def value(self) -> float | None:
        """The number, None for a version such as 0.65.1."""
        plain = self.number.replace(",", "").replace("_", "")
        return None if self.number.count(".") > 1 else float(plain)

    def matches(self, other: "Figure") -> bool:
        """True where this may be the rounded form of `other`.

        The exact number may be half a unit of the last digit away, a hedged one a tenth of it.
        """
        if (
            "." in self.number
            and not self.unit
            and f"{other.number}.".startswith(f"{self.number}.")
        ):
            return True  # a version, or the beginning of one
        if self.value is None or other.value is None:
            return False
        value, slack = self.value, 0.5 * 10.0 ** -len(self.number.partition(".")[2])
        if self.hedged:
            slack = max(slack, 0.1 * value)
        return any(
            abs(reading - value) <= slack * (1 + 1e-9)
            for reading in self.readings(other, other.value)
        )

    def readings(self, other: "Figure", value: float) -> list[float]:
        """The other number in this one's unit.

        Where the other one has no unit, those in its cell decide; a part may be a fraction.
        """
        kind, factor = UNITS.get(self.unit, ("", 1))
        other_kind, other_factor = UNITS.get(other.unit, ("", 1))
        if kind and other_kind:
            return [value * other_factor / factor] if kind == other_kind else []
        if kind and kind not in other.cell_kinds:
            return []
        return [value, value / factor] if kind == "part" else [value]


def claimed(prose: str) -> Iterator[Figure]:
    """The figures of a piece of prose that need a source: those with a unit or a decimal point."""
    for found in CLAIMED.finditer(prose):
        unit = found["unit"] or found["later"] or ""
        if unit or "." in found["number"]:
            yield Figure(found["number"], SPELLED.get(unit, unit), bool(found["hedge"]))


def shown(output: str, source: str) -> set[Figure]:
    """The figures of a cell: of its output, and of its code those with a unit or many digits."""
    kinds = frozenset(
        UNITS[SPELLED.get(unit, unit)][0]
        for unit in re.findall(rf"(?<![\w/])({UNIT})(?![\w/])", f"{output}\n{source}")
    )
    found = [*SHOWN.finditer(output)]
    found += [f for f in SHOWN.finditer(source) if f["unit"] or len(f["number"]) > 2]
    return {
        Figure(f["number"], SPELLED.get(f["unit"], f["unit"] or ""), cell_kinds=kinds)
        for f in found
    }

"""Numbers in prose: each one with a unit or a decimal point stands in an output, in the code, or in the sidecar with its reason."""

import re
from dataclasses import dataclass

UNITS = {  # what a unit measures, and how much of it
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
NUMBER = rf"(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)*)(?:[ \u00a0\u202f]?(?P<unit>{UNIT})(?![\w/]))?(?![\w]|[.,]\d)"
TOLD = re.compile(
    rf"(?<![\w.,#-])(?:(?P<hedge>about|around|almost|nearly|roughly|some|more than|less than|over|under|below|above|at least|"
    rf"up to|within) )?{NUMBER}(?: ?(?P<range>to|and|or|–) (?=\d[\d.,]*[ \u00a0\u202f]?(?P<later>{UNIT})(?![\w/])))?"
)
SHOWN = re.compile(
    rf"(?<![\d.])(?P<number>\d{{1,3}}(?:[,_]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)*(?:e[+-]?\d+)?)"
    rf"(?:[ \u00a0\u202f]?(?P<unit>{UNIT})(?![\w/]))?"
)


@dataclass(frozen=True)
class Figure:
    """A number as it is written, with its unit ('' for none)."""

    number: str
    unit: str = ""
    hedged: bool = False
    beside: frozenset = frozenset()  # where it is shown: what the units in the same cell measure

    @property
    def value(self):
        """The number, None for a version such as 0.65.1."""
        return (
            None
            if self.number.count(".") > 1
            else float(self.number.replace(",", "").replace("_", ""))
        )

    @property
    def slack(self):
        """How far the exact number may be away: half a unit of the last digit; a tenth of the number after words such as `about`."""
        last = 0.5 * 10.0 ** -len(self.number.partition(".")[2])
        return max(last, 0.1 * self.value) if self.hedged else last

    def fits(self, other):
        """True where this may be the rounded form of `other`."""
        if (
            "." in self.number
            and not self.unit
            and f"{other.number}.".startswith(f"{self.number}.")
        ):
            return True  # a version, or the beginning of one
        if self.value is None or other.value is None:
            return False
        return any(
            abs(value - self.value) <= self.slack * (1 + 1e-9) for value in self.readings(other)
        )

    def readings(self, other):
        """The other number in this one's unit: by its own unit, or, where it has none, by those in its cell (a part may be a fraction)."""
        kind, factor = UNITS.get(self.unit, (None, 1))
        other_kind, other_factor = UNITS.get(other.unit, (None, 1))
        if kind and other_kind:
            return [other.value * other_factor / factor] if kind == other_kind else []
        if kind and kind not in other.beside:
            return []
        return [other.value, other.value / factor] if kind == "part" else [other.value]


def told(prose):
    """The figures of a piece of prose that need a source: those with a unit or a decimal point."""
    for found in TOLD.finditer(prose):
        unit = found["unit"] or found["later"] or ""
        if unit or "." in found["number"]:
            yield Figure(found["number"], SPELLED.get(unit, unit), bool(found["hedge"]))


def shown(output, source):
    """The figures of a cell. Small integers of the code are everywhere: there, they count with their unit only."""
    beside = frozenset(
        UNITS[SPELLED.get(unit, unit)][0]
        for unit in re.findall(rf"(?<![\w/])({UNIT})(?![\w/])", f"{output}\n{source}")
    )
    found = {
        Figure(f["number"], SPELLED.get(f["unit"], f["unit"] or ""), beside=beside)
        for f in SHOWN.finditer(output)
    }
    return found | {
        Figure(f["number"], SPELLED.get(f["unit"], f["unit"] or ""), beside=beside)
        for f in SHOWN.finditer(source)
        if f["unit"] or len(f["number"]) > 2
    }

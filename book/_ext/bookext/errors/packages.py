"""The doctor's table for a pasted list of packages, with versions as the numbers they stand for."""

import json
from typing import Any

from packaging.version import Version

from casebook import doctor
from casebook.cells.repository import ROOT

NUMBERS = "since", "fixed", "oldest", "newest"


def data() -> dict[str, Any]:
    """What packages.js compares: the parts, each fault's ranges, and the known releases."""
    return {
        "watched": doctor.WATCHED,
        "builtIn": doctor.BUILT_IN,
        "withoutCode": doctor.WITHOUT_CODE,
        "cases": [_case(case) for case in sorted(doctor.CASES, key=_weight)],
        "releases": _releases(),
    }


def _weight(case: doctor.Case) -> tuple[bool, int]:
    """What stops everything comes first, then the worst."""
    return case.kind != "does not start", doctor.KINDS.index(case.kind)


def _case(case: doctor.Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "ranges": [_range(one) for one in case.ranges],
        "beside": _range(case.beside) if case.beside else None,
    }


def _range(one: doctor.Range) -> dict[str, Any]:
    """A Range without what it leaves open."""
    fields: dict[str, Any] = {name: doctor.numbers(getattr(one, name) or "") for name in NUMBERS}
    fields |= {"everywhere": one.everywhere, "read": one.read}
    fields |= {"builtIn": one.part == doctor.BUILT_IN}
    return {"part": one.part} | {name: value for name, value in fields.items() if value}


def _releases() -> dict[str, list[str]]:
    """The final releases of each library that the cases are run over, the newest first."""
    found: dict[str, list[str]] = {}
    for one in json.loads((ROOT / "notebooks/releases.json").read_text("utf-8")):
        found.setdefault(one["library"], []).append(one["release"])
    return {name: sorted(versions, key=Version, reverse=True) for name, versions in found.items()}

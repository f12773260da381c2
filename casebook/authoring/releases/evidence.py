"""The file beside a notebook, NN-name.versions.json: what its case did with each release. One line an entry, sorted.

An entry is one release of one library in one dependency set: the packages chosen as of the release's own day, or as of today.

    {"library": "numba-cuda", "release": "0.7.0", "released": "2025-03-13", "as_of": "release", "python": "3.12",
     "closure": "llvmlite==0.44.0 numba==0.61.2 …",
     "cpu": {"outcome": "reproduced", "line": "TypeError: Signature mismatch: …", "date": "2026-11-21", "probe": "1f0c94aa"},
     "gpu": {"outcome": …, "driver": "580.159.04", "gpu": "NVIDIA H200"}}

Nothing that can be installed: `"cannot": "because …", "date": …` in the place of python, closure and the levels. A date is the day on which
this result first came; a run that gives the same again changes nothing, so two runs give the same file.
"""

import json
from dataclasses import dataclass

from packaging.version import Version

from casebook.environments.store import write_whole

REPRODUCED, NOT_REPRODUCED, DIFFERENT, CANNOT, NO_PYTHON = (
    "reproduced",
    "not reproduced",
    "failed differently",
    "cannot be installed",
    "needs another Python",
)
AS_OF = "release", "today"
LEVELS = "cpu", "gpu"
IDENTITY = "library", "release", "released", "as_of"
KEYS = *IDENTITY, "python", "closure", "cpu", "gpu", "cannot", "date"


@dataclass(frozen=True)
class Row:
    """One release in one dependency set at one level: what came of it, and where. Without a GPU, driver and gpu are None."""

    case: str
    library: str
    release: str
    released: str
    as_of: str
    level: str
    python: str | None
    closure: tuple[str, ...]
    outcome: str
    line: str
    date: str
    driver: str | None = None
    gpu: str | None = None


def path(chapter):
    return chapter.path.with_suffix(".versions.json")


def entries(chapter):
    """The entries of a chapter's file; none where it has none."""
    file = path(chapter)
    return json.loads(file.read_text("utf-8")) if file.exists() else []


def rows(chapter):
    """The same as Rows: by library, release, as of, level. What cannot be installed has a row at each level that is probed."""
    for entry in entries(chapter):
        same = chapter.name, *(entry[key] for key in IDENTITY)
        if "cannot" in entry:
            for level in LEVELS:
                if level in chapter.sidecar["versions"][entry["library"]]:
                    yield Row(*same, level, None, (), CANNOT, entry["cannot"], entry["date"])
        for level in LEVELS:
            if found := entry.get(level):
                receipt = {key: value for key, value in found.items() if key != "probe"}
                yield Row(*same, level, entry["python"], tuple(entry["closure"].split()), **receipt)


def gathered(pairs):
    """{key: [values]} in the order of their coming."""
    groups = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def same(a, b):
    """True where two entries are about the same release in the same dependency set."""
    return all(a[key] == b[key] for key in ("library", "release", "as_of"))


def find(chapter, entry):
    """The stored entry that is about the same."""
    return next(old for old in entries(chapter) if same(old, entry))


def store(chapter, entry):
    """Put one entry into a chapter's file, in one step, so that an interrupt leaves the old file or the new one."""
    stored = [old for old in entries(chapter) if not same(old, entry)] + [
        {key: entry[key] for key in KEYS if key in entry}
    ]
    stored.sort(key=lambda e: (e["library"], Version(e["release"]), AS_OF.index(e["as_of"])))
    lines = ",\n".join(json.dumps(e, ensure_ascii=False) for e in stored)
    write_whole(path(chapter), f"[\n{lines}\n]\n".encode())

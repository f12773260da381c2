"""The rows of a case, NN-name.versions.json: what each release did. One line an entry, sorted.

An entry is one release of one library in one dependency set: the packages that an installer chose
as of the release's own day, or as of today. versions.schema.json is the form.

    {"library": "numba-cuda", "release": "0.7.0", "released": "2025-03-13", "as_of": "release",
     "python": "3.12", "closure": "llvmlite==0.44.0 numba==0.61.2 …",
     "cpu": {"outcome": "reproduced", "line": "TypeError: Signature mismatch: …",
             "date": "2026-11-21", "probe": "1f0c94aa"},
     "gpu": {…, "driver": "580.159.04", "gpu": "NVIDIA H200", …}}

Where nothing can be installed, `cannot` (the reason), `asked` (the requirements) and `date` stand
in place of python, closure and the levels. A date is the day on which this result first came; a
run that gives the same again changes nothing, so two runs give the same file.
"""

import dataclasses
import datetime
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import fastjsonschema
from packaging.version import Version

from casebook.chapters.chapter import Chapter
from casebook.environments.store import explain_disk_errors, write_atomically
from casebook.errors import CasebookError

REPRODUCED, NOT_REPRODUCED, DIFFERENT, CANNOT = (
    "reproduced",
    "not reproduced",
    "failed differently",
    "cannot be installed",
)
AS_OF = "release", "today"
LEVELS = "cpu", "gpu"
SCHEMA = Path(__file__).with_name("versions.schema.json")

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What came of a probe at one level; without a GPU, driver and gpu are None."""

    outcome: str
    line: str
    date: str
    driver: str | None = None
    gpu: str | None = None
    probe: str


@dataclass(frozen=True)
class Entry:
    """One line of the file. `closure` and `asked` are requirements with a space between them."""

    library: str
    release: str
    released: str
    as_of: str
    python: str | None = None
    closure: str | None = None
    cpu: Run | None = None
    gpu: Run | None = None
    cannot: str | None = None
    asked: str | None = None
    date: str | None = None

    @classmethod
    def read(cls, table: dict[str, Any]) -> "Entry":
        """The entry that a table of the file describes."""
        return cls(**table | {level: Run(**table[level]) for level in LEVELS if level in table})

    def table(self) -> dict[str, Any]:
        """The entry as a table of the file."""
        return dataclasses.asdict(
            self,
            dict_factory=lambda pairs: {key: value for key, value in pairs if value is not None},
        )

    def run(self, level: str) -> Run | None:
        """What came of a level; where nothing can be installed, that."""
        if self.cannot and self.date:
            return Run(outcome=CANNOT, line=self.cannot, date=self.date, probe="")
        return self.cpu if level == "cpu" else self.gpu

    @property
    def key(self) -> tuple[str, str, str]:
        """Unique key: library, release, as_of."""
        return self.library, self.release, self.as_of

    def __str__(self) -> str:
        return f"{self.library} {self.release} as of {self.as_of}"


@dataclass(frozen=True)
class Row:
    """An entry at one level, with its case. `closure` is a pin for each package."""

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


def path(chapter: Chapter) -> Path:
    return chapter.path.with_suffix(".versions.json")


def entries(chapter: Chapter) -> tuple[Entry, ...]:
    """The entries of a chapter's file; none where it has none.

    Raises CasebookError, one sentence with the file and the entry, where the form is wrong.
    """
    file = path(chapter)
    return parse(file.read_text("utf-8"), file.name) if file.exists() else ()


@functools.lru_cache(maxsize=100)
def parse(text: str, name: str) -> tuple[Entry, ...]:
    """The entries that the text of a file describes."""
    try:
        tables = json.loads(text)
        validator()(tables)
    except json.JSONDecodeError as error:
        wrong = f"line {error.lineno} is not JSON ({error.msg})"
    except fastjsonschema.JsonSchemaValueException as error:
        wrong = error.message
        if found := re.match(r"data\[(\d+)\]\.?", wrong):
            number, rule = int(found[1]), wrong[found.end() :]
            start = json.dumps(tables[number], ensure_ascii=False)[:110]
            value = "" if isinstance(error.value, dict) else f", not {error.value!r}"
            wrong = f"entry {number + 1} ({start} …): {rule}{value}"
    else:
        return tuple(map(Entry.read, tables))
    raise CasebookError(f"{name}: {wrong}; restore the file from git")


@functools.cache
def validator() -> Callable[[Any], Any]:
    return fastjsonschema.compile(json.loads(SCHEMA.read_text("utf-8")))


def rows(chapter: Chapter) -> Iterator[Row]:
    """The same as Rows: by library, release, as of, level.

    What cannot be installed has a row at each level that is probed.
    """
    for entry in entries(chapter):
        probed = chapter.sidecar["versions"].get(entry.library, ())
        for level in LEVELS:
            if (run := entry.run(level)) and (entry.closure or level in probed):
                place = chapter.name, entry.library, entry.release, entry.released, entry.as_of
                closure = tuple((entry.closure or "").split())
                result = run.outcome, run.line, run.date, run.driver, run.gpu
                yield Row(*place, level, entry.python, closure, *result)


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, in the order of their coming."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def store(chapter: Chapter, entry: Entry) -> None:
    """Put one entry into a chapter's file.

    In one step, so that an interrupt leaves the old file or the new one.
    """
    stored = [old for old in entries(chapter) if old.key != entry.key] + [entry]
    stored.sort(key=lambda e: (e.library, Version(e.release), AS_OF.index(e.as_of)))
    write(path(chapter), [one.table() for one in stored])


def write(file: Path, tables: Iterable[dict[str, Any]]) -> None:
    """A file in JSON, a line for each table."""
    lines = ",\n".join(json.dumps(table, ensure_ascii=False) for table in tables)
    with explain_disk_errors(file.parent):
        write_atomically(file, f"[\n{lines}\n]\n".encode())


def today() -> str:
    """The day of a result that comes now; UTC, as results come from many machines."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()

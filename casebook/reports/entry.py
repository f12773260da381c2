"""An entry of *Found here*: book/found/NAME.yml, checked against entry.schema.json.

Its program is what a maintainer pastes. The first line names Python and every package:

    # Python >=3.11,<3.14: cuda-pathfinder==1.9.0 nvidia-cuda-nvrtc-cu12==12.9.86

What each program printed when it last ran is in book/found/runs.json.
"""

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from casebook.cells.hashes import digest
from casebook.cells.header import Header, from_table
from casebook.cells.repository import ROOT
from casebook.chapters.facts import Loader
from casebook.errors import CasebookError, HeaderError, WrongUse
from casebook.execution.modules import imported

PLACE = Path("book", "found")  # for messages
FOLDER = ROOT / PLACE
RUNS = FOLDER / "runs.json"
SCHEMA = Path(__file__).with_name("entry.schema.json")
PINS = re.compile(r"# Python (\S+): (\S.*)\n")
LINES = 25  # of a program, the pins included

# The harms, the worst first, as headings of the page.
HARMS = {
    "numbers": "Wrong numbers, and no error",
    "memory": "Reads or writes outside an array",
    "crash": "The program dies",
    "hang": "Never ends",
    "error": "An error where there should be none",
    "speed": "Slower than it has to be",
}
# What an entry is. A bug is reported; the others are told so that nobody reports them.
KINDS = {
    "bug": "Bug",
    "known": "Known upstream",
    "limitation": "Known limitation",
    "design": "Design decision",
    "request": "Request",
    "undefined": "Undefined input",
    "once": "Seen once",
}


@dataclass(frozen=True)
class Entry:
    """One entry. Texts are Markdown; `prints` and `right` are outputs, where `...` is any text."""

    name: str
    title: str
    project: str
    kind: str
    harm: str
    versions: str
    about: str
    expected: str
    known: str
    cause: str = ""
    workaround: str = ""
    case: str = ""
    cells: tuple[str, ...] = ()
    gpu: bool = False
    toolkit: bool = False
    seconds: int = 60
    program: str = ""
    prints: str = ""
    right: str = ""

    @classmethod
    def read(cls, file: Path) -> "Entry":
        """The entry in a file. Raises CasebookError, one sentence with the file."""
        place = f"{PLACE / file.name}"
        try:
            table = yaml.load(file.read_text("utf-8"), Loader)
            _validator().validate(table)
        except (yaml.YAMLError, jsonschema.ValidationError) as error:
            wrong = getattr(error, "message", str(error))
            where = ".".join(map(str, getattr(error, "absolute_path", ()))) or "the file"
            raise CasebookError(f"{place}: {where}: {wrong}") from None
        table["cells"] = tuple(table.get("cells", ()))
        entry = cls(file.stem, **table)
        if entry.program:
            try:
                dependencies = entry.header().dependencies
            except HeaderError as error:
                raise CasebookError(f"{place}: {error}") from None
            if not any(pin.partition("==")[2] in entry.versions for pin in dependencies):
                raise CasebookError(f"{place}: versions: it names no release that is pinned")
            if helpers := imported(entry.program):
                names = ", ".join(helpers)
                raise CasebookError(f"{place}: program: a reader does not have {names}")
        return entry

    def header(self, pin: str = "") -> Header:
        """The environment of the program; `pin` ("numpy==2.4.2") takes the place of one of its.

        Raises HeaderError, a sentence that says what to fix, and WrongUse for a `pin` of a package
        that the program does not use.
        """
        found = PINS.match(self.program)
        if not found:
            raise HeaderError(
                "a program begins with its pins: # Python >=3.11,<3.14: NAME==VERSION …"
            )
        python, pins = found[1], found[2].split()
        package, _, version = pin.partition("==")
        if pin:
            old_pins = [one for one in pins if re.split(r"[\[=]", one)[0] == package]
            if not old_pins:
                raise WrongUse(f"{self.name} does not use {package}")
            pins[pins.index(old_pins[0])] = f"{old_pins[0].partition('==')[0]}=={version}"
        table: dict[str, Any] = {
            "requires-python": python,
            "dependencies": pins,
            "gpu": self.gpu,
            "cuda-home": self.toolkit,
            "timeout": self.seconds,
        }
        return from_table(table, self.name, set(table))

    @property
    def digest(self) -> str:
        """Changes with the program and what it should print."""
        return digest("\0".join((self.program, self.prints, self.right)))


@dataclass(frozen=True)
class Run:
    """How a program ended: `stands` if it printed what the entry says, `right` if it printed what
    would be right, else `otherwise`. `pin` is the release that took the place of the entry's."""

    name: str
    outcome: str
    date: str
    program: str
    pin: str = ""
    gpu: str = ""


def entries() -> list[Entry]:
    """All entries, the worst harm first; within one, bugs before what is known or meant."""
    harms, kinds = list(HARMS), list(KINDS)
    found = map(Entry.read, FOLDER.glob("*.yml"))
    return sorted(
        found, key=lambda e: (harms.index(e.harm), kinds.index(e.kind), e.project, e.name)
    )


def runs() -> list[Run]:
    """The last run of each program, with its own pins and with others."""
    return [Run(**table) for table in json.loads(RUNS.read_text("utf-8"))]


@functools.cache
def _validator() -> jsonschema.protocols.Validator:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))

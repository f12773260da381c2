"""Install lines of the book, and what each does in the environments that readers have.

book/hosts.yml describes these environments, the hosts. book/installs.json has a table for each
host, with its packages as they were resolved on a day, and one for each line in each host, the
trial. `casebook installs` (authoring/installs.py) makes both.
"""

import functools
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement

from casebook import doctor
from casebook.cells.hashes import digest
from casebook.cells.repository import ROOT
from casebook.chapters.chapter import Chapter

# After a word it is prose, as in "let pip install it".
LINE = re.compile(r"(?<![A-Za-z] )(?:[\w.-]+/)*(?:uv )?pip install [^`#\n]+")
FLAG = re.compile(r"(^|\s)-\S+")
NOW = "## If you have this now\n"
NOT_NEEDED = "not needed: the packages that are there do not have the fault"
GENERAL = ROOT / "book/_ext/bookext/errors"  # the one-line answers


@dataclass(frozen=True)
class Host:
    """An environment that readers have: requirements of a Python, and what must stay as it is."""

    id: str
    title: str
    python: str
    platform: str = "linux"
    requirements: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    instead: str = ""  # what to do where a line breaks what must stay
    pins: tuple[str, ...] = ()  # all its packages, as they were resolved
    date: str = ""

    @property
    def packages(self) -> dict[str, str]:
        """Versions by name."""
        return versions(self.pins)

    def fits(self, line: str) -> bool:
        """Whether a line is for this host: another environment's pip needs an empty one."""
        return not self.pins or line.startswith(("pip ", "uv "))

    @property
    def kept(self) -> list[str]:
        """What must stay, with its release: ["torch==2.15.0"]."""
        return [f"{name}=={self.packages[name.partition('[')[0]]}" for name in self.keep]


@dataclass(frozen=True)
class Trial:
    """What a line does in a host.

    `key`: hash of the packages of the host. `run`: the form of the line that is right there; ""
    for none. `changes`: the packages that it installs or replaces. `problem`: why the line as it
    stands is not right, "" if it is.
    """

    line: str
    host: str
    key: str
    date: str
    run: str
    changes: dict[str, str]
    problem: str = ""

    @property
    def wrong(self) -> bool:
        """Whether no form of the line is right, and it is needed."""
        return not self.run and self.problem != NOT_NEEDED

    @property
    def breaks(self) -> bool:
        """Whether a package does not find what it requires any more."""
        return " needs " in self.problem


def versions(pins: tuple[str, ...]) -> dict[str, str]:
    """Versions by name, from pins such as "numpy==2.4.6"."""
    return dict(pin.split("==", 1) for pin in pins)


@functools.cache
def tables(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text("utf-8")) if path.exists() else []


def stored() -> Path:
    return ROOT / "book/installs.json"


def hosts() -> dict[str, Host]:
    """The hosts of book/hosts.yml with their stored packages, by id."""
    known = {table["id"]: table for table in tables(stored()) if "id" in table}
    found = {}
    for given in yaml.safe_load((ROOT / "book/hosts.yml").read_text("utf-8")):
        given |= {key: tuple(given.get(key, ())) for key in ("requirements", "keep")}
        table = known.get(given["id"], {})
        pins = tuple(table.get("pins", "").split())
        found[given["id"]] = Host(**given, pins=pins, date=table.get("date", ""))
    return found


def trials() -> dict[tuple[str, str], Trial]:
    """The stored trials, by line and host."""
    found = [Trial(**table) for table in tables(stored()) if "line" in table]
    return {(one.line, one.host): one for one in found}


def key(host: Host) -> str:
    """Hash of all of a host that a trial depends on."""
    return digest(str([host.python, host.platform, host.keep, host.pins]))[:8]


def lines(text: str) -> Iterator[str]:
    """The install lines in a text, without comments; those of the reader's own project are none."""
    for found in LINE.finditer(text):
        if not re.search(r"\s\.(\s|$)|\s-r\s", found[0]):
            yield found[0].strip().rstrip(".,;")


def requirements(line: str) -> list[Requirement]:
    """The requirements of a line. Raises ValueError where the shell would redirect."""
    words = shlex.shlex(FLAG.sub(" ", line), posix=True, punctuation_chars="<>")
    words.whitespace_split = True
    found = list(words)
    if any(word.startswith(("<", ">")) for word in found):
        raise ValueError(f"the shell redirects at `<` or `>`: quote the requirements of `{line}`")
    return [Requirement(word) for word in found[found.index("install") + 1 :]]


def of_chapter(chapter: Chapter) -> dict[str, set[str]]:
    """The lines of a chapter's facts and first answer, each with the faults that it cures."""
    found: dict[str, set[str]] = {}
    for fault in chapter.facts.faults:
        for line in lines(fault.do):
            found.setdefault(line, set()).add(fault.id)
    for line in answer(chapter):
        found.setdefault(line, set())
    return found


def answer(chapter: Chapter) -> list[str]:
    """The lines of a chapter's first answer."""
    texts = (cell.source for cell in chapter.notebook.cells if cell.cell_type == "markdown")
    return [line for text in texts if text.startswith(NOW) for line in lines(text)]


def wrong(chapter: Chapter) -> Iterator[str]:
    """Lines of a chapter that are neither right in a host nor told to be wrong there: sentences."""
    known, tried = hosts(), trials()
    hosts_with_advice = {host for fault in chapter.facts.faults for host in fault.installs}
    needed = set()
    for line in of_chapter(chapter):
        try:
            requirements(line)
        except ValueError as error:
            yield str(error)
            continue
        found = {host.id: tried.get((line, host.id)) for host in known.values() if host.fits(line)}
        if missing := [id for id, one in found.items() if not one or one.key != key(known[id])]:
            yield f"`{line}` was not tried in {', '.join(missing)}; run `casebook installs`"
        for id, one in found.items():
            if one and one.wrong and not (known[id].instead and one.breaks):
                needed.add(id)
                if id not in hosts_with_advice:
                    yield (
                        f"`{line}` is not right in {id} ({one.problem}): change it, or say under "
                        "`installs` of the fault what to do there"
                    )
    for id in sorted(hosts_with_advice - needed):
        yield f"`installs` names {id}, where every line is right or which is no host"


def general() -> list[str]:
    """The lines of the one-line answers."""
    return [
        line for file in sorted(GENERAL.glob("*.yml")) for line in lines(file.read_text("utf-8"))
    ]


def leftovers(chapters: list[Chapter]) -> list[str]:
    """That lines were tried which the book does not have any more: a sentence, or none."""
    there = {*general(), *(line for chapter in chapters for line in of_chapter(chapter))}
    old = sorted({line for line, _ in trials()} - there)
    return [
        f"book/installs.json: no page has `{line}` any more; run `casebook installs`"
        for line in old
    ]


def certain(packages: dict[str, str]) -> set[str]:
    """The faults that these packages have for certain, as the doctor names them.

    A fault that no release is without counts for none: no line avoids it.
    """
    machine = doctor.Machine("", "", packages)
    found = {one.name for one in doctor.diagnose(machine) if one.status == doctor.AFFECTED}
    return found - {
        case.name
        for case in doctor.CASES
        if not case.beside and not any(one.fixed for one in case.ranges)
    }


def absent(packages: dict[str, str]) -> set[str]:
    """The faults of packages that are among these, but not in the releases that have the fault."""
    parts = doctor.Machine("", "", packages).parts()
    return {
        case.name
        for case in doctor.CASES
        if any(one.part in parts for one in case.ranges)
        and case.examine(parts).status == doctor.NOT_AFFECTED
    }

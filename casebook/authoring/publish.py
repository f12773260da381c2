"""`casebook facts`: what is written from the facts of all cases.

That is the card in the first cell of each notebook, between two comments, the table in
casebook/doctor.py, a text, and the chapters in _toc.yml. `check` compares them with the facts.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from casebook import doctor
from casebook.authoring import contents
from casebook.cells.repository import ROOT
from casebook.chapters import Chapter, load
from casebook.chapters.card import BEGIN, CARD, END, card
from casebook.chapters.facts import PARTS, Fault, Releases

DOCTOR = ROOT / "casebook" / "doctor.py"
TABLE = re.compile(r'(?s)(\nTABLE = r"""\n).*?(\n""")')
READ = re.compile(r'combined\("([\w-]+)"')  # the combinations that the doctor looks for


def with_card(chapter: Chapter) -> str:
    """Source of the first cell with the card as the facts have it."""
    return CARD.sub(lambda _: card(chapter), chapter.first, count=1)


def table(chapters: list[Chapter], read: set[str]) -> str:
    """The doctor's table: a line for each fault of packages and each combination of them."""
    faults = [(chapter.name, fault) for chapter in chapters for fault in chapter.facts.faults]
    cases = [dumped(case(name, fault)) for name, fault in faults if fault.affected]
    combinations = [
        f"{dumped(fault.id)}: {dumped([symptom(fault), plain(fault.do), name])}"
        for name, fault in faults
        if fault.id in read
    ]
    lines = [",\n".join(cases), ",\n".join(combinations)]
    return '{{"cases": [\n{}\n], "combinations": {{\n{}\n}}}}'.format(*lines)


def dumped(value: object) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def case(name: str, fault: Fault) -> dict[str, Any]:
    """The arguments of one Case of the doctor."""
    fields: dict[str, Any] = {
        "name": f"{name[:2]}-{fault.id}",
        "symptom": symptom(fault),
        "ranges": [*map(one_range, fault.affected), *map(read_range, fault.read)],
        "fix": plain(fault.do),
        "kind": fault.kind[0],
        "chapter": name,
        "remains": fault.remains,
        "absent": fault.absent,
    }
    if fault.beside:
        part, since = fault.beside
        fields["beside"] = {"part": PARTS.get(part, part), "since": since}
    return {key: value for key, value in fields.items() if value}


def one_range(releases: Releases) -> dict[str, Any]:
    """The arguments of one Range of the doctor."""
    fields = {
        "part": PARTS.get(releases.package, releases.package),
        "since" if releases.begins else "oldest": releases.first,
        "fixed": releases.fixed,
        "newest": releases.newest,
        "everywhere": releases.at_risk,
    }
    return {key: value for key, value in fields.items() if value}


def read_range(read: tuple[str, str]) -> dict[str, Any]:
    """The arguments of a Range of releases whose source was read."""
    package, text = read
    ends = {part.operator: part.version for part in SpecifierSet(text)}
    fields = {
        "oldest": ends[">="],
        "fixed": ends.get("<"),
        "newest": ends.get("<="),
        "read": True,
    }
    return {"part": PARTS.get(package, package)} | {key: one for key, one in fields.items() if one}


def symptom(fault: Fault) -> str:
    """What is seen, with the first message."""
    return plain(f"{fault.see}: {fault.messages[0]}" if fault.messages else fault.see)


def plain(text: str) -> str:
    """Markdown without the marks of code."""
    return text.replace("`", "")


def with_table(chapters: list[Chapter], text: str) -> str:
    """The text of the doctor with its table as the facts have it."""
    written = table(chapters, set(READ.findall(text)))
    return TABLE.sub(lambda found: found[1] + written + found[2], text, count=1)


def command() -> int:
    """Write what is written from the facts of all chapters; print the files that changed, and each
    cure that did, for its author to read."""
    chapters = load()
    before = {known.name: known.fix for known in doctor.CASES}
    for path in publish(chapters):
        print(path.relative_to(ROOT))
    for now in (case(one.name, fault) for one in chapters for fault in one.facts.faults):
        if before.get(now["name"], now["fix"]) != now["fix"]:
            print(f"{now['name']}, what to do:\n  was: {before[now['name']]}\n  is:  {now['fix']}")
    return 0


def publish(chapters: list[Chapter]) -> Iterator[Path]:
    """Write what is written from the facts; yields the files that changed."""
    for chapter in chapters:
        if (first := with_card(chapter)) != chapter.first:
            chapter.notebook.cells[0].source = first
            chapter.write()
            yield chapter.path
    for path, derive in ((DOCTOR, with_table), (contents.TOC, contents.with_chapters)):
        text = path.read_text("utf-8")
        if (written := derive(chapters, text)) != text:
            path.write_text(written, "utf-8")
            yield path


def card_differences(chapter: Chapter) -> Iterator[str]:
    """That a card is missing or not that of the facts; an end of a sentence."""
    if not CARD.search(chapter.first):
        yield (
            ": its first cell has no card; begin with the lines "
            + BEGIN.format(name=chapter.name)
            + f" and {END}, then run `casebook facts`"
        )
    elif with_card(chapter) != chapter.first:
        yield ": the card is not that of the facts; run `casebook facts`"


def table_differences() -> list[str]:
    """That the doctor's table is not that of the facts: a sentence, or none."""
    text = DOCTOR.read_text("utf-8")
    if with_table(load(), text) == text:
        return []
    return ["casebook/doctor.py: the table is not that of the facts; run `casebook facts`"]

"""`python -m casebook facts`: what is written from the facts of all cases.

That is the card in the first cell of each notebook, between two comments, and the table in
casebook/doctor.py, a text. `check` compares both with the facts.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from casebook.authoring.chapters import Chapter, load
from casebook.authoring.facts import PARTS, Fault, Releases, label, shown
from casebook.cells.repository import ROOT

DOCTOR = ROOT / "casebook" / "doctor.py"
CARD = re.compile(r"(?s)<!-- card: .*?-->\n.*?<!-- end of the card -->")
TABLE = re.compile(r'(?s)(\nTABLE = r"""\n).*?(\n""")')
READ = re.compile(r'combined\("([\w-]+)"')  # the combinations that the doctor looks for
BEGIN, END = "<!-- card: written from {name}.yml -->", "<!-- end of the card -->"
HEAD = "| You see | Do | Affected | Fixed in |\n|---|---|---|---|"


def card(chapter: Chapter) -> str:
    """The card of a chapter: a row for each fault, and a line each for what holds for all."""
    facts = chapter.facts
    lines = {
        "Libraries": ", ".join(facts.libraries),
        "Kind": " · ".join(facts.kind),
        "Threads": " · ".join(map(thread, facts.threads)),
        "Needs": chapter.needs(),
    }
    return "\n".join(
        [
            BEGIN.format(name=chapter.name),
            HEAD,
            *map(row, facts.faults),
            "",
            *(f"**{key}:** {text}  " for key, text in lines.items() if text),
            END,
        ]
    )


def row(fault: Fault) -> str:
    """One fault as a row of the card."""
    messages = " or ".join(map(code, fault.messages))
    cells = (f"{fault.see}: {messages}" if messages else fault.see, fault.do, affected(fault))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in (*cells, fixed(fault)))} |"


def affected(fault: Fault) -> str:
    """The affected releases of a fault, in words."""
    beside = f", beside {label(fault.beside[0])} ≥ {fault.beside[1]}" if fault.beside else ""
    run = fault.where or "; ".join(releases.affected for releases in fault.affected) + beside
    read = "; ".join(f"{label(package)} {shown(text)}" for package, text in fault.read)
    return f"{run}. Read, not run: {read}" if read else run


def fixed(fault: Fault) -> str:
    """Where a fault is fixed, in words."""
    if fault.by_design:
        return "never, by design"
    words = [releases.fixed_in for releases in fault.affected] or list(fault.fixed_words)
    if len(fault.affected) > 1 and not any(releases.fixed for releases in fault.affected):
        newest = ", ".join(f"{label(one.package)} {one.newest}" for one in fault.affected)
        return f"not yet in any (newest looked at: {newest})"
    return "; ".join(words) or "not yet"


def code(text: str) -> str:
    """A text as code in Markdown."""
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (1 + max(map(len, re.findall("`+", text))))
    return f"{fence} {text} {fence}"


def thread(path: str) -> str:
    """A link to a thread: `numba/numba/pull/12` is shown as numba PR #12."""
    _, name, kind, number = path.split("/")
    return f"[{name} {'PR ' * (kind == 'pull')}#{number}](https://github.com/{path})"


def with_card(chapter: Chapter) -> str:
    """Source of the first cell with the card as the facts have it."""
    return CARD.sub(lambda _: card(chapter), chapter.first, count=1)


def table(chapters: list[Chapter], read: set[str]) -> str:
    """The doctor's table: a case for each fault of packages, and words for those that it reads."""
    faults = [(chapter.name, fault) for chapter in chapters for fault in chapter.facts.faults]
    told = {
        "cases": [case(*one) for one in faults if one[1].affected],
        "combinations": {
            fault.id: [symptom(fault), plain(fault.do), name]
            for name, fault in faults
            if fault.id in read
        },
    }
    return json.dumps(told, indent=1, ensure_ascii=False)


def case(name: str, fault: Fault) -> dict[str, Any]:
    """The arguments of one Case of the doctor."""
    told: dict[str, Any] = {
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
        told["beside"] = {"part": PARTS.get(part, part), "since": since}
    return {key: value for key, value in told.items() if value}


def one_range(releases: Releases) -> dict[str, Any]:
    """The arguments of one Range of the doctor."""
    told = {
        "part": PARTS.get(releases.package, releases.package),
        "since" if releases.begins else "oldest": releases.first,
        "fixed": releases.fixed,
        "newest": releases.newest,
        "everywhere": releases.at_risk,
    }
    return {key: value for key, value in told.items() if value}


def read_range(read: tuple[str, str]) -> dict[str, Any]:
    """The arguments of a Range of releases whose source was read."""
    package, text = read
    ends = {part.operator: part.version for part in SpecifierSet(text)}
    told = {"oldest": ends[">="], "fixed": ends.get("<"), "newest": ends.get("<="), "read": True}
    return {"part": PARTS.get(package, package)} | {key: one for key, one in told.items() if one}


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


def publish(chapters: list[Chapter]) -> Iterator[Path]:
    """Write what is written from the facts; yields the files that changed."""
    for chapter in chapters:
        if (first := with_card(chapter)) != chapter.first:
            chapter.notebook.cells[0].source = first
            chapter.write()
            yield chapter.path
    text = DOCTOR.read_text("utf-8")
    if (written := with_table(chapters, text)) != text:
        DOCTOR.write_text(written, "utf-8")
        yield DOCTOR


def card_differences(chapter: Chapter) -> Iterator[str]:
    """That a card is missing or not that of the facts; an end of a sentence."""
    if not CARD.search(chapter.first):
        yield (
            ": its first cell has no card; begin with the lines "
            + BEGIN.format(name=chapter.name)
            + f" and {END}, then run `python -m casebook facts`"
        )
    elif with_card(chapter) != chapter.first:
        yield ": the card is not that of the facts; run `python -m casebook facts`"


def table_differences() -> list[str]:
    """That the doctor's table is not that of the facts: a sentence, or none."""
    text = DOCTOR.read_text("utf-8")
    if with_table(load(), text) == text:
        return []
    return [
        "casebook/doctor.py: the table is not that of the facts; run `python -m casebook facts`"
    ]

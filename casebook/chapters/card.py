"""The card of a chapter: its faults as a table, between two comments of the first cell."""

import re

from casebook.chapters.chapter import Chapter
from casebook.chapters.facts import Fault, label, range_text

CARD = re.compile(r"(?s)<!-- card: .*?-->\n.*?<!-- end of the card -->")
BEGIN, END = "<!-- card: written from {name}.yml -->", "<!-- end of the card -->"
_HEAD = "| You see | Do | Affected | Fixed in |\n|---|---|---|---|"


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
            _HEAD,
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
    read = "; ".join(f"{label(package)} {range_text(text)}" for package, text in fault.read)
    return f"{run}. Source only: {read}" if read else run


def fixed(fault: Fault) -> str:
    """Where a fault is fixed, in words."""
    if fault.by_design:
        return "never, by design"
    words = [releases.fixed_in for releases in fault.affected] or list(fault.fixed_words)
    if len(fault.affected) > 1 and not any(releases.fixed for releases in fault.affected):
        newest = ", ".join(f"{label(one.package)} {one.newest}" for one in fault.affected)
        return f"none yet (newest looked at: {newest})"
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

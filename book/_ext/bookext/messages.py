"""The messages of the book: each with the cells that show it and the pattern that finds it in a pasted traceback.

They come from the case cards and from the `raises`, `match` and `signal` keys of the cells; the exact words from stored outputs.
The patterns mean the same to Python (MULTILINE, DOTALL) and to JavaScript (flags `ms`).
"""
import re
import signal
from dataclasses import dataclass, field

from .pinned import packages

OWN = ("The symptom", "Without a GPU")          # sections whose failures are the case itself
FOLDED = re.compile(r"… \d+ frames? in (.*)")
MASKED = re.compile(r"0x…|\\\$…|/tmp/…")
START = "(?<!.)"                                # of the whole text: JavaScript has no \A
FRAMES = r'(?:File ".*?", line|\bframes? in )'


@dataclass
class Message:
    """What one sees, whether that is the case itself, as (number, section) the cells that end so, and patterns, each of which finds it."""

    text: str
    own: bool
    cells: list = field(default_factory=list)
    patterns: list = field(default_factory=list)

    @property
    def pattern(self):
        return "|".join(dict.fromkeys(filter(None, self.patterns)))


def messages(chapter):
    """The messages of a chapter: of its cells, then those that only the case card has."""
    card = re.findall(r"`(.+?)`", chapter.card.get("You see", ""))
    found = {}
    for cell, section in sections(chapter):
        if cell.header and (cell.header.raises or cell.header.signal):
            text, pattern = ending(cell)
            message = found.setdefault(text, Message(text, any(words in text for words in card)))
            message.cells.append((cell.number, section))
            message.patterns.append(pattern)
            message.own |= section in OWN
    more = [words for words in card if not any(words in text for text in found)]
    return [*found.values(), *(Message(words, True, patterns=[literal(words)]) for words in more)]


def sections(chapter):
    """Each code cell with the heading of the section that it stands in."""
    numbered, section = iter(chapter.cells), ""
    for node in chapter.notebook.cells:
        if node.cell_type == "code":
            yield next(numbered), section
        else:
            section = (re.findall(r"(?m)^## (.+)$", node.source) or [section])[-1]


def ending(cell):
    """What a failing cell ends with, exactly, and its pattern; None where too little is said to tell it from other failures."""
    header, output = cell.header, cell.text
    if header.signal:
        text = f"killed by {header.signal}"
        return text, f"{literal(text)}|{START}(?=.*\\b(?:{names(header)})\\b).*(?:{header.signal}|{shell_words(header.signal)})"
    message = last_message(output)
    shown = line_of(message, header.match)
    text = f"{header.raises}: {shown}" if shown else header.raises
    within = frames_of(output)
    if not (shown or header.match):
        return text, within and rf"{START}(?=.*{within}).*^[ \t]*{header.raises}:?[ \t]*$"
    final = rf"^[ \t]*(?:\w+\.)*{header.raises}: (?:(?!\nTraceback ).)*?"
    said = f"{final}(?:{header.match or literal(shown)})"
    anywhere = f"|{literal(shown)}" if shown else ""
    guard = f"(?=.*{within}|(?!.*{FRAMES}))" if within else ""
    return text, f"{START}{guard}.*(?:{said}{anywhere})"


def last_message(output):
    """Message of the exception that a stored output ends with."""
    raised = output.rpartition("Traceback (most recent call last):\n")[2]
    found = re.search(r"(?ms)^[\w.]+: (.*?)\n*^exit status 1$", raised)
    return found[1] if found else ""


def line_of(message, match):
    """The line of a message that its header's pattern begins in; without a pattern its first two lines, the first being general."""
    found = match and re.search(match, message, re.DOTALL)
    if found:
        return message[message.rfind("\n", 0, found.start()) + 1:].splitlines()[0].strip()
    return "" if match else "\n".join(message.splitlines()[:2])


def frames_of(output):
    """Pattern of a traceback that goes through the packages which the stored one goes through, or None where it names none."""
    folded = {name for names in FOLDED.findall(output) for name in names.split(", ")} - {"the standard library"}
    return rf"(?:-packages/|\bframes? in [\w, ]*\b)(?:{'|'.join(sorted(folded))})\b" if folded else None


def names(header):
    """Pattern of the packages that the cell is about."""
    return "|".join(re.escape(package.split()[0]) for package in packages(header))


def shell_words(name):
    """What a shell prints of a signal: `Segmentation fault` for SIGSEGV."""
    return re.escape(signal.strsignal(signal.Signals[name]))


def literal(text):
    """Pattern of a text as it stands; what `casebook.output` masks may be anything."""
    return MASKED.sub(r"\\S+", re.escape(text))

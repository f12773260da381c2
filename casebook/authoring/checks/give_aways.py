"""What a class copy would tell before a cell is run."""

import itertools
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from casebook.chapters import Chapter
from casebook.chapters.class_copy import unsolved
from casebook.chapters.questions import ASK

# Shown by a cell, and no result: names and sizes, what is expected, a table with both answers.
NO_RESULT = re.compile(
    r"50|268|dltensor|(rem|div|ld.global)\.u32|cvt\.rn.*|setp.*|i8|i32|divui|sitofp|\[:\]"
    r"|a\.real == b.*|b if b > a else a"
)


def code(cell: NotebookNode) -> bool:
    return bool(cell.cell_type == "code")


def numbers(text: str) -> set[str]:
    """The numbers of two digits or more, without their commas."""
    return set(re.findall(r"(?<![\w.])\d\d+(?:\.\d+)*(?!\w)", text.replace(",", "")))


def words(text: str) -> set[str]:
    """Its numbers, and what stands in backticks."""
    text = re.sub(rf"\]\([^)]*\)|{re.escape(ASK)}.*", "", text)
    return numbers(text) | set(re.findall(r"`([^`]+)`", text))


def shows(output: str, word: str) -> bool:
    """Whether an output has a word, or a number of which it is one."""
    return word in (numbers(output) if numbers(word) == {word} else output)


def give_away_problems(chapter: Chapter) -> Iterator[str]:
    """Results that a class copy tells in front of the cells that show them, or right below them.

    Text below an output that is neither a heading nor marked is named, too.
    """
    kept = {cell.id: cell.source for cell in unsolved(chapter.notebook).cells}
    outputs = {cell.node.id: cell.text for cell in chapter.cells}
    known, above = "\n".join([chapter.first, *(cell.source for cell in chapter.cells)]), ""
    for place, cell in enumerate(chapter.notebook.cells[1:], 2):
        known += above
        if code(cell):
            above = outputs[cell.id]
            continue
        known = known.removesuffix(above)
        if above and not re.match(r"#{2,3} |<!-- (result|next)|\*\*\d+\. ", cell.source):
            yield f", text [{cell.id}]: below an output, and not marked"
        next_cells = itertools.takewhile(code, chapter.notebook.cells[place:])
        output = above + "\n".join(outputs[one.id] for one in next_cells)
        for word in sorted(words(kept.get(cell.id, ""))):
            if shows(output, word) and not (NO_RESULT.fullmatch(word) or shows(known, word)):
                yield f", text [{cell.id}]: {word!r} is what a cell shows"
        known, above = known + above, ""

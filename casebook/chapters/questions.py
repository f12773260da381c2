"""The questions that a notebook asks: passages of its Markdown that tell a result.

`<!-- result: What will it print? -->` begins such a passage; it ends at the next heading, at
`<!-- next -->`, or with the cell. At the beginning of a cell the passage is about the code cell
above. A mark that begins a line stands alone in it, or Markdown would not see the rest of the line.
"""

import re
from collections.abc import Iterator

MARK = re.compile(r"<!-- (?:(?P<told>result)(?:: (?P<question>.*?))?|next) -->[ \n]?", re.DOTALL)
HEADING = re.compile(r"(?m)^#{1,6} ")


def passages(text: str) -> Iterator[tuple[str | None, str]]:
    """Pieces of a Markdown cell, in order: (None, what stays), or (question or "", a result)."""
    marks = list(MARK.finditer(text))
    ends = [mark.start() for mark in marks] + [len(text)]
    yield None, text[: ends[0]]
    for mark, end in zip(marks, ends[1:], strict=True):
        told = text[mark.end() : end]
        heading = HEADING.search(told)
        cut = (heading.start() if heading else len(told)) if mark["told"] else 0
        if mark["told"]:
            yield mark["question"] or "", told[:cut]
        yield None, told[cut:]

"""Numbers in prose: each one with a unit or a decimal point needs a source.

That is an output, the code, or an entry of the sidecar with its reason.
"""

import re
from collections.abc import Iterator

UNIT = (
    r"(?:[num\u00b5\u03bc]?s|seconds?|minutes?|hours?|%|percent|times|x|\u00d7(?! ?\d)"
    r"|[kMG]Hz|bytes?|[kKMGT]?i?B(?:/s)?)"
)
SPACE = r"[ \u00a0\u202f]?"
NUMBER = re.compile(
    r"(?<![\w.,#-])(\d[\d,]*(?:\.\d+)*)" rf"({SPACE}{UNIT}(?![\w/]))?(?![\w]|[.,]\d)"
)
FIGURE = re.compile(r"(?<![\d.])\d[\d,_]*(?:\.\d+)*")


def claimed(prose: str) -> Iterator[str]:
    """The figures of a piece of prose that need a source: those with a unit or a decimal point."""
    for number, unit in NUMBER.findall(prose):
        if unit or "." in number:
            yield number.replace(",", "")


def of_text(text: str) -> set[str]:
    """The figures of a text, and the beginnings of versions."""
    found = {re.sub("[,_]", "", number) for number in FIGURE.findall(text)}
    return found | {".".join(n.split(".")[:k]) for n in found for k in range(1, n.count(".") + 1)}

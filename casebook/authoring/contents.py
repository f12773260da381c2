"""The chapters in _toc.yml: each under a caption of its kind. Their order is the author's."""

import re
from collections.abc import Iterable

from casebook.cells.repository import ROOT
from casebook.chapters import Chapter

TOC = ROOT / "_toc.yml"
KINDS = {  # of each caption
    "It does not install, import or compile": ["does not start"],
    "An error where the code looks right": ["crash", "does not start"],
    "Crashes, hangs and full memory": ["hang", "crash"],
    "Wrong numbers: CuPy": ["wrong numbers"],
    "Wrong numbers: Numba, CUDA Python, Warp": ["wrong numbers"],
    "Slow, or timed wrongly": ["slow"],
}
PART = re.compile(r'  - caption: "?([^"\n]+)"?\n    chapters:\n((?:      .*\n)*)')
LINE = "      - file: notebooks/{}\n"


def with_chapters(chapters: Iterable[Chapter], text: str) -> str:
    """The text of _toc.yml in which each chapter stands once, under a caption of its kind.

    One that stands elsewhere goes to the end of the first caption that fits.
    """
    for chapter in chapters:
        entry = LINE.format(chapter.name)
        places = [found[1] for found in PART.finditer(text) if entry in found[2]]
        if len(places) == text.count(entry) == 1 and fits(chapter, places[0]):
            continue
        text = text.replace(entry, "")
        at = next(part.end() for part in PART.finditer(text) if part[1] == caption_of(chapter))
        text = text[:at] + entry + text[at:]
    return text


def fits(chapter: Chapter, caption: str) -> bool:
    """Whether a caption is for a kind of the chapter."""
    return bool({*KINDS.get(caption, ())} & {*chapter.facts.kind})


def caption_of(chapter: Chapter) -> str:
    """The caption for a chapter's first kind, with its library where captions name some."""

    def distance(caption: str) -> tuple[bool, bool]:
        other = ("CuPy" in chapter.facts.libraries) != caption.endswith("CuPy")
        return chapter.facts.kind[0] not in KINDS[caption], other

    return min(KINDS, key=distance)


def differences(chapters: Iterable[Chapter]) -> list[str]:
    """The chapters that _toc.yml lacks or has under another kind: a sentence for each."""
    text = TOC.read_text("utf-8")
    return [
        f"{chapter.name}: _toc.yml does not list it under its kind; run `casebook facts`"
        for chapter in chapters
        if with_chapters([chapter], text) != text
    ]

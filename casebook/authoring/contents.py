"""The chapters in _toc.yml: each under a caption of its kind, with a short title for the sidebar.

Order and titles are the author's.
"""

import re
from collections.abc import Iterable, Iterator

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
LONGEST = 52  # characters of a title that takes two lines of the sidebar


def with_chapters(chapters: Iterable[Chapter], text: str) -> str:
    """The text of _toc.yml in which each chapter stands once, under a caption of its kind.

    One that stands elsewhere goes to the end of the first caption that fits.
    """
    for chapter in chapters:
        entry = entry_of(chapter, text)
        places = [found[1] for found in PART.finditer(text) if entry in found[2]]
        if len(places) == text.count(entry) == 1 and fits(chapter, places[0]):
            continue
        text = text.replace(entry, "")
        at = next(part.end() for part in PART.finditer(text) if part[1] == caption_of(chapter))
        text = text[:at] + entry + text[at:]
    return text


def entry_of(chapter: Chapter, text: str) -> str:
    """The lines of a chapter: its file, and its title in the sidebar where it has one."""
    line = LINE.format(chapter.name)
    found = re.search(re.escape(line) + r"(?:        title: .*\n)?", text)
    return found[0] if found else line


def fits(chapter: Chapter, caption: str) -> bool:
    """Whether a caption is for a kind of the chapter."""
    return bool({*KINDS.get(caption, ())} & {*chapter.facts.kind})


def caption_of(chapter: Chapter) -> str:
    """The caption for a chapter's first kind, with its library where captions name some."""

    def distance(caption: str) -> tuple[bool, bool]:
        other = ("CuPy" in chapter.facts.libraries) != caption.endswith("CuPy")
        return chapter.facts.kind[0] not in KINDS[caption], other

    return min(KINDS, key=distance)


def differences(chapters: Iterable[Chapter]) -> Iterator[str]:
    """What _toc.yml lacks of a chapter, or has under another kind: a sentence for each."""
    text = TOC.read_text("utf-8")
    for chapter in chapters:
        title = re.search(r"title: (.*)\n", entry_of(chapter, text))
        if with_chapters([chapter], text) != text:
            yield f"{chapter.name}: _toc.yml does not list it under its kind; run `casebook facts`"
        elif len(title[1].strip('"') if title else chapter.title) > LONGEST:
            yield (
                f"{chapter.name}: its title takes more than two lines of the sidebar: give it one "
                f"of at most {LONGEST} characters in _toc.yml, `title:` below its file"
            )

"""The form that all chapters share: their sections, the first cell, Markdown, environments."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from casebook.chapters import Chapter
from casebook.chapters.questions import ASK, QUESTION

HEADINGS = [
    "If you have this now",
    "The symptom",
    "Without a GPU",
    "Why it happens",
    "The fix",
    "What it costs",
    "Still biting",
    "What the article said",
    "Exercises",
    "How we know",
    "References",
]
SPARED = {"What it costs", "Still biting"}  # a page may leave them out
SHORT = {*SPARED, "What the article said", "Exercises"}  # a short case, these too
ALIKE = {"Exercise": "Exercises", "What the threads said": "What the article said"}
CELLS = 20  # of a short case, besides that of the environments
QUESTIONS = 2
TEMPLATE = Path(__file__).parents[1] / "template.ipynb"
SENTENCE = re.compile(r"(?m)^(?:# |- |[A-Z*]).*")  # of Markdown, or its title


def form_problems(chapter: Chapter) -> Iterator[str]:
    texts = [cell.source for cell in chapter.notebook.cells if cell.cell_type == "markdown"]
    whole = "\n\n".join(texts)
    yield from section_problems(chapter, whole)
    asked = len(QUESTION.findall(whole))
    if asked < QUESTIONS:
        yield f": {asked} of its paragraphs begin with {ASK}; ask at least {QUESTIONS} questions"
    yield from left_problems(chapter)
    if any(re.search(r"(?m)^(```\{|:::|\{[a-z]+\}`)", text) for text in texts):
        yield ": MyST directives and roles show as text on Colab; write plain Markdown"
    if [cell.number for cell in chapter.cells if "setup" in cell.tags] != [1]:
        yield ": its first code cell, and no other, is the setup cell; copy that of another chapter"
    count = sum(not cell.names_environments for cell in chapter.cells)
    if not chapter.long and count > CELLS:
        yield f": {count} code cells, but a short case has at most {CELLS}"
    ranges: dict[tuple[str, ...], set[str]] = {}
    for header in chapter.headers(gpu=True):
        ranges.setdefault(tuple(sorted(header.dependencies)), set()).add(header.requires_python)
    if any(len(found) > 1 for found in ranges.values()):
        yield ": two environments have the same pins and another requires-python; make them one"


def left_problems(chapter: Chapter) -> Iterator[str]:
    """Sentences of the template, in the notebook or the .yml, that wait to be replaced."""
    if chapter.path == TEMPLATE:
        return
    texts = [*(cell.source for cell in chapter.notebook.cells), *told(chapter)]
    for sentence in waiting():
        if any(sentence in text for text in texts):
            yield f": the template's {sentence!r} still waits for your words"


@functools.cache
def waiting() -> list[str]:
    """The sentences of the template that each case replaces by its own."""
    template = Chapter(TEMPLATE)
    texts = [cell.source for cell in template.notebook.cells if cell.cell_type == "markdown"]
    return SENTENCE.findall("\n".join(texts)) + told(template)


def told(chapter: Chapter) -> list[str]:
    """What the faults say in words: what people see, what to do, how it was described."""
    return [text for one in chapter.facts.faults for text in (one.see, one.do, *one.heard)]


def section_problems(chapter: Chapter, text: str) -> Iterator[str]:
    """Headings that the book does not have, that are missing, or that stand in another order."""
    found = [ALIKE.get(name, name) for name in re.findall(r"(?m)^## (.+)$", text)]
    for name in found:
        if name not in HEADINGS:
            yield f": no chapter has a section {name!r}; there are {', '.join(HEADINGS)}"
    for name in HEADINGS:
        if name not in found and name not in (SPARED if chapter.long else SHORT):
            yield f": it has no section {name!r}"
    known = [name for name in found if name in HEADINGS]
    if known != sorted(known, key=HEADINGS.index) or len(known) > len(set(known)):
        yield f": its sections stand in another order than {', '.join(HEADINGS)}"

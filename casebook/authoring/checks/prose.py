"""The text between the cells: links, what it names, and its numbers."""

import re
from collections.abc import Iterator

from casebook.authoring.checks import figures
from casebook.chapters import CLAIMS, Chapter, evidence
from casebook.chapters.card import CARD
from casebook.chapters.exercises import exercises
from casebook.chapters.questions import ASK, QUESTION, RESULT

CODE = re.compile(r"(?s)```.*?```|`[^`]*`")
DRAWING = re.compile(r"(?s)<svg.*?</svg>")
MARKUP = re.compile(r"(?s)<[^>]+>")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
RUN = "gpu", "gpus", "compute_capability", "driver", "python", "date", "seconds"
THREAD = re.compile(r"https://github\.com/[\w.-]+/([\w.-]+)/(issues|pull|discussions)/(\d+)")
MENTION = re.compile(r"\b(cell|exercise|chapter)s? (\[?\d+\]?(?:(?:,| and| to| or|–) ?\[?\d+\]?)*)")


def prose_problems(chapter: Chapter) -> Iterator[str]:
    cells = chapter.notebook.cells
    for place, cell in enumerate(cells, 1):
        if cell.cell_type == "markdown":
            for check in (link_problems, name_problems, mark_problems):
                yield from (
                    f", Markdown in place {place} of {len(cells)} cells: {problem}"
                    for problem in check(chapter, cell.source)
                )
    if chapter.receipt and not chapter.pending:
        yield from figure_problems(chapter)


def link_problems(chapter: Chapter, text: str) -> Iterator[str]:
    for words, target in LINK.findall(re.sub(r"`[^`]*`", "", text)):
        path = target.partition("#")[0]
        if path and "://" not in target and not (chapter.path.parent / path).exists():
            yield f"a link to {path}, which does not exist"
        yield from thread_problems(words, target)


def thread_problems(words: str, target: str) -> Iterator[str]:
    """Whether a link to a thread says where it leads; nothing of other links."""
    thread, number = THREAD.match(target), re.search(r"(?:([\w.-]+) )?(PR )?#(\d+)", words)
    if not thread or not number:
        return
    if number[3] != thread[3] or (number[2] and thread[2] != "pull"):
        yield f"the link [{words}] leads to {thread[2]}/{thread[3]}"
    if number[1] and number[1] != "PR" and number[1].lower() != thread[1].lower():
        yield f"the link [{words}] leads to the repository {thread[1]}"


def name_problems(chapter: Chapter, text: str) -> Iterator[str]:
    """Cells, exercises and chapters that are named by number and do not exist."""
    text = LINK.sub(r"\1", CODE.sub("", CARD.sub("", text)))
    text = re.sub(r"(?i)exercise \d+ of (?=chapter)", "", text)
    chapters = {int(path.name[:2]) for path in chapter.path.parent.glob("[0-9][0-9]-*.ipynb")}
    existing = {
        "cell": range(1, len(chapter.cells) + 1),
        "exercise": range(1, len(exercises(chapter)) + 1),
        "chapter": chapters,
    }
    for kind, numbers in MENTION.findall(text.lower()):
        for number in map(int, re.findall(r"\d+", numbers)):
            if number not in existing[kind]:
                yield f"it names {kind} {number}, which does not exist"


def mark_problems(chapter: Chapter, text: str) -> Iterator[str]:
    """Marks that mark nothing, and questions that a class would not be asked."""
    text = CARD.sub("", text)
    for comment in re.findall(r"<!--(?! (?:result|next) -->).*", text):
        yield f"{comment}: a question is no comment but a paragraph, {ASK}"
    if re.search(r"(?m)^<!--.*?-->[ \t]*\S", text):
        yield "a mark that begins a line must stand alone in it"
    if text.count(ASK) != len(QUESTION.findall(RESULT.sub("", text))):
        yield f"a question begins a line with {ASK}, below <!-- next --> if a result is above"


def figure_problems(chapter: Chapter) -> Iterator[str]:
    """Numbers of the prose without a source, and reasons in the sidecar for absent ones."""
    cells = chapter.notebook.cells
    known = figures_of(chapter)
    reasons = [str(name) for name in chapter.sidecar.get("figures", {})]
    unused = set(reasons)
    for place, cell in enumerate(cells, 1):
        if cell.cell_type != "markdown":
            continue
        text = plain(cell.source)
        for name in sorted(reasons, key=len, reverse=True):
            here = re.subn(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\d)", " ", text)
            text, unused = here[0], unused - {name} if here[1] or name in cell.source else unused
        for figure in figures.claimed(text):
            if figure not in known:
                yield (
                    f", Markdown in place {place} of {len(cells)} cells: no cell shows "
                    f"{figure} ({around(text, figure)})"
                )
    for name in sorted(unused):
        yield f", {chapter.name}.yml: figures has {name!r}, which the prose lacks"


def plain(text: str) -> str:
    """Prose as it is read: no code, markup, case card, nor claims of the article.

    The words of a link go too where its address repeats their numbers.
    """
    text = CARD.sub("", text)
    if CLAIMS.search(text):
        text = re.sub(r"(?m)^\|[^|]*\|", "|", text)
    text = LINK.sub(
        lambda link: "" if all(n in link[2] for n in re.findall(r"\d[\d.]*", link[1])) else link[1],
        CODE.sub("", text),
    )
    return MARKUP.sub(" ", text).replace("\u00a0", " ").replace("\u202f", " ")


def figures_of(chapter: Chapter) -> set[str]:
    """The figures of code, outputs, receipt and facts; none of drawings."""
    run = {key: (chapter.receipt or {}).get(key) for key in RUN}
    releases = [row.release for row in evidence.rows(chapter)]
    seen = figures.of_text(f"{run}\n{chapter.facts.faults}\n{releases}")
    for cell in chapter.cells:
        seen |= figures.of_text(MARKUP.sub(" ", cell.text) + "\n" + DRAWING.sub(" ", cell.source))
    return seen


def around(text: str, figure: str) -> str:
    """The words before and after a figure, so that it is found."""
    found = re.search(rf"(?<![\w.]){re.escape(figure)}(?!\w|\.\d)", text)
    place = found.start() if found else 0
    return f"… {' '.join(text[max(0, place - 40) : place + 40].split())} …"

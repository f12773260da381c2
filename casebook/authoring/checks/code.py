"""Code cells: headers, stored outputs, tags, and the width and length that fit a page."""

import re
from collections.abc import Iterable, Iterator

from casebook.cells import line
from casebook.cells.timed import is_timed
from casebook.chapters import MACHINE_PATH, Cell, Chapter, markup

WIDTH, LINES = 88, 25
ANSWERS = {"check", "solution"}
OUTPUT_KINDS = {"text/plain", "text/html", "image/svg+xml", "image/png"}  # kinds of output
HIDES = ANSWERS | {"hide-input"}
WEAKENS = {"nbval-ignore-output", "nbval-skip"}
TAGS = HIDES | WEAKENS | {"setup", "environments", "exercise"}
# What a measurement prints, or how it is made.
MEASURED = re.compile(
    r"\d.*\b(?:ns|[µμu]s|ms|s|seconds|[kMGT]i?B/s|times faster)\b|timing claims are not checked"
)
ASSERTS = re.compile(r"\bassert|\.claim\(|\braise\b|\bsys\.exit\(")


def code_problems(chapter: Chapter) -> Iterator[str]:
    yield from written_problems(chapter)
    reasons = chapter.sidecar.get("varies", {})
    for cell in chapter.cells:
        if cell.node.id in chapter.pending:
            continue
        for problem in (*output_problems(cell), *tag_problems(cell, reasons)):
            yield f", cell [{cell.number}]: {problem}"


def written_problems(chapter: Chapter) -> Iterator[str]:
    """Problems of the code itself, whatever a run prints."""
    yield from environment_problems(chapter)
    for cell in chapter.cells:
        if cell.header_error:
            yield f", cell [{cell.number}]: {cell.header_error}"
        for problem in (*size_problems(cell), *(() if chapter.long else asserted(cell))):
            yield f", cell [{cell.number}]: {problem}"


def environment_problems(chapter: Chapter) -> Iterator[str]:
    """The cell of the environments is folded, and each of them is used."""
    for cell in chapter.cells:
        if not cell.names_environments or cell.header_error:
            continue
        if "environments" not in cell.tags:
            yield f", cell [{cell.number}]: tag it `environments`, so that it is folded"
        used = {line.of_source(c.source).name for c in chapter.cells if c.header}
        for name in chapter.environments():
            if name not in used:
                yield f", cell [{cell.number}]: no cell uses the environment {name}"


def asserted(cell: Cell) -> Iterator[str]:
    """On a GPU model that is not the receipt's, outputs are not compared: only claims are."""
    if not cell.pinned or not cell.header or not cell.needs_gpu:
        return
    expected = cell.header.expected
    if expected.ending == "exit status 0" and not ASSERTS.search(cell.source):
        yield "it must succeed on a GPU and asserts nothing, so any result would do"
    if expected.raises and not expected.match:
        yield f"any {expected.raises} would do: say which with --match"


def output_problems(cell: Cell) -> Iterator[str]:
    if any(o.output_type == "error" for o in cell.node.outputs):
        yield (
            "its stored output is an error; a failure that is expected belongs in a %%pinned cell "
            "with raises or signal"
        )
    for kind, data in [part for o in cell.node.outputs for part in o.get("data", {}).items()]:
        if kind not in OUTPUT_KINDS:
            yield f"its stored output is {kind}; a page shows {', '.join(sorted(OUTPUT_KINDS))}"
        yield from (f"its stored output {problem}" for problem in markup.problems(kind, data))
    if leak := MACHINE_PATH.search(cell.text):
        yield f"its output names a path of the machine that ran it: {leak[0]}"


def size_problems(cell: Cell) -> Iterator[str]:
    if {"setup", "environments"} & set(cell.tags):
        return
    lines = without_drawings(cell.source).splitlines()
    first = 2 if cell.pinned else 1  # the line of the magic has no room for a second one
    wide = [str(n) for n, text in enumerate(lines, 1) if n >= first and len(text) > WIDTH]
    if wide:
        yield f"more than {WIDTH} characters in line{'s' * (len(wide) > 1)} {', '.join(wide)}"
    count = sum(bool(line.strip()) for line in cell.body.splitlines())
    if count > LINES and not HIDES.intersection(cell.tags):
        yield f"{count} lines of code without the header; at most {LINES} are read at one look"


def without_drawings(source: str) -> str:
    """Source with the text of each SVG drawing blanked, line by line."""
    return re.sub(r"(?s)<svg.*?</svg>", lambda drawing: "\n" * drawing[0].count("\n"), source)


def tag_problems(cell: Cell, reasons: Iterable[str]) -> Iterator[str]:
    """Unknown tags, and tags that exclude an output from the comparison without need.

    A measurement needs the tag nbval-ignore-output. Other cells need a reason in the sidecar:
    `reasons` are the ids of cells that have one.
    """
    if ".claim(" in cell.source and "nbval-ignore-output" not in cell.tags:
        yield (
            "on a busy machine its timing claims are not checked: add the tag nbval-ignore-output"
        )
    if ANSWERS.intersection(cell.tags) and not cell.source.startswith(("#", "%%")):
        yield (
            "this cell is folded and only its first line shows; start it with a comment, "
            "such as `# The check` or `# A solution`"
        )
    for tag in cell.tags:
        if tag not in TAGS:
            yield f"unknown tag {tag!r}; known are {', '.join(sorted(TAGS))}"
        elif (
            tag in WEAKENS
            and cell.node.execution_count
            and cell.node.id not in reasons
            and (tag == "nbval-skip" or not measures(cell))
        ):
            yield (
                f"the tag {tag} excludes it from the comparison, and it measures nothing: "
                "give a reason in `varies` of the sidecar"
            )


def measures(cell: Cell) -> bool:
    """True for a cell that prints times or plots them.

    A script that must fail shows its failure, and a drawing never varies.
    """
    if cell.header and cell.header.expected.ending != "exit status 0":
        return False
    plots = any("image/svg+xml" in o.get("data", {}) for o in cell.node.outputs)
    return bool(
        (plots and "<svg" not in cell.source and "Drawing(" not in cell.source)
        or MEASURED.search(cell.text)
        or (cell.text and is_timed(cell.source))
    )

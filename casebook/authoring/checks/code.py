"""Code cells: headers, stored outputs, tags, and the width and length that fit a page."""

import re

from casebook.authoring.chapters import MACHINE_PATH

WIDTH, LINES = 88, 25
HIDES = {"hide-input", "solution", "check"}
WEAKENS = {"nbval-ignore-output", "nbval-skip"}
TAGS = HIDES | WEAKENS | {"setup", "exercise"}
# What a measurement prints, or how it is made.
MEASURED = re.compile(
    r"\d.*\b(?:ns|[µμu]s|ms|s|seconds|[kMGT]i?B/s|times faster)\b|timing claims are not checked"
)
MEASURES = re.compile(r"\b(?:timing|perf_counter|time_ns|get_elapsed_time)\b|\.claim\(")


def code_problems(chapter):
    yield from written_problems(chapter)
    varies = chapter.sidecar.get("varies", {})
    for cell in chapter.cells:
        yield from (
            f", cell [{cell.number}]: {problem}"
            for problem in (*output_problems(cell), *tag_problems(cell, varies))
        )


def written_problems(chapter):
    """What is wrong with the code itself, whatever a run will say."""
    for cell in chapter.cells:
        yield from (
            f", cell [{cell.number}]: {problem}"
            for problem in (*header_problems(cell), *size_problems(cell))
        )


def header_problems(cell):
    if cell.header_error:
        yield cell.header_error


def output_problems(cell):
    if cell.node.execution_count is None:
        yield "never executed"
    if any(o.output_type == "error" for o in cell.node.outputs):
        yield "its stored output is an error; a failure that is wanted belongs into a %%pinned cell with raises or signal"
    if leak := MACHINE_PATH.search(cell.text):
        yield f"its output names a path of the machine it ran on: {leak[0]}"


def size_problems(cell):
    if "setup" in cell.tags:
        return
    wide = [
        number
        for number, line in enumerate(without_pictures(cell.source).splitlines(), 1)
        if len(line) > WIDTH
    ]
    if wide:
        yield f"more than {WIDTH} characters in line{'s' * (len(wide) > 1)} {', '.join(map(str, wide))}"
    lines = sum(bool(line.strip()) for line in cell.body.splitlines())
    if lines > LINES and not HIDES.intersection(cell.tags):
        yield f"{lines} lines of code without the header, {LINES} are read at one look"


def without_pictures(source):
    """Source with the text of each SVG drawing blanked, line by line."""
    return re.sub(r"(?s)<svg.*?</svg>", lambda drawing: "\n" * drawing[0].count("\n"), source)


def tag_problems(cell, reasons):
    """Tags that take an output out of the comparison are for measurements, which need them; anything else needs a reason in the sidecar."""
    if ".claim(" in cell.source and "nbval-ignore-output" not in cell.tags:
        yield "on a busy machine its timing claims are not checked: it needs the tag nbval-ignore-output"
    for tag in cell.tags:
        if tag not in TAGS:
            yield f"the tag {tag!r} means nothing here; known are {', '.join(sorted(TAGS))}"
        elif (
            tag in WEAKENS
            and cell.node.execution_count
            and cell.node.id not in reasons
            and not (tag != "nbval-skip" and measures(cell))
        ):
            yield f"the tag {tag} takes it out of the comparison, and it measures nothing: a reason belongs into `varies` of the sidecar"


def measures(cell):
    """True for a cell that prints times or plots them. A script that must fail shows its failure, and a drawing is always the same."""
    if cell.header and cell.header.expected.ending != "exit status 0":
        return False
    plots = (
        any("image/svg+xml" in o.get("data", {}) for o in cell.node.outputs)
        and "<svg" not in cell.source
    )
    return bool(plots or MEASURED.search(cell.text) or (cell.text and MEASURES.search(cell.source)))

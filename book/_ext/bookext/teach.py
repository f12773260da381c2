"""The instructor notes, through directives that name a chapter: `needs`, `questions`, `mistakes`.

The questions stand in the chapter before their cells, and the answers are the passages that it
marks as telling a result (casebook/chapters/questions.py); the mistakes are the wrong answers that
the tests of the exercises try (`answers` in NN-name.yml). So the notes say what the chapters say.
"""

import itertools
import re
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook import chapters
from casebook.cells.notebook import gpus_of
from casebook.chapters.exercises import Exercise, exercises
from casebook.chapters.questions import QUESTION, RESULT

from . import notebook

PIECE = re.compile(rf"{RESULT.pattern}|{QUESTION.pattern}|^## (?P<heading>.+)$", re.MULTILINE)
MOST_LINES = 8  # lines of a stored output


class Asked(NamedTuple):
    """The questions about one cell, under the heading that they stand below."""

    heading: str
    questions: list[str]
    answers: list[str]


class About(SphinxDirective):
    """A directive whose argument is the name of a notebook, as 01-default-arguments."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        (chapter,) = [one for one in notebook.chapters(self.env) if one.name == self.arguments[0]]
        self.env.note_dependency(str(chapter.path))
        return self.content_of(chapter)

    def content_of(self, chapter: chapters.Chapter) -> list[nodes.Node]:
        raise NotImplementedError

    def markdown(self, text: str) -> list[nodes.Node]:
        """Nodes of a chapter's Markdown, with its links as seen from here."""
        text = re.sub(r"\]\((\d\d-[\w.-]+?\.ipynb)", r"](../notebooks/\1", text)
        return self.parse_text_to_nodes(text.replace("](../book/", "]("))

    def cell(self, chapter: chapters.Chapter, number: int) -> nodes.Node:
        """The number of a cell, as a link to it."""
        return notebook.link(self.env, chapter, f"cell-{number}", f"[{number}]")


class Needs(About):
    """What a run of the chapter takes, by its receipt and its cells."""

    def content_of(self, chapter: chapters.Chapter) -> list[nodes.Node]:
        receipt = chapter.receipt
        count, gpu = len(chapter.cells), sum(cell.needs_gpu for cell in chapter.cells)
        text = f"{count} cells, {count - gpu} of which run without a GPU. "
        if receipt:
            text += (
                f"The whole run took {receipt['seconds']} seconds on {gpus_of(receipt)}, "
                "with the environments made before."
            )
        return [nodes.paragraph("", text)]


class Questions(About):
    """Each question with its cell, what that prints, and the answer."""

    def content_of(self, chapter: chapters.Chapter) -> list[nodes.Node]:
        found: list[nodes.Element] = []
        inside = None
        for number, (heading, questions, answers) in asked(chapter):
            if heading != inside:
                found += [nodes.rubric("", heading), nodes.definition_list(classes=["questions"])]
                inside = heading
            cell = chapter.cells[number - 1]
            gpu = " GPU · " if cell.needs_gpu else " "
            question = self.parse_inline(" ".join(questions))[0]
            term = notebook.element(nodes.term, self.cell(chapter, number), gpu, *question)
            answer = [*output(cell), *(node for text in answers for node in self.markdown(text))]
            found[-1] += nodes.definition_list_item("", term, nodes.definition("", *answer))
        return found


class Mistakes(About):
    """For each exercise the known wrong answers, and what its check says of each."""

    def content_of(self, chapter: chapters.Chapter) -> list[nodes.Node]:
        known = {entry["exercise"]: entry["wrong"] for entry in chapter.sidecar.get("answers", ())}
        items = [self.exercise(chapter, one, known[one.number]) for one in exercises(chapter)]
        return [nodes.definition_list("", *items, classes=["mistakes"])]

    def exercise(
        self, chapter: chapters.Chapter, one: Exercise, wrong: list[dict[str, Any]]
    ) -> nodes.definition_list_item:
        name = f"Exercise {one.number}{' (GPU)' * one.needs_gpu}, solution in the chapter's cell "
        links = [self.cell(chapter, cell.number) for cell in one.solution]
        answers = nodes.bullet_list()
        for answer in wrong:
            says = nodes.emphasis("", answer["says"])
            line = notebook.element(nodes.paragraph, f"{answer['why']}: “", says, "”")
            answers += nodes.list_item("", line)
        term = notebook.element(nodes.term, name, *links)
        return nodes.definition_list_item("", term, nodes.definition("", answers))


def output(cell: chapters.Cell) -> list[nodes.Node]:
    """What a cell prints, as a block: its beginning and its end where it is long. Nothing for a
    picture."""
    lines = cell.text.rstrip().splitlines()
    if notebook.has_drawing(cell) or not lines:
        return []
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES // 2], "…", *lines[-(MOST_LINES // 2) :]]
    return [nodes.literal_block("", "\n".join(lines), language="none")]


def asked(chapter: chapters.Chapter) -> list[tuple[int, Asked]]:
    """Pairs of a cell's number and what the notebook asks about it, in order.

    A question before several cells is about the last one, which its answer follows. An answer in
    front of the cells follows its question, or is late for those above.
    """
    found: list[tuple[int, Asked]] = []
    number, above, below = 0, Asked("", [], []), Asked("", [], [])
    for kind, cells in itertools.groupby(chapter.notebook.cells, lambda node: node.cell_type):
        if kind == "code":
            number += len(list(cells))
            above, below = below, Asked(below.heading, [], [])
            if above.questions:
                found.append((number, above))
            continue
        for piece in PIECE.finditer("\n\n<!-- next -->\n".join(node.source for node in cells)):
            about = below if below.questions else above
            if piece["heading"]:
                below = below._replace(heading=piece["heading"])
            elif piece["question"]:
                below.questions.append(piece["question"])
            elif piece.start() == 0 or not about.answers:
                about.answers.append(piece["passage"])
    return found


def setup(app: Sphinx) -> None:
    app.add_directive("needs", Needs)
    app.add_directive("questions", Questions)
    app.add_directive("mistakes", Mistakes)

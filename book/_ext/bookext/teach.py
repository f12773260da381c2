"""The instructor notes' facts, through directives that name a chapter: `needs`, `questions` and `mistakes`.

The questions and their answers are the passages that the chapter marks as telling a result (casebook/workshop.py); what is often answered
instead is what the tests of the exercises hold (tests/answers). So the notes say what the chapters say.
"""

import re

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from casebook.authoring.exercises import exercises
from casebook.authoring.workshop import passages
from casebook.cells.repository import ROOT

from . import notebook

ANSWERS = ROOT / "tests/answers"
HEADING = re.compile(r"(?m)^## (.+)$")
SHOWN = 8  # lines of a stored output


class Chapter(SphinxDirective):
    """A directive whose argument is the name of a notebook, as 01-default-arguments."""

    required_arguments = 1

    def run(self):
        (chapter,) = [one for one in notebook.chapters(self.env) if one.name == self.arguments[0]]
        self.env.note_dependency(str(chapter.path))
        return self.content_of(chapter)

    def markdown(self, text):
        """Nodes of a chapter's Markdown, with its links as seen from here."""
        text = re.sub(r"\]\((\d\d-[\w.-]+?\.ipynb)", r"](../notebooks/\1", text).replace(
            "](../book/", "]("
        )
        return self.parse_text_to_nodes(text)


class Needs(Chapter):
    """What a run of the chapter takes, by its receipt and its cells."""

    def content_of(self, chapter):
        gpu, receipt = sum(cell.needs_gpu for cell in chapter.cells), chapter.receipt
        text = (
            f"{len(chapter.cells)} cells, {len(chapter.cells) - gpu} of which run without a GPU. "
        )
        if receipt:
            text += f"The whole run took {receipt['seconds']} seconds on an {receipt['gpu']}, with the environments made before."
        return [nodes.paragraph("", text)]


class Questions(Chapter):
    """Each question of the workshop copy with its cell, what that prints, and the answer, section by section."""

    def content_of(self, chapter):
        found, inside = [], None
        for number, (heading, questions, answers) in asked(chapter):
            if heading != inside:
                found += [nodes.rubric("", heading), nodes.definition_list(classes=["questions"])]
                inside = heading
            cell = chapter.cells[number - 1]
            gpu = " GPU · " if cell.needs_gpu else " "
            words = [nodes.Text(gpu), *self.parse_inline(" ".join(questions))[0]]
            term = nodes.term(
                "",
                "",
                notebook.link(self.env, chapter, f"cell-{number}", nodes.Text(f"[{number}]")),
                *words,
            )
            answer = [*seen(cell), *(node for text in answers for node in self.markdown(text))]
            found[-1] += nodes.definition_list_item("", term, nodes.definition("", *answer))
        return found


class Mistakes(Chapter):
    """For each exercise the wrong answers that the tests know, and what the check says of each."""

    def content_of(self, chapter):
        known = {
            entry["exercise"]: entry["wrong"]
            for entry in yaml.safe_load((ANSWERS / f"{chapter.name}.yml").read_text("utf8"))
        }
        items = [self.exercise(chapter, one, known[one.number]) for one in exercises(chapter)]
        return [nodes.definition_list("", *items, classes=["mistakes"])]

    def exercise(self, chapter, one, wrong):
        links = [
            notebook.link(self.env, chapter, f"cell-{cell.number}", nodes.Text(f"[{cell.number}]"))
            for cell in one.solution
        ]
        term = nodes.term(
            "",
            "",
            nodes.Text(f"Exercise {one.number}{' (GPU)' * one.needs_gpu}, solution in cell "),
            *links,
        )
        lines = [
            nodes.list_item(
                "",
                nodes.paragraph(
                    "",
                    "",
                    nodes.Text(f"{answer['why']}: “"),
                    nodes.emphasis("", answer["says"]),
                    nodes.Text("”"),
                ),
            )
            for answer in wrong
        ]
        return nodes.definition_list_item(
            "", term, nodes.definition("", nodes.bullet_list("", *lines))
        )


def seen(cell):
    """What a cell prints, as a block: its beginning and its end where it is long. Nothing for a picture."""
    lines = cell.text.rstrip().splitlines()
    if any("image/svg+xml" in output.get("data", {}) for output in cell.node.outputs) or not lines:
        return []
    if len(lines) > SHOWN:
        lines = [*lines[: SHOWN // 2], "…", *lines[-(SHOWN // 2) :]]
    return [nodes.literal_block("", "\n".join(lines), language="none")]


def asked(chapter):
    """Pairs of a cell's number and its heading, questions and answers, in order: what the notebook's marked passages tell of it."""
    found, heading, number = {}, "", 0
    for node in chapter.notebook.cells:
        if node.cell_type == "code":
            number += 1
            continue
        for place, (question, told) in enumerate(passages(node.source)):
            above = place == 1 and node.source.startswith("<!-- result")
            waits = number in found and not found[number][2]
            if question is not None and (question or above or waits):
                _, questions, answers = found.setdefault(
                    number if above or not question else number + 1, (heading, [], [])
                )
                questions += [question] * bool(question)
                answers += [told] * bool(told.strip())
            heading = (HEADING.findall(told) or [heading])[-1]
    return sorted((number, entry) for number, entry in found.items() if entry[1])


def setup(app):
    app.add_directive("needs", Needs)
    app.add_directive("questions", Questions)
    app.add_directive("mistakes", Mistakes)

"""The pages for teachers: what they name exists, and the minutes of their plans add up."""

import re

import pytest
from bs4 import BeautifulSoup
from helpers import ROOT

from casebook.authoring import chapters
from casebook.authoring.exercises import exercises
from casebook.authoring.workshop import passages

BOOKS = {book.name[:2]: book for book in chapters.load()}
LONG = [book for number, book in BOOKS.items() if number < "10"]
PLAN = (ROOT / "book/workshop.md").read_text("utf8")
PART = re.compile(r"(?m)^(\d):(\d\d), (\d+) minutes\. (.*)$")
DAYS = "Half a day", "A second half day"
TIMED = re.compile(r"(?m)^(?!\d:)(.+), (\d+) minutes\.$")

each_long_one = pytest.mark.parametrize("book", LONG, ids=lambda book: book.name)


def notes(book):
    return (ROOT / f"book/workshop-{int(book.name[:2])}.md").read_text("utf8")


def plan(heading):
    """The parts of a plan: begin and length in minutes, and what it is."""
    section = PLAN.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [
        (int(hour) * 60 + int(minute), int(length), what)
        for hour, minute, length, what in PART.findall(section)
    ]


@pytest.mark.parametrize(
    ("heading", "minutes"), [("90 minutes", 90), *((heading, 240) for heading in DAYS)]
)
def test_a_plan_has_no_gap_and_ends_in_time(heading, minutes):
    parts = plan(heading)
    assert [begin for begin, _, _ in parts] == [
        sum(length for _, length, _ in parts[:n]) for n in range(len(parts))
    ]
    assert sum(length for _, length, _ in parts) == minutes


def test_two_half_days_have_every_long_chapter_in_the_minutes_of_its_notes():
    planned = {
        what.partition("workshop-")[2][:1]: length
        for day in DAYS
        for _, length, what in plan(day)
        if "workshop-" in what
    }
    assert planned == {
        str(int(book.name[:2])): sum(int(minutes) for _, minutes in TIMED.findall(notes(book)))
        for book in LONG
    }


@each_long_one
def test_notes_name_what_is_there(book):
    text = notes(book)
    headings = re.findall(
        r"(?m)^## (.+)$",
        "\n".join(c.source for c in book.notebook.cells if c.cell_type == "markdown"),
    )
    assert {section for section, _ in TIMED.findall(text)} <= set(headings)
    assert set(re.findall(r"```\{(?:needs|questions|mistakes)\} (\S+)", text)) == {book.name}
    assert f"(../notebooks/{book.name}.ipynb)" in text
    assert {int(n) for n in numbers(text)} <= {cell.number for cell in book.cells}
    for asked in re.findall(r"(?i)\bexercise (\d+)|(?m:^\*\*(\d+)\.)", text):
        assert int("".join(asked)) in {one.number for one in exercises(book)}


@each_long_one
def test_cells_that_are_said_to_run_without_a_gpu_do(book):
    said = re.findall(r"[^.\n]* runs? without a GPU\b", notes(book))
    for sentence in said:
        spared = set(numbers(sentence.partition(" but ")[2]))
        assert not [
            cell.number
            for cell in book.cells
            if cell.number in set(numbers(sentence)) - spared and cell.needs_gpu
        ], sentence


def numbers(text):
    """The cells that a text names: [4], or [4] to [6]."""
    named = {int(n) for n in re.findall(r"\[(\d+)\](?!\()", text)}
    return named | {
        n
        for first, last in re.findall(r"\[(\d+)\] to \[(\d+)\]", text)
        for n in range(int(first), int(last) + 1)
    }


def test_every_question_has_its_answer_and_every_mistake_its_words(site):
    pages = {
        path.stem: BeautifulSoup(path.read_text("utf8"), "html.parser")
        for path in site.glob("book/workshop*.html")
    }
    for book in LONG:
        page = pages[f"workshop-{int(book.name[:2])}"]
        questions = [
            question
            for cell in book.notebook.cells
            if cell.cell_type == "markdown"
            for question, _ in passages(cell.source)
            if question
        ]
        shown = plain(" ".join(term.text for term in page.select("dl.questions > dt")))
        assert all(plain(question) in shown for question in questions)
        assert all(answer.text.strip() for answer in page.select("dl.questions > dd"))
        assert len(page.select("dl.mistakes > dt")) == len(exercises(book))
        assert len(page.select("dl.mistakes li")) >= 3 * len(exercises(book))
        assert f"took {book.receipt['seconds']} seconds" in page.text
    assert "<!--" not in "".join(page.select_one("article").decode() for page in pages.values())


def plain(text):
    """Without Markdown's marks, and with straight quotation marks."""
    return re.sub("[“”]", '"', re.sub(r"[`*]", "", text).replace("’", "'"))

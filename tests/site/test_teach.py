"""The pages for teachers: what they name exists, and the minutes of their plans add up."""

import re

import pytest
from bs4 import BeautifulSoup
from helpers import ROOT

from casebook import chapters
from casebook.chapters.exercises import exercises
from casebook.chapters.questions import QUESTION

LONG = [book for book in chapters.load() if book.long]
PLAN = (ROOT / "book/workshop.md").read_text("utf8")
PART = re.compile(r"(?m)^(\d):(\d\d), (\d+) minutes\. (.*)$")
DAYS = "Half a day", "A second half day"
TIMED = re.compile(r"(?m)^(?!\d:)(.+), (\d+) minutes\.$")

each_long_one = pytest.mark.parametrize("book", LONG, ids=lambda book: book.name)


def notes(book):
    return (ROOT / f"book/workshop-{book.name[1]}.md").read_text("utf8")


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
    time = 0
    for begin, length, _ in plan(heading):
        assert begin == time
        time += length
    assert time == minutes


def test_two_half_days_have_every_long_chapter_in_the_minutes_of_its_notes():
    parts = [part for day in DAYS for part in plan(day)]
    planned = {what.partition("workshop-")[2][:1]: length for _, length, what in parts}
    for book in LONG:
        assert planned[book.name[1]] == sum(int(time) for _, time in TIMED.findall(notes(book)))


@each_long_one
def test_notes_name_what_is_there(book):
    text = notes(book)
    headings = re.findall(r"(?m)^## (.+)$", "\n".join(markdown(book)))
    assert {section for section, _ in TIMED.findall(text)} <= set(headings)
    assert set(re.findall(r"```\{(?:needs|questions|mistakes)\} (\S+)", text)) == {book.name}
    assert f"(../notebooks/{book.name}.ipynb)" in text
    assert {int(n) for n in numbers(text)} <= {cell.number for cell in book.cells}
    for asked in re.findall(r"(?i)\bexercise (\d+)|(?m:^\*\*(\d+)\.)", text):
        assert int("".join(asked)) in {one.number for one in exercises(book)}


@each_long_one
def test_cells_that_are_said_to_run_without_a_gpu_do(book):
    with_gpu = {cell.number for cell in book.cells if cell.needs_gpu}
    for sentence in re.findall(r"[^.\n]* runs? without a GPU\b", notes(book)):
        spared = numbers(sentence.partition(" but ")[2])
        assert not with_gpu & numbers(sentence) - spared, sentence


def numbers(text):
    """The cells that a text names: [4], or [4] to [6]."""
    named = re.findall(r"\[(\d+)\](?: to \[(\d+)\])?(?!\()", text)
    return {n for first, last in named for n in range(int(first), int(last or first) + 1)}


def markdown(book):
    return [cell.source for cell in book.notebook.cells if cell.cell_type == "markdown"]


@each_long_one
def test_every_question_has_its_answer_and_every_mistake_its_message(site, book):
    text = (site / f"book/workshop-{book.name[1]}.html").read_text("utf8")
    page = BeautifulSoup(text, "html.parser").article
    shown = plain(" ".join(term.text for term in page.select("dl.questions > dt")))
    questions = QUESTION.findall("\n".join(markdown(book)))
    assert all(plain(question) in shown for question in questions)
    assert all(answer.text.strip() for answer in page.select("dl.questions > dd"))
    assert len(page.select("dl.mistakes > dt")) == len(exercises(book))
    assert len(page.select("dl.mistakes li")) >= 3 * len(exercises(book))
    assert f"took {book.receipt['seconds']} seconds" in page.text
    assert "<!--" not in page.decode()


def plain(text):
    """Without Markdown's marks, and with straight quotation marks."""
    return re.sub("[“”]", '"', re.sub(r"[`*]", "", text).replace("’", "'"))

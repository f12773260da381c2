"""Lessons: each answer gets its verdict and reply, and the stored files have the lessons' form."""

import os
import re
from collections import Counter

import pytest

from casebook.chapters import lessons
from casebook.chapters.exercises import exercises
from casebook.environments import gpu
from casebook.errors import MissingPython
from casebook.execution.script import check, run

LESSONS = lessons.load()
FORM = [
    "What you need",
    "A kernel that works",
    "The same kernel, broken",
    "A real case",
    "Exercises",
    "Three questions",
    "Next",
]
MOST_WORDS = 700
# One process imports Numba and the checks, and forks for each script, one for each core at a time.
TRY = """
import os, signal, sys, types
from numba import cuda
{imports}

def start(folder):
    os.chdir(folder)
    os.environ["CASEBOOK_FOLDER"] = os.getcwd()
    output = os.open("output", os.O_CREAT | os.O_WRONLY)
    os.dup2(output, 1), os.dup2(output, 2)
    signal.alarm(60)
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = os.path.abspath("cell.py")
    exec(compile(open(main.__file__).read(), main.__file__, "exec"), vars(main))
    sys.exit()

running = 0
for folder in sorted(filter(os.path.isdir, os.listdir())):
    if running == {cores}:
        os.wait()
        running -= 1
    os.fork() or start(folder)
    running += 1
for _ in range(running):
    os.wait()
"""


def on_colab(address):
    return address.replace("https://github.com/", "https://colab.research.google.com/github/")


def answers(*kinds):
    """Each answer of these kinds as a parameter (lesson, exercise, answer)."""
    return [
        pytest.param(lesson, one, answer, id=f"{lesson.name}-{one.number}-{answer['why']}")
        for lesson in LESSONS
        for one in exercises(lesson)
        for kind in kinds
        for answer in lesson.answers(one.number, kind)
    ]


each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def tried(lesson, folder):
    """What the cells of a lesson's exercises say, {source: text}: as stored, and with answers."""
    sources = [one.exercise[0].source for one in exercises(lesson)]
    sources += [
        lesson.written(one, answer)
        for one in exercises(lesson)
        for kind in ("right", "wrong")
        for answer in lesson.answers(one.number, kind)
    ]
    for place, source in enumerate(sources):
        (folder / f"{place:03}").mkdir()
        (folder / f"{place:03}/cell.py").write_text("\n" + source.partition("\n")[2], "utf-8")
    imports = {line for source in sources for line in re.findall(r"(?m)^from lesson_.*", source)}
    script = TRY.format(imports="\n".join(sorted(imports)), cores=os.cpu_count())
    header = exercises(lesson)[0].exercise[0].header
    try:
        outcome = run(script, header, lambda text: None, place=folder)
    except MissingPython as error:
        pytest.skip(str(error))
    assert outcome.status == 0, outcome.output
    return {
        source: (folder / f"{place:03}/output").read_text("utf-8")
        for place, source in enumerate(sources)
    }


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """said(lesson, source): what the cell says."""
    known = {}

    def said(lesson, source):
        if lesson.name not in known:
            known[lesson.name] = tried(lesson, tmp_path_factory.mktemp("lesson"))
        return known[lesson.name][source]

    return said


@pytest.mark.parametrize(("lesson", "one", "answer"), answers("right"))
def test_right_answers_are_accepted_and_compile(said, lesson, one, answer):
    text = said(lesson, lesson.written(one, answer))
    assert text.startswith("Correct: ") and "Not yet" not in text, text
    assert ("and on " if gpu.find() else "Numba compiles it for a GPU") in text, text


@pytest.mark.parametrize(("lesson", "one", "answer"), answers("wrong"))
def test_wrong_answers_get_a_reply_to_their_mistake(said, lesson, one, answer):
    text = said(lesson, lesson.written(one, answer))
    assert text.startswith("Not yet") and "Correct" not in text and answer["says"] in text, text


@each_lesson
def test_stored_exercises_are_open(said, lesson):
    for one in exercises(lesson):
        (reader,) = one.exercise
        text = said(lesson, reader.source)
        assert text.startswith("Not yet") and "Correct" not in text, text
        assert not reader.node.outputs and not one.solution and not one.check
        assert "# your code here" in reader.source
        check_line = reader.source.partition(lessons.CHECK)[2]
        assert re.fullmatch(r"check_\w+\([\w, ]+\)", check_line), reader.source


@each_lesson
def test_every_exercise_has_answers(lesson):
    numbers = [one.number for one in exercises(lesson)]
    assert numbers == [entry["exercise"] for entry in lesson.sidecar["answers"]]
    assert 2 <= len(numbers) <= 4
    for number in numbers:
        kinds = {kind: lesson.answers(number, kind) for kind in ("right", "wrong")}
        assert len(kinds["right"]) >= 2 and len(kinds["wrong"]) >= 5, number
        for name, count in Counter(one["why"] for kind in kinds.values() for one in kind).items():
            assert count == 1, name


@each_lesson
def test_solutions_are_not_stored(lesson):
    """No cell has the text of a right answer."""
    cells = "\n".join(node.source for node in lesson.notebook.cells)
    for one in exercises(lesson):
        for answer in lesson.answers(one.number, "right"):
            assert lesson.written(one, answer).partition("\n@")[2] not in cells


@each_lesson
def test_a_lesson_has_the_form(lesson):
    texts = [node.source for node in lesson.notebook.cells if node.cell_type == "markdown"]
    prose = "\n".join(texts)
    assert re.findall(r"(?m)^## (.+)", prose) == FORM
    assert re.match(rf"# Lesson {lesson.number}: ", prose)
    assert f"*{lesson.minutes} minutes" in texts[0]
    assert "After this lesson you can\n- " in texts[0]
    assert f"]({on_colab(lesson.address)})" in texts[0]
    assert prose.count("**Before you run it:**") == 1
    real = prose.partition("## A real case")[2].partition("\n## ")[0]
    assert re.search(r"\[case \d\d\]\(https://", real)
    closing = prose.partition("## Three questions")[2].partition("\n## ")[0]
    assert re.findall(r"(?m)^(\d)\. ", closing) == list("123123")
    assert len(prose.split()) <= MOST_WORDS
    assert lesson.preamble[0].source.splitlines()[2].count("casebook @ git+") == 1


@each_lesson
def test_a_lesson_leads_to_the_next(lesson):
    links = re.findall(r"\]\((\S+)\)", lesson.notebook.cells[-1].source)
    for following in LESSONS[lesson.number : lesson.number + 1]:  # none after the last
        assert links[0] == on_colab(following.address)


def test_the_numbers_of_lessons_have_no_gap():
    assert [lesson.number for lesson in LESSONS] == list(range(1, len(LESSONS) + 1))


DEMONSTRATIONS = [
    pytest.param(cell, id=f"{lesson.name}-{cell.number}")
    for lesson in LESSONS
    for cell in lesson.cells
    if cell.pinned and "exercise" not in cell.tags
]


@pytest.mark.parametrize("cell", DEMONSTRATIONS)
def test_demonstrations_print_what_is_stored(cell):
    try:
        outcome = run(cell.script, cell.header, lambda text: None)
    except MissingPython as error:
        pytest.skip(str(error))
    check(cell.header, outcome)
    assert cell.text.replace("<picture>", "").startswith(outcome.output)
    pictures = [output.get("data", {}).get("image/svg+xml", "") for output in cell.node.outputs]
    assert "".join(pictures) == outcome.picture

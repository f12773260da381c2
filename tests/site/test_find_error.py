"""Find your error: what people really paste, in the engine that the page uses. Needs Chromium on
the machine.

tests/site/pastes/ holds excerpts of public threads, with links. The messages of the book itself are
tried behind frames as they look in other places, and wrapped.
"""

import functools
import re

import pytest
import yaml
from helpers import ROOT

from casebook.authoring import chapters

PLACES = {
    "Linux": '  File "/opt/venv/lib/python3.12/site-packages/{}/module.py", line 9, in call',
    "Windows": '  File "C:\\Users\\me\\venv\\Lib\\site-packages\\{}\\module.py", line 9, in call',
    "a checkout": '  File "/home/me/src/{}/module.py", line 9, in call',
    "a notebook": (
        "/usr/local/lib/python3.11/dist-packages/{}/module.py in call(self, *args)\n----> 9     "
        "self.call(*args)"
    ),
    "pytest": (
        "/opt/conda/envs/test/lib/python3.10/site-packages/{}/module.py:74: in call\n    "
        "self.call()"
    ),
}
INSIDE = {
    "numba": "numba/cuda",
    "numba_cuda": "numba_cuda/numba/cuda",
    "cuda": "cuda/core",
}  # where a library's frames lie
LINE_STARTS = (
    "> ",
    "> > ",
    "E       ",
    "  | ",
    "2026-01-02T03:04:05.1234567Z ",
    "[2026-01-02 03:04:05,678] {operator.py:265} INFO - ",
    "03:04:05.678 STDERR 1311] | ",
    "[rank0]: ",
    "(Worker pid=4711) ",
    "web-1  | ",
    "ERROR: ",
    "# ",
    "\x1b[31m",
    "[0;31m",
)
ELSEWHERE = {
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "08"
}  # messages that other chapters meet as well
load = functools.cache(chapters.load)
SEARCH = (
    "texts => texts.map(text => Object.fromEntries(match(BOOK, text).map(one => [one.case.number, "
    "one.sure])))"
)


@pytest.fixture(scope="module")
def engine(browser):
    """The page's own script, with the messages of the book; evaluates JavaScript."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "book/_ext")
        from bookext.errors import data
    page = browser.new_page()
    page.add_script_tag(path=ROOT / "book/_static/match.js")
    page.evaluate("data => { window.BOOK = data }", data(load()))
    yield page.evaluate
    page.close()


@pytest.fixture(scope="module")
def find(engine):
    """Cases that each of some texts finds, as the page does: `[{'04': True}]`, True where it says
    that this is the case.
    """
    return lambda texts: engine(SEARCH, list(texts))


def pastes(name):
    return yaml.safe_load((ROOT / f"tests/site/pastes/{name}.yml").read_text("utf8"))


@functools.cache
def failures():
    """Every cell of the book that ends in an exception, as (number of the case that its message
    belongs to, Cell).
    """
    found = [
        (chapter.name[:2], cell)
        for chapter in load()
        for cell in chapter.cells
        if cell.header and cell.header.raises and cell.text
    ]
    return [
        (next((case for words, case in ELSEWHERE.items() if words in cell.text), number), cell)
        for number, cell in found
    ]


def raised(cell):
    """Packages whose frames a stored traceback folds, and the exception with its message."""
    trace = cell.text.rpartition("Traceback (most recent call last):\n")[2]
    packages = {
        name for names in re.findall(r"… \d+ frames? in (.*)", trace) for name in names.split(", ")
    } - {"the standard library"}
    exception = re.search(
        rf"(?ms)^(?:[\w.]+\.)?{cell.header.raises}\b.*?(?=^as expected: |^exit status |\Z)", trace
    )
    return sorted(packages), exception[0] if exception else cell.header.raises


def wrapped(text, width=60):
    """A text as a terminal of that width breaks it, in the middle of words too."""
    return "\n".join(
        line[start : start + width]
        for line in text.split("\n")
        for start in range(0, max(len(line), 1), width)
    )


def missed(find, wanted):
    """Of (number, text) pairs those whose text does not find the case."""
    return [
        pair
        for pair, found in zip(wanted, find(text for _, text in wanted), strict=True)
        if pair[0] not in found
    ]


def test_what_people_posted_finds_its_case(find):
    numbers = {chapter.name[:2] for chapter in load()}
    wanted = [
        (paste["case"], paste["text"]) for paste in pastes("found") if paste["case"] in numbers
    ]
    lost = missed(find, wanted)
    assert len(wanted) >= 40 and len(lost) <= 0.05 * len(wanted), lost


def test_what_people_posted_about_other_things_finds_nothing(find):
    texts = [paste["text"] for paste in pastes("unrelated")]
    claimed = [(text, found) for text, found in zip(texts, find(texts), strict=True) if found]
    assert len(texts) >= 40 and len(claimed) <= 0.02 * len(texts), claimed


def test_every_card_is_found_by_its_words(find):
    wanted = [(chapter.name[:2], words) for chapter in load() for words in chapter.facts.messages]
    assert not missed(find, wanted)


def test_every_stored_traceback_finds_its_case(find):
    wanted = [(number, cell.text) for number, cell in failures() if raised(cell)[0]]
    lost = missed(find, wanted)
    assert wanted and len(lost) <= 0.05 * len(wanted), lost


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", [str, wrapped], ids=["as it is", "wrapped"])
def test_every_message_is_found_wherever_the_library_lies(find, place, form):
    wanted = []
    for number, cell in failures():
        packages, exception = raised(cell)
        folders = [
            INSIDE.get(name, name).replace("/", "\\" if place == "Windows" else "/")
            for name in packages
        ]
        frames = "\n".join(PLACES[place].format(folder) for folder in folders)
        if packages:
            wanted.append(
                (number, form(f"Traceback (most recent call last):\n{frames}\n{exception}"))
            )
    lost = missed(find, wanted)
    assert wanted and len(lost) <= 0.05 * len(wanted), lost


@pytest.mark.parametrize("start", LINE_STARTS, ids=repr)
def test_what_stands_before_a_line_is_taken_off(find, start):
    message = (
        "numba.core.errors.LoweringError: Failed in cuda mode pipeline (step: native "
        "lowering)\nNo definition for lowering "
        "(<class 'numba.cuda.types.GridGroup'>, 'sync')(GridGroup,) -> int32"
    )
    text = "\n".join(start + line for line in wrapped(message).split("\n"))
    assert find([text]) == [{"02": True}]


@pytest.mark.parametrize(
    "text",
    [
        "No definition for lowering (&lt;class &#39;numba.cuda.types.GridGroup&#39;&gt;, "
        "&#39;sync&#39;)(GridGroup,)",
        "no definition for lowering (<class ‘numba.cuda.types.GridGroup’>, "
        "‘sync’)(GridGroup,) -> int32",
        "LoweringError('Failed in cuda mode pipeline (step: native lowering)\\nNo definition "
        "for lowering "
        "(<class \\'numba.cuda.types.GridGroup\\'>, \\'sync\\')(GridGroup,) -> int32')",
    ],
    ids=["HTML", "typographic quotes", "repr"],
)
def test_a_message_is_found_in_other_writing(find, text):
    assert find([text]) == [{"02": True}]


def test_a_line_that_breaks_off_is_enough(find):
    start = "FAILED test_x.py::test_y - TypeError: "
    assert find(
        [
            f"{start}Signature mismatch: 1 argument types given, but fun...",
            f"{start}Signature mis...",
        ]
    ) == [{"01": False}, {}]


def test_a_bare_type_needs_a_frame_of_the_library_that_raised_it(find, engine):
    book = engine("BOOK") | {
        "cases": [
            {
                "number": "77",
                "libraries": ["cupy"],
                "messages": [
                    {
                        "text": "ValueError",
                        "said": "ValueError",
                        "level": 0,
                        "own": True,
                        "libraries": ["cupy"],
                        "cells": [[1, "The symptom"]],
                    }
                ],
            }
        ]
    }
    frame = '  File "/v/site-packages/{}/core.py", line 9, in f\nValueError'
    texts = [
        "ValueError",
        frame.format("numpy/_core"),
        frame.format("cupy/_core"),
        frame.format("cupy/_core") + ": with words",
    ]
    assert [
        bool(engine("([book, text]) => match(book, text).length", [book, text])) for text in texts
    ] == [False, False, True, False]


def test_a_library_decides_between_same_words(find):
    words = "Signature mismatch: 3 argument types given, but function takes 4 arguments"
    frames = [
        "numba/cuda/dispatcher.py",
        "numba/core/dispatcher.py",
        "torch/_dynamo/convert_frame.py",
    ]
    framed = [
        f'File "/v/lib/python3.12/site-packages/{frame}", line 9, in f\nTypeError: {words}'
        for frame in frames
    ]
    gpu, cpu, other, alone = find([*framed, words])
    assert gpu == {"01": True} and cpu == {"01": False} and other == {} and alone == {"01": False}


@pytest.mark.parametrize(
    "text",
    [
        "ValueError",
        "NotImplementedError",
        "AttributeError: 'str' object has no attribute 'keys'",
        "Segmentation fault (core dumped)",
        "AssertionError",
        "TypeError: ",
        "Killed",
    ],
)
def test_words_that_every_program_may_print_find_nothing(find, text):
    assert find([text, f'  File "train.py", line 3, in <module>\n    main()\n{text}']) == [{}, {}]


def test_a_crash_needs_a_frame_of_the_library(find):
    framed = (
        "Fatal Python error: Segmentation fault\n#3 0x00007f nanobind::detail::ndarray_export at "
        "nb_ndarray.cpp:712"
    )
    listed = (
        "Segmentation fault\n\nExtension modules: numpy._core._multiarray_umath, nanobind.nb_ext, "
        "cupy._core.core (total: 3)"
    )
    assert find([framed, listed]) == [{"05": False}, {}]

"""A good chapter has no problem, and each planted fault is a sentence that names its place."""

import contextlib
import json

import nbformat
import pytest
import yaml
from helpers import cell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from casebook import doctor
from casebook.authoring import receipts
from casebook.authoring.chapters import Chapter
from casebook.authoring.checks import figures, problems
from casebook.authoring.publish import with_card
from casebook.errors import WrongUse

NAME = "08-example"
INTRO = "# A title\n\nA sentence.\n\n<!-- card: -->\n\n<!-- end of the card -->"
FACTS = {
    "kind": ["crash", "slow"],
    "libraries": ["Numba's built-in CUDA target", "numba-cuda", "NumPy"],
    "threads": ["numba/numba/issues/10006"],
    "needs": "a compiler",
    "faults": [
        {
            "id": "example",
            "see": "A kernel does not compile",
            "messages": ["ValueError: a text"],
            "do": '`pip install "numba-cuda>=0.8.0" "numpy<2"`',
            "affected": {"numba-cuda": "<0.8.0", "built-in target": "<=0.68.1"},
            "fixed": {"numba-cuda": "0.8.0"},
            "beside": {"numpy": ">=2.0"},
        }
    ],
}
PINNED = "%%pinned\n" + cell(
    "raise ValueError('a text')",
    "raises = 'ValueError'",
    "gpu = true",
    dependencies=["numba==0.68.1", "numba-cuda==0.7.0", "numpy==2.4.6"],
)
CELLS = [
    (INTRO,),
    ("%load_ext casebook", "", "setup"),
    (
        "## The symptom\n\nCell 2 fails on 0.7.0. [The cause](#why) is in `x.py`, see [numba PR #12](https://github.com/numba/numba/pull/12).",
    ),
    (PINNED, "ValueError: a text\nas expected: ValueError\n"),
    (
        "The copy takes 1.31 ms, about 12 % more than the 1.2 ms of the other, "
        "and moves 3.2 to 4.1 GB/s of the 4.8 TB/s that there are.",
    ),
    (
        "import timing\ntimes()",
        "copy   1.3132 ms\nother  1170 µs\n1.122 times\n0.122 of it\n3.2154 GB/s, 4.07 GB/s\n",
        "nbval-ignore-output",
    ),
    ("drawing()", "", "hide-input"),
    (
        "## What the article said\n\n| Claim | Verdict | Where |\n|---|---|---|\n"
        "| It is 9.9 times slower | false | 1.12 times (The symptom) |\n"
        "| Nobody knows | not testable | nothing here |\n\n"
        "## Exercises\n\n**1. Predict.** What is six times seven?",
    ),
    ("answer = None", "", "exercise"),
    (
        "# The check\ndef check(answer):\n"
        "    return 'Correct.' if answer == 42 else 'Not yet: six times seven.'\n\n"
        "print(check(answer))",
        "Not yet: six times seven.\n",
        "check",
    ),
    (
        "# A solution\nsolution_answer = 42\nprint('Solution:', check(solution_answer))",
        "Solution: Correct.\n",
        "solution",
    ),
    ("The fifth cell of exercise 1.\n\n## References\n\n- [13.4.1](https://example.org/v13.4.1)",),
    ("address()", "0x1234\n", "nbval-ignore-output"),
]
SIDECAR = FACTS | {
    "figures": {"4.8 TB/s": "NVIDIA's data sheet"},
    "varies": {"cell-12": "prints an address"},
    "wordings": [{"text": "a text", "link": "https://example.org/1"}],
}


def node(number, source, output=None, tag=None):
    if output is None:
        return new_markdown_cell(source, id=f"cell-{number}")
    return new_code_cell(
        source,
        id=f"cell-{number}",
        execution_count=number or 1,
        metadata={"tags": [tag]} if tag else {},
        outputs=[new_output("stream", text=output)] if output else [],
    )


@pytest.fixture
def found(tmp_path, monkeypatch):
    """found(change): problems of the example after `change(cells, receipt, sidecar)`."""
    monkeypatch.setattr(doctor, "CASES", ())

    def found(change):
        cells = {number: node(number, *told) for number, told in enumerate(CELLS)}
        receipt = {
            "gpu": "NVIDIA H200",
            "compute_capability": "9.0",
            "driver": "580.159.04",
            "python": "3.12.3",
            "date": "2026-11-20",
            "seconds": 96,
        }
        sidecar = json.loads(json.dumps(SIDECAR))
        change(cells, receipt, sidecar)
        card = sidecar.pop("card", {})
        path = tmp_path / f"{NAME}.ipynb"
        path.with_suffix(".yml").write_text(yaml.safe_dump(sidecar))
        chapter = Chapter(save(path, list(cells.values()), casebook={"seconds": 96}))
        with contextlib.suppress(WrongUse):
            cells[0].source = with_card(chapter)
        for old, new in card.items():
            cells[0].source = cells[0].source.replace(old, new)
        receipt |= {
            "environment": receipts.environment(chapter),
            "cells": {c.node.id: c.stamp() for c in chapter.cells},
        }
        return problems(Chapter(save(path, list(cells.values()), casebook=receipt)))

    return found


def save(path, cells, **metadata):
    nbformat.write(new_notebook(cells=cells, metadata=metadata), path)
    return path


def test_the_example_has_no_problem(found):
    assert found(lambda cells, receipt, sidecar: None) == []


def change(place, *words):
    """Other words in the source of a cell: old, new, and so on in pairs."""

    def change(cells, receipt, sidecar):
        for old, new in zip(words[::2], words[1::2], strict=True):
            assert cells[place].source.count(old) == 1, old
            cells[place].source = cells[place].source.replace(old, new)

    return change


def say(place, old, new):
    """Another word in the output of a cell."""

    def say(cells, receipt, sidecar):
        cells[place].outputs[0].text = cells[place].outputs[0].text.replace(old, new)

    return say


def tag(place, *tags):
    def tag(cells, receipt, sidecar):
        cells[place].metadata["tags"] = list(tags)

    return tag


def beside(key, value):
    def beside(cells, receipt, sidecar):
        sidecar[key] = value

    return beside


def all_of(*plants):
    def all_of(*parts):
        for plant in plants:
            plant(*parts)

    return all_of


def draw(place):
    """A drawing as source and output."""

    def draw(cells, receipt, sidecar):
        cells[place].source = "SVG('<svg></svg>')"
        cells[place].outputs = [new_output("display_data", {"image/svg+xml": "<svg></svg>"})]

    return draw


def fact(key, value):
    """Another value in the first fault; None takes the key out."""

    def fact(cells, receipt, sidecar):
        sidecar["faults"][0][key] = value
        if value is None:
            del sidecar["faults"][0][key]

    return fact


CARD = [
    (beside("card", {"≥ 2.0": "≥ 1.26"}), "the card is not that of the facts; run"),
    (beside("card", {"about 2 minutes": "about 1 minute"}), "the card is not that of the facts"),
    (change(0, "<!-- card: -->", ""), "its first cell has no card"),
    (beside("kind", ["crashes"]), "08-example.yml: kind[0]: 'crashes' is not one of"),
    (beside("libraries", ["Thrust"]), "libraries: no cell installs or imports Thrust"),
    (change(3, "'numba-cuda==", "'numba-cuda-mlir=="), "imports numba-cuda"),
    (beside("threads", ["numba#1"]), "08-example.yml: threads[0]: 'numba#1' does not match"),
    (fact("see", "x" * 141), "08-example.yml: faults[0].see:"),
    (fact("do", None), "08-example.yml: faults[0]: 'do' is a required property"),
    (fact("do", "not fixed"), "08-example.yml: faults[0].do:"),
    (fact("do", '`pip install "numba-cuda>=0.7.0"`'), "lets numba-cuda 0.7.0 in, which has it"),
    (
        fact("do", '`pip install "numba-cuda[cu12]>=0.7.0"`'),
        "lets numba-cuda 0.7.0 in, which has it",
    ),
    (fact("do", '`pip install "numpy>=2"`'), "`do` lets numpy 2.0 in, which has it"),
    (fact("fixed", {"numba-cuda": "0.9.0"}), "numba-cuda <0.8.0 does not end at fixed (0.9.0)"),
    (fact("affected", {"numba-cuda": "<0.8"}), "numba-cuda <0.8 does not end at fixed (0.8.0)"),
    (fact("affected", {"numba-cuda": "about 1"}), "08-example.yml: faults[0].affected:"),
    (fact("affected", {"numba-cuda": ">=0.9,<0.8.0"}), "the range of numba-cuda, >=0.9,<0.8.0, is"),
    (fact("at-risk", ["cupy"]), "cupy is not among the affected packages"),
    (fact("by-design", True), "what is by design is fixed in no release"),
    (fact("messages", ["ValueError: other"]), "has the message 'ValueError: other'"),
    (
        all_of(fact("messages", None), beside("kind", ["crash"])),
        "no fault has messages, though the kind is crash",
    ),
]
PROSE = [
    (change(2, "Cell 2", "Cell 99"), "it names cell 99, which does not exist"),
    (change(2, "Cell 2", "Cells 1, 2 and 17"), "it names cell 17"),
    (change(11, "exercise 1", "exercise 4"), "it names exercise 4"),
    (change(2, "is in", "is in chapter 77, in"), "it names chapter 77"),
    (change(2, "numba PR #12]", "numba PR #13]"), "the link [numba PR #13] leads to pull/12"),
    (change(2, "pull/12)", "issues/12)"), "the link [numba PR #12] leads to issues/12"),
    (
        change(2, "/numba/pull", "/llvmlite/pull"),
        "the link [numba PR #12] leads to the repository llvmlite",
    ),
    (
        change(2, "(#why)", "(99-missing.ipynb#why)"),
        "a link to 99-missing.ipynb, which does not exist",
    ),
    (change(2, "on 0.7.0", "on 0.7.1"), "no cell shows 0.7.1"),
    (change(4, "1.31", "9.9"), "no cell shows 9.9 ms"),
    (change(4, "1.31", "1.32"), "no cell shows 1.32 ms"),
    (change(4, "1.31 ms", "1.31 s"), "no cell shows 1.31 s"),
    (change(4, "1.2 ms", "1.1 ms"), "no cell shows 1.1 ms"),
    (change(4, "12 %", "19 %"), "no cell shows 19 %"),
    (change(4, "3.2 to", "3.4 to"), "no cell shows 3.4 GB/s"),
    (change(4, "GB/s of", "MB/s of"), "no cell shows 4.1 MB/s"),
    (
        change(4, "4.8 TB/s", "4.9 TB/s"),
        "no cell shows 4.9 TB/s (… other, and moves 3.2 to 4.1 GB/s of the 4.9 TB/s "
        "that there are. …)",
    ),
    (
        change(4, "4.8 TB/s", "all"),
        "08-example.yml: figures has '4.8 TB/s', which the prose lacks",
    ),
    (change(7, "1.12 times", "1.22 times"), "no cell shows 1.22 times"),
    (
        change(7, "(The symptom)", "(Somewhere)"),
        "names no section of this chapter: '1.12 times (Somewhere)'",
    ),
    (
        change(7, "| false |", "| wrong |"),
        "the verdict on 'It is 9.9 times slower' is 'wrong', not one of true",
    ),
    (change(7, "slower | false", "slower, false"), "has 2 columns, not claim, verdict and where"),
    (change(11, "[13.4.1]", "[13.4.2]"), "no cell shows 13.4.2"),
    (say(5, "1.3132", "1.4132"), "no cell shows 1.31 ms"),
]
CODE = [
    (
        change(3, "raise ValueError", "# " + 90 * "x" + "\nraise ValueError"),
        "cell [2]: more than 88 characters in line 9",
    ),
    (
        change(3, "raise ValueError", 26 * "x = 1\n" + "raise ValueError"),
        "cell [2]: 27 lines of code without the header; at most 25",
    ),
    (
        tag(3, "nbval-ignore-output"),
        "cell [2]: the tag nbval-ignore-output excludes it from the comparison, and it measures",
    ),
    (
        all_of(tag(3, "nbval-ignore-output"), say(3, "a text", "a text after 3 ms")),
        "cell [2]: the tag nbval-ignore-output excludes it",
    ),
    (
        all_of(tag(6, "nbval-ignore-output"), draw(6)),
        "cell [4]: the tag nbval-ignore-output excludes it",
    ),
    (tag(3, "nbval-skip"), "cell [2]: the tag nbval-skip excludes it"),
    (
        all_of(tag(5), change(5, "times()", "times().claim('faster', True)")),
        "cell [3]: on a busy machine its timing claims are not checked",
    ),
    (tag(5, "nbval-ignore-outptu"), "cell [3]: unknown tag 'nbval-ignore-outptu'"),
    (tag(5, "nbval-skip"), "cell [3]: the tag nbval-skip excludes it"),
    (tag(9, "check", "nbval-ignore-output"), "cell [6]: the tag nbval-ignore-output excludes it"),
    (beside("varies", {}), "cell [8]: the tag nbval-ignore-output excludes it"),
]
EXERCISES = [
    (
        say(9, "Not yet: six times seven.", "Correct."),
        'exercise 1: as it is stored, its check does not print "Not yet"',
    ),
    (say(9, "Not yet: six", "Correct. Not yet: six"), "exercise 1: as it is stored"),
    (
        tag(10),
        "exercise 1: cell [7] follows the reader's cell without a tag",
    ),
    (tag(10), "exercise 1: no cell is tagged solution"),
    (change(10, "# A solution\n", ""), "cell [7]: it is folded"),
    (tag(9), "exercise 1: no cell is tagged check"),
    (tag(8), "exercise 1: 0 cells are tagged exercise, not one"),
    (tag(5, "solution"), "cell [3]: tagged solution, and belongs to no exercise"),
    (
        say(10, "Solution: ", ""),
        'exercise 1: the output of the solution, cell [7], does not begin with "Solution: Correct"',
    ),
    (
        say(10, "Correct", "Not yet"),
        'exercise 1: the output of the solution, cell [7], does not begin with "Solution: Correct"',
    ),
    (
        change(10, "solution_answer = 42", "answer = solution_answer = 42"),
        "exercise 1: the solution, cell [7], binds answer, which overwrites",
    ),
    (change(7, "**1. ", "**2. "), ": the exercises are numbered 2"),
]
BESIDE = [
    (beside("figure", {}), "08-example.yml: $: Additional properties are not allowed ('figure'"),
    (beside("varies", {"cell-12": "no"}), "08-example.yml: varies['cell-12']: 'no' does not match"),
    (beside("varies", {"gone": "an address"}), "varies names a cell 'gone', which is not there"),
    (beside("wordings", [{"text": "x"}]), "08-example.yml: wordings[0]: 'link' is a required"),
    (
        beside("wordings", [{"text": "x", "link": "http://example.org"}]),
        "08-example.yml: wordings[0].link: 'http://example.org' does not match",
    ),
]


@pytest.mark.parametrize(("plant", "sentence"), CARD + PROSE + CODE + EXERCISES + BESIDE)
def test_a_planted_fault_is_found(found, plant, sentence):
    said = found(plant)
    assert any(problem.startswith(NAME) and sentence in problem for problem in said), "\n".join(
        said
    )


@pytest.mark.parametrize(
    "plant",
    [
        change(4, "1.31 ms", "1,313 µs"),
        change(4, "1.31 ms", "1.3 ms"),
        change(4, "12 %", "12.2 %"),
        change(4, "1.31 ms", "about 1.4 ms"),
        change(4, "1.31 ms", "less than 1.4 ms"),
        change(2, "on 0.7.0", "on 0.7"),
        change(4, "The copy", "In 9 of 33 years the copy"),
        change(4, "The copy", "`9.9 ms` The copy"),
        change(4, "The copy", "792 × 1024 points: the copy"),
        change(2, "(#why)", "(#why), exercise 9 of chapter 8,"),
        all_of(
            change(8, "answer = None", "answer = n = None"),
            change(10, "answer = 42", "answer = sum(n for n in [42])"),
        ),
        beside("wordings", [{"text": "x", "link": "https://example.org", "if": "it rains"}]),
        change(7, "(The symptom)", "(exercise 1)"),
    ],
)
def test_what_is_right_is_no_fault(found, plant):
    assert found(plant) == []


def test_a_card_may_quote_what_a_release_said(found, tmp_path):
    row = {
        "library": "numba-cuda",
        "release": "0.6.0",
        "released": "2025-03-01",
        "as_of": "release",
        "python": "3.12",
        "closure": "numba-cuda==0.6.0",
        "cpu": {
            "outcome": "failed differently",
            "line": "ValueError: another",
            "date": "2026-11-22",
            "probe": "0",
        },
    }
    (tmp_path / f"{NAME}.versions.json").write_text(json.dumps([row]))
    quoted = (
        fact("messages", ["ValueError: another"]),
        beside("versions", {"numba-cuda": {}}),
    )
    said = found(all_of(*quoted))
    assert not any("has the message" in text or "entry 1" in text for text in said)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("figures: [", f"{NAME}.yml: not YAML: while parsing a flow node"),
        ("- figures", f"{NAME}.yml: $: ['figures'] is not of type 'object'"),
    ],
)
def test_a_sidecar_that_cannot_be_read_is_one_sentence(tmp_path, text, sentence):
    chapter = Chapter(save(tmp_path / f"{NAME}.ipynb", [new_markdown_cell(INTRO)]))
    chapter.path.with_suffix(".yml").write_text(text)
    (problem,) = problems(chapter)
    assert problem.startswith(sentence)


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("12 %", ["12 %"]),
        ("from 0.65.1 on", ["0.65.1"]),
        ("1,024 bytes", ["1,024 byte"]),
        ("3.2 to 4.1 ms", ["3.2 ms", "4.1 ms"]),
        ("5 and 7 µs", ["5 us", "7 us"]),
        ("numba #10006, PR 160, 2025-04-01, cp312, 0.59.0rc1, sm_90, 32-bit, 7 of 9 cells", []),
        ("17.4× as fast", ["17.4 x"]),
        ("It ends at 3.", []),
        ("It took 3 s.", ["3 s"]),
        ("CUDA 12.4,", ["12.4"]),
    ],
)
def test_figures_that_need_a_source(prose, expected):
    assert [
        f"{figure.number} {figure.unit}".strip() for figure in figures.claimed(prose)
    ] == expected

"""A good chapter has no problem, and each planted fault is a sentence that names its place."""

import contextlib
import json
import re
from pathlib import Path

import nbformat
import pytest
from helpers import cell, planted
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from casebook import doctor
from casebook.authoring.checks import figures, problems
from casebook.authoring.checks.code import asserted
from casebook.authoring.publish import with_card
from casebook.cells.header import Header
from casebook.chapters import Cell, Chapter, installs
from casebook.chapters.stamps import entries
from casebook.errors import WrongUse

NAME = "08-example"
FACTS = """
kind: [crash, slow]
libraries: [Numba's built-in CUDA target, numba-cuda, NumPy]
threads: [numba/numba/issues/10006]
needs: a compiler
faults:
  - id: example
    see: A kernel does not compile
    messages: ['ValueError: a text']
    do: '`pip install "numba-cuda>=0.8.0" "numpy<2"`'
    affected: {numba-cuda: <0.8.0, built-in target: <=0.68.1}
    fixed: {numba-cuda: 0.8.0}
    beside: {numpy: '>=2.0'}
figures: {4.8 TB/s: NVIDIA's data sheet}
varies: {cell-13: prints an address}
wordings: [{text: a text, link: 'https://github.com/numba/numba/issues/1'}]
"""
PINNED = cell(
    "raise ValueError('a text')",
    "raises = 'ValueError'",
    "gpu = true",
    dependencies=["numba==0.68.1", "numba-cuda==0.7.0", "numpy==2.4.6"],
)
# Cells begin with `=== text` or `=== code TAG`, what a cell printed with `---`, or showed, as
# `image/svg+xml: …`.
CELLS = f"""
=== text
# A title

A sentence.

<!-- card: -->

<!-- end of the card -->
=== text
## If you have this now

Print it:

```python
print(check(answer))
```
=== code setup
%load_ext casebook
=== text
## The symptom

Cell 2 fails on 0.7.0. [The cause](#why) is in `x.py`,
see [numba PR #12](https://github.com/numba/numba/pull/12)
and [numba #10006](https://github.com/numba/numba/issues/10006).

**Before you run it:** Does it compile?
=== code
%%pinned
{PINNED}
---
ValueError: a text
as expected: ValueError
=== text
<!-- result -->
The copy takes 1.31 ms, about 12 % more than the 1.2 ms of the other, \
and moves 3.2 to 4.1 GB/s of the 4.8 TB/s that there are.
=== code nbval-ignore-output
import timing
times()
---
copy   1.31 ms
other  1.2 ms
1.12 times
12 % of it
3.2 GB/s, 4.1 GB/s
=== code hide-input
drawing()
=== text
## Without a GPU

The same.

**Before you run it:** Is it really the same?

## Why it happens

So it is.

## The fix

Another release.

## Still biting

It does.

## What the article said

| Claim | Verdict | Where |
|---|---|---|
| It is 9.9 times slower | false | 1.12 times (The symptom) |
| Nobody knows | not testable | nothing here |

## Exercises

**1. Predict.** What is six times seven?
=== code exercise
answer = None
=== code check
# The check
def check(answer):
    return 'Correct.' if answer == 42 else 'Not yet: six times seven.'

print(check(answer))
---
Not yet: six times seven.
=== code solution
# A solution
solution_answer = 42
print('Solution:', check(solution_answer))
---
Solution: Correct.
=== text
<!-- result -->
The fifth cell of exercise 1.

## How we know

By a run.

## References

- [13.4.1](https://example.org/v13.4.1)
=== code nbval-ignore-output
address()
---
0x1234
"""


def node(number, text):
    kind, source = text.split("\n", 1)
    source, _, printed = source.strip().partition("\n---\n")
    if kind == "text":
        return new_markdown_cell(source, id=f"cell-{number}")
    output = new_output("stream", text=f"{printed}\n")
    form, _, data = printed.partition(": ")
    if re.fullmatch(r"\w+/\S+", form):
        output = new_output("display_data", {form: data})
    return new_code_cell(
        source,
        id=f"cell-{number}",
        execution_count=number,
        metadata={"tags": kind.split()[1:]},
        outputs=[output] if printed else [],
    )


@pytest.fixture
def found(tmp_path, monkeypatch):
    """found(old, new, …): problems of the example with edits of its text and, later, its card."""
    monkeypatch.setattr(doctor, "CASES", ())
    monkeypatch.setattr(installs, "hosts", dict)
    path = tmp_path / f"{NAME}.ipynb"

    def save(cells, receipt):
        nbformat.write(new_notebook(cells=cells, metadata={"casebook": receipt}), path)
        return Chapter(path)

    def found(*edits, text=FACTS + CELLS, card=("", ""), run=None):
        for old, new in zip(edits[::2], edits[1::2], strict=True):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        facts, *parts = text.split("\n=== ")
        path.with_suffix(".yml").write_text(facts)
        cells = [node(*part) for part in enumerate(parts)]
        receipt = dict.fromkeys(("gpu", "compute_capability", "driver", "python", "date"), "")
        receipt |= {"seconds": 96, "date": "2026-11-22"} | (run or {})
        chapter = save(cells, receipt)
        with contextlib.suppress(WrongUse):
            cells[0].source = with_card(chapter).replace(*card)
        receipt |= {
            "cells": entries(chapter),
        }
        return problems(save(cells, receipt))

    return found


def test_the_example_has_no_problem(found):
    assert found() == []


PLANTED = planted(Path(__file__).with_name("faults.txt"))
FAULTS = [(sentences[0], edits) for sentences, edits in PLANTED] + [
    (".yml: faults[0].see:", ["A kernel does not compile", "x" * 241]),
    ("words, at most 4500", ["By a run.\n", "By a run.\n\n## Aside\n\n" + "word " * 4500]),
    ("[2]: more than 88 characters in line 9", ["raise V", f"# {90 * 'x'}\nraise V"]),
    ("[2]: 27 lines of code without", ["raise Value", 26 * "x = 1\n" + "raise Value"]),
]


@pytest.mark.parametrize(("sentence", "edits"), FAULTS)
def test_a_planted_fault_is_found(found, sentence, edits):
    said = found(*edits)
    assert any(one.startswith(NAME) and sentence in one for one in said), "\n".join(said)


@pytest.mark.parametrize("edit", [("≥ 2.0", "≥ 1.26"), ("about 2 minutes", "about 1 minute")])
def test_a_card_that_differs_from_the_facts_is_found(found, edit):
    assert "the card is not that of the facts; run" in found(card=edit)[0]


@pytest.mark.parametrize(
    "edits",
    [
        ("on 0.7.0", "on 0.7"),
        ("The copy", "In 9 of 33 years the copy"),
        ("The copy", "`9.9 ms` The copy"),
        ("The copy", "792 × 1024 points: the copy"),
        ("(#why)", "(#why), exercise 9 of chapter 8,"),
        ("answer = None", "answer = n = None", "answer = 42", "answer = sum(n for n in [42])"),
        ("issues/1'}", "issues/1', if: it rains}"),
    ],
)
def test_what_is_right_is_no_fault(found, edits):
    assert found(*edits) == []


@pytest.mark.parametrize(
    ("line", "code", "problem"),
    [
        ("--gpu", "print(1)", "it must succeed on a GPU and asserts nothing"),
        ("--gpu", "assert x == 1", None),
        ("", "print(1)", None),
        ("--gpu --raises TypeError", "f()", "any TypeError would do"),
        ("--gpu --raises TypeError --match 'no such argument'", "f()", None),
        ("--gpu --signal SIGSEGV", "f()", None),
    ],
)
def test_a_gpu_cell_claims_something(line, code, problem):
    node = new_code_cell(f"%%pinned numpy {line}\n{code}")
    said = list(asserted(Cell(1, node, lambda: {"numpy": Header(">=3.11", ("numpy==2.4.6",))})))
    assert [one[: len(problem or "")] for one in said] == ([problem] if problem else [])


def test_a_card_may_quote_what_a_release_said(found, tmp_path):
    run = {"outcome": "failed differently", "line": "ValueError: another"}
    row = {
        "library": "numba-cuda",
        "release": "0.6.0",
        "released": "2025-03-01",
        "as_of": "release",
        "python": "3.12",
        "closure": "numba-cuda==0.6.0",
        "cpu": run | {"date": "2026-11-22", "probe": "0"},
    }
    (tmp_path / f"{NAME}.versions.json").write_text(json.dumps([row]))
    said = found(
        "['ValueError: a text']",
        "['ValueError: another']",
        "wordings:",
        "versions: {numba-cuda: {}}\nwordings:",
    )
    assert not any("has the message" in text or "entry 1" in text for text in said)


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("12 %", ["12"]),
        ("from 0.65.1 on", ["0.65.1"]),
        ("1,024 bytes", ["1024"]),
        ("3.2 to 4.1 ms", ["3.2", "4.1"]),
        ("numba #10006, PR 160, 2025-04-01, cp312, 0.59.0rc1, sm_90, 32-bit, 7 of 9 cells", []),
        ("17.4× as fast", ["17.4"]),
        ("It ends at 3. It took 3 s.", ["3"]),
        ("CUDA 12.4,", ["12.4"]),
    ],
)
def test_figures_that_need_a_source(prose, expected):
    assert list(figures.claimed(prose)) == expected

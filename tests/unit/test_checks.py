"""A good chapter has no problem, and each planted fault is a sentence that names its place."""

import contextlib
import json
import re

import nbformat
import pytest
from helpers import cell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from casebook import doctor
from casebook.authoring import receipts
from casebook.authoring.chapters import Chapter
from casebook.authoring.checks import figures, problems
from casebook.authoring.publish import with_card
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
see [numba PR #12](https://github.com/numba/numba/pull/12).
=== code
%%pinned
{PINNED}
---
ValueError: a text
as expected: ValueError
=== text
The copy takes 1.31 ms, about 12 % more than the 1.2 ms of the other, \
and moves 3.2 to 4.1 GB/s of the 4.8 TB/s that there are.
=== code nbval-ignore-output
import timing
times()
---
copy   1.3132 ms
other  1170 µs
1.122 times
0.122 of it
3.2154 GB/s, 4.07 GB/s
=== code hide-input
drawing()
=== text
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
    path = tmp_path / f"{NAME}.ipynb"

    def save(cells, receipt):
        nbformat.write(new_notebook(cells=cells, metadata={"casebook": receipt}), path)
        return Chapter(path)

    def found(*edits, text=FACTS + CELLS, card=("", "")):
        for old, new in zip(edits[::2], edits[1::2], strict=True):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        facts, *parts = text.split("\n=== ")
        path.with_suffix(".yml").write_text(facts)
        cells = [node(*part) for part in enumerate(parts)]
        receipt = dict.fromkeys(("gpu", "compute_capability", "driver", "python", "date"), "")
        receipt["seconds"] = 96
        chapter = save(cells, receipt)
        with contextlib.suppress(WrongUse):
            cells[0].source = with_card(chapter).replace(*card)
        receipt |= {
            "environment": receipts.environment(chapter),
            "modules": receipts.modules(chapter),
            "cells": {c.node.id: c.stamp() for c in chapter.cells},
        }
        return problems(save(cells, receipt))

    return found


def test_the_example_has_no_problem(found):
    assert found() == []


def fact(key, value=None):
    """Edit of a line of the fault; without a value the line goes."""
    (line,) = [line for line in FACTS.splitlines() if line.startswith(f"    {key}: ")]
    return f"{line}\n", f"    {key}: {value}\n" if value else ""


FAULTS = [
    # the facts and the card
    ("its first cell has no card", "<!-- card: -->", ""),
    (".yml: kind[0]: 'crashes' is not one of", "[crash, slow]", "[crashes]"),
    (
        "libraries: no cell installs or imports Thrust",
        "target, numba-cuda, NumPy",
        "target, Thrust",
    ),
    ("imports numba-cuda", "'numba-cuda==", "'numba-cuda-mlir=="),
    (
        "libraries: numba-cuda is affected, and not among them",
        "target, numba-cuda, NumPy",
        "target, NumPy",
    ),
    (".yml: threads: [] should be non-empty", "[numba/numba/issues/10006]", "[]"),
    (".yml: threads[0]: 'numba#1' does not match", "numba/numba/issues/10006", "numba#1"),
    (".yml: faults[0].see:", *fact("see", "x" * 141)),
    (".yml: faults[0]: 'do' is a required property", *fact("do")),
    (".yml: faults[0].do:", *fact("do", "not fixed")),
    ("lets numba-cuda 0.7.0 in, which has it", "numba-cuda>=0.8.0", "numba-cuda>=0.7.0"),
    ("lets numba-cuda 0.7.0 in, which has it", "numba-cuda>=0.8.0", "numba-cuda[cu12]>=0.7.0"),
    ("`do` lets numpy 2.0 in, which has it", '"numba-cuda>=0.8.0" "numpy<2"', '"numpy>=2"'),
    ("numba-cuda <0.8.0 does not end at fixed (0.9.0)", *fact("fixed", "{numba-cuda: 0.9.0}")),
    ("numba-cuda <0.8 does not end at fixed (0.8.0)", *fact("affected", "{numba-cuda: <0.8}")),
    (".yml: faults[0].affected:", *fact("affected", "{numba-cuda: about 1}")),
    (
        "the range of numba-cuda, >=0.9,<0.8.0, is",
        "{numba-cuda: <0.8.0",
        "{numba-cuda: '>=0.9,<0.8.0'",
    ),
    (
        "cupy is not among the affected packages",
        *fact("beside", "{numpy: '>=2.0'}\n    at-risk: [cupy]"),
    ),
    (
        "what is by design is fixed in no release",
        *fact("beside", "{numpy: '>=2.0'}\n    by-design: true"),
    ),
    (
        "fault example: hang is not among the kinds of the case",
        *fact("beside", "{numpy: '>=2.0'}\n    kind: [hang]"),
    ),
    ("has the message 'ValueError: other'", "['ValueError: a text']", "['ValueError: other']"),
    ("no fault has messages, though the kind is crash, slow", *fact("messages")),
    ("kind: a fault has messages, so it is a crash", "[crash, slow]", "[slow]"),
    ("kind: hang, but no cell times out", "[crash, slow]", "[crash, hang]"),
    (
        "kind: a cell times out",
        "# raises = 'ValueError'",
        "# timeout = 9\n# timeout-expected = true",
    ),
    ("kind: slow, but no cell measures", "import timing\ntimes()", "times()"),
    (".yml: $: Additional properties are not allowed ('figure'", "figures:", "figure:"),
    (".yml: varies['cell-13']: 'no' does not match", "prints an address", "'no'"),
    ("varies names a cell 'gone', which is not there", "{cell-13:", "{gone:"),
    (
        "no fault has a range of cupy-cuda12x in",
        "figures: {",
        "versions: {cupy-cuda12x: {}}\nfigures: {",
    ),
    (
        ".yml: wordings[0]: 'link' is a required",
        ", link: 'https://github.com/numba/numba/issues/1'",
        "",
    ),
    (
        ".yml: wordings[0].link: 'http://x' does not match",
        "https://github.com/numba/numba/issues/1",
        "http://x",
    ),
    (".yml: not YAML: while parsing a flow", "figures: {", "figures: [{"),
    (".yml: $: ['figures'] is not of type 'object'", FACTS, "- figures\n"),
    # the form of the page
    ("its second cell does not begin with the line", "## If you have this now\n", "## Now\n"),
    ("now: 84 words, at most 80", "Print it:", "word " * 84),
    ("now: not one block to copy", "```python", "```text"),
    ("now: not one block to copy", "answer))\n```", "answer))\n```\n```bash\npip\n```"),
    ("now: no cell runs the lines of its block", "```python\nprint", "```python\nshow"),
    ("How we know: 121 words, at most 120", "By a run.", "word " * 121),
    ("words, at most 4500", "By a run.\n", "By a run.\n\n## Aside\n\n" + "word " * 4500),
    # the prose
    ("it names cell 99, which does not exist", "Cell 2", "Cell 99"),
    ("it names cell 17", "Cell 2", "Cells 1, 2 and 17"),
    ("it names exercise 4", "exercise 1.", "exercise 4."),
    ("it names chapter 77", "is in `x.py`", "is in chapter 77"),
    ("the link [numba PR #13] leads to pull/12", "numba PR #12]", "numba PR #13]"),
    ("the link [numba PR #12] leads to issues/12", "pull/12)", "issues/12)"),
    ("leads to the repository llvmlite", "/numba/pull", "/llvmlite/pull"),
    ("a link to 99-missing.ipynb, which does not exist", "(#why)", "(99-missing.ipynb#why)"),
    ("no cell shows 0.7.1", "on 0.7.0", "on 0.7.1"),
    ("no cell shows 1.32 ms", "1.31 ms", "1.32 ms"),
    ("no cell shows 1.31 s", "1.31 ms", "1.31 s"),
    ("no cell shows 1.31 ms", "1.3132 ms", "1.4132 ms"),
    ("no cell shows 19 %", "12 %", "19 %"),
    ("no cell shows 3.4 GB/s", "3.2 to", "3.4 to"),
    ("no cell shows 4.1 MB/s", "GB/s of", "MB/s of"),
    (
        "no cell shows 4.9 TB/s (… other, and moves 3.2 to 4.1 GB/s of the 4.9 TB/s "
        "that there are. …)",
        "the 4.8 TB/s",
        "the 4.9 TB/s",
    ),
    ("figures has '4.8 TB/s', which the prose lacks", "the 4.8 TB/s", "all"),
    ("no cell shows 1.22 times", "1.12 times", "1.22 times"),
    ("no cell shows 13.4.2", "[13.4.1]", "[13.4.2]"),
    # the code
    (
        "cell [2]: more than 88 characters in line 9",
        "raise Value",
        "# " + 90 * "x" + "\nraise Value",
    ),
    ("cell [2]: 27 lines of code without", "raise Value", 26 * "x = 1\n" + "raise Value"),
    ("cell [2]: the tag nbval-ig", "code\n", "code nbval-ignore-output\n", "text\nas", "3 ms\nas"),
    (
        "cell [4]: the tag nbval-ig",
        "code hide-input\ndrawing()",
        "code nbval-ignore-output\n'<svg'\n---\nimage/svg+xml: <svg>",
    ),
    ("cell [2]: the tag nbval-skip excludes it from the comparison", "code\n", "code nbval-skip\n"),
    ("cell [3]: unknown tag 'nbval'", "nbval-ignore-output\nimport", "nbval\nimport"),
    (
        "cell [3]: on a busy machine",
        "code nbval-ignore-output\nimport",
        "code\nimport",
        "times()",
        "x.claim()",
    ),
    ("cell [6]: the tag nbval-ig", "code check", "code check nbval-ignore-output"),
    ("cell [8]: the tag nbval-ig", "varies: {cell-13: prints an address}", "varies: {}"),
    ("a path of the machine that ran it: /home/me/x.py", "0x1234", "/home/me/x.py"),
    ("a path of the machine that ran it: /root/x.py", "0x1234", "in /root/x.py"),
    ("a path of the machine that ran it: /tmp/tmpabc/x", "0x1234", "/tmp/tmpabc/x"),
    ("cell [8]: its stored output is text/markdown; a", "0x1234", "text/markdown: x"),
    *(
        (f"text/html, would run code in the page: {said}", "0x1234", f"text/html: <p>{code}")
        for said, code in {
            "<script": "<script>alert()</script>",
            "onclick=": "<b onclick='alert()'>",
            "javascript:": "<a href='javascript:alert()'>",
        }.items()
    ),
    # the exercises
    ('its check does not print "Not yet"', "---\nNot yet: six times seven.", "---\nCorrect."),
    ("exercise 1: as it is stored", "---\nNot yet", "---\nCorrect. Not yet"),
    ("exercise 1: cell [7] follows the reader's cell without a tag", "code solution", "code"),
    ("exercise 1: no cell is tagged solution", "code solution", "code"),
    ("cell [7]: it is folded", "# A solution\n", ""),
    ("exercise 1: no cell is tagged check", "code check", "code"),
    ("exercise 1: 0 cells are tagged exercise, not one", "code exercise", "code"),
    (
        "cell [3]: tagged solution, and belongs to no",
        "code nbval-ignore-output\nimport",
        "code solution\nimport",
    ),
    ('cell [7], does not begin with "Solution: Correct"', "Solution: Correct", "Correct"),
    (
        "cell [7], binds answer, which overwrites",
        "solution_answer = 42",
        "answer = solution_answer = 42",
    ),
    (": the exercises are numbered 2", "**1. ", "**2. "),
]


@pytest.mark.parametrize(("sentence", "edits"), [(first, edits) for first, *edits in FAULTS])
def test_a_planted_fault_is_found(found, sentence, edits):
    said = found(*edits)
    assert any(one.startswith(NAME) and sentence in one for one in said), "\n".join(said)


@pytest.mark.parametrize("edit", [("≥ 2.0", "≥ 1.26"), ("about 2 minutes", "about 1 minute")])
def test_a_card_that_differs_from_the_facts_is_found(found, edit):
    assert "the card is not that of the facts; run" in found(card=edit)[0]


@pytest.mark.parametrize(
    "edits",
    [
        ("1.31 ms", "1,313 µs"),
        ("1.31 ms", "1.3 ms"),
        ("12 %", "12.2 %"),
        ("1.31 ms", "about 1.4 ms"),
        ("1.31 ms", "less than 1.4 ms"),
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
        ("12 %", ["12 %"]),
        ("from 0.65.1 on", ["0.65.1"]),
        ("1,024 bytes", ["1,024 byte"]),
        ("3.2 to 4.1 ms", ["3.2 ms", "4.1 ms"]),
        ("5 and 7 µs", ["5 us", "7 us"]),
        ("numba #10006, PR 160, 2025-04-01, cp312, 0.59.0rc1, sm_90, 32-bit, 7 of 9 cells", []),
        ("17.4× as fast", ["17.4 x"]),
        ("It ends at 3. It took 3 s.", ["3 s"]),
        ("CUDA 12.4,", ["12.4"]),
    ],
)
def test_figures_that_need_a_source(prose, expected):
    found = [f"{figure.number} {figure.unit}".strip() for figure in figures.claimed(prose)]
    assert found == expected

"""A stamp covers what its cell takes: modules, pins, earlier cells; and nothing else."""

import re

import nbformat
import pytest
from example import write_chapter

from casebook import chapters
from casebook.chapters import Chapter, receipts, stamps
from casebook.execution import modules

BOOKS = chapters.load()
NUMBERS = [book.name[:2] for book in BOOKS]
READ = modules.sources()


def stale(before, book, cells=lambda cell: True):
    """Numbers of the cells whose stamp is another now."""
    now = stamps.stamps(book)
    return [c.number for c in book.cells if cells(c) and now[c.node.id] != before[c.node.id]]


@pytest.mark.parametrize(
    ("helper", "importers"),
    [
        ("routes", "03 08"),  # shared by two chapters
        ("catalogue", "06"),  # of one
        ("built_driver", "07 09 32 36 38 42 49 50 61 68 71 78 79 80 82"),  # by fake drivers
        ("no_driver", "03 08 61"),  # imported in a string, which a process of its own runs
        ("again", "09 44 65 68"),  # a word that 19 prints
        ("sitecustomize", " ".join(NUMBERS)),  # loaded by every script
    ],
)
def test_a_changed_module_makes_stale_the_chapters_that_import_it(helper, importers, monkeypatch):
    stored = [stamps.stamps(book) for book in BOOKS]
    texts = READ | {helper: f"{READ[helper]}pass\n"}
    monkeypatch.setattr(stamps, "sources", lambda: texts)
    changed = [stale(before, book) for before, book in zip(stored, BOOKS, strict=True)]
    found = [number for number, cells in zip(NUMBERS, changed, strict=True) if cells]
    assert found == importers.split()


@pytest.mark.parametrize(
    ("number", "helper"), [("09", "visits"), ("50", "slow_gpu"), ("49", "small_gpu")]
)
def test_a_module_of_cells_without_a_gpu_leaves_the_gpu_cells_alone(number, helper, monkeypatch):
    book = next(book for book in BOOKS if book.name[:2] == number)
    before = stamps.stamps(book)
    monkeypatch.setattr(stamps, "sources", lambda: READ | {helper: "pass"})
    assert stale(before, book)
    assert not stale(before, book, lambda cell: cell.needs_gpu)


def test_a_pin_of_the_kernel_concerns_the_kernel_s_own_cells(monkeypatch):
    before = {book.name: stamps.stamps(book) for book in BOOKS}
    monkeypatch.setattr(stamps, "gpu_pins", lambda: ["numba-cuda==1000"])
    for book in BOOKS:
        assert not stale(before[book.name], book, lambda cell: cell.pinned), book.name
    assert stale(before[BOOKS[0].name], BOOKS[0], lambda cell: cell.needs_gpu)


@pytest.fixture
def timed(tmp_path):
    """A chapter, with a receipt, whose third cell times a kernel whose source the second holds."""
    source = "SOURCE = 'acc[48]'"
    sources = ["%load_ext casebook", source, "%%gpu\nprint(SOURCE)", "%%gpu\nprint(1)"]
    book = write_chapter(tmp_path, sources)
    for cell in book.cells[2:]:
        cell.node.outputs = [nbformat.v4.new_output("stream", text="1 ms\n")]
    receipt = dict.fromkeys(receipts.KEYS, "") | {"gpus": 1, "cells": stamps.entries(book)}
    book.notebook.metadata["casebook"] = receipt
    return book


def edit_source(book):
    book.cells[1].node.source = "SOURCE = 'acc[44]'"


def edit_output(book):
    book.cells[2].node.outputs[0]["text"] += "more"


def remove_cell(book):
    del book.cells[1]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (edit_source, [r"\[2\]: edited since", r"\[3\]: it takes SOURCE of \[2\], edited since"]),
        (edit_output, [r"\[3\]: its stored output is not"]),
        (remove_cell, [r"\[3\]: the cells that it takes names from", "1 cells that"]),
    ],
)
def test_what_a_gpu_cell_takes_from_others_is_part_of_its_stamp(timed, edit, said):
    assert list(receipts.receipt_problems(timed)) == []
    edit(timed)
    found = list(receipts.receipt_problems(timed))
    assert len(found) == len(said)
    assert all(re.search(words, text) for words, text in zip(said, found, strict=True)), found


NAMES = [
    ("x = 1", "y = x", True),
    ("x = 1", "x = 2; y = x", False),
    ("x = 1", "for x in (1, 2): print(x)", False),
    ("x = 1", "[x for x in (1, 2)]", False),
    ("x = 1", "[y for y in x]", True),
    ("x = 1", "def f(x): return x", False),
    ("x = 1", "def f(): return x", True),
    ("x = 1", "f = lambda a=x: a", True),
    ("x = 1", "if True:\n    x = 2\nprint(x)", True),
    ("x = 1", "try:\n    x = 2\nexcept ValueError:\n    pass\nprint(x)", True),
    ("x = 1", "x += 1", True),
    ("x = 1", "print(f'{x}')", True),
    ("x = 1", "%%gpu\nprint(x)", True),
    ("x = [1]\nx[0] = 2", "print(x)", True),
    ("import numpy.linalg", "numpy.linalg.norm", True),
    ("for x in (1, 2): pass", "print(x)", True),
    ("def f(): x = 1", "print(x)", False),
    ("[x for x in (1, 2)]", "print(x)", False),
    ("%%pinned a --out x", "print(x)", True),
    ("%%pinned a --folder x", "%%pinned a --folder x", True),
    ("%%pinned a\nx = 1", "print(x)", False),
    ("if (x := 1): pass", "print(x)", True),
    ("with open('a') as x: pass", "print(x)", True),
]


@pytest.mark.parametrize(("giver", "taker", "takes"), NAMES)
def test_which_names_a_cell_takes(giver, taker, takes):
    sources = enumerate([giver, taker], 1)
    cells = [chapters.Cell(n, {"source": s, "metadata": {}}) for n, s in sources]
    assert bool(stamps.givers(cells)[2]) == takes


def test_what_a_cell_alters_counts_with_what_defined_it():
    sources = ["x = [1]", "x[0] = 2", "y = x", "def f(): return y", "f()"]
    cells = [chapters.Cell(n, {"source": s, "metadata": {}}) for n, s in enumerate(sources, 1)]
    found = stamps.givers(cells)
    assert {number: sorted(taken) for number, taken in found.items()} == {
        1: [], 2: [1], 3: [1, 2], 4: [1, 2, 3], 5: [1, 2, 3, 4],
    }  # fmt: skip


@pytest.mark.parametrize("changed", ["a helper", "an output", "a pin", "the runner", "nothing"])
def test_a_change_runs_exactly_what_it_concerns_again(changed, monkeypatch):
    """`make test` leaves out what passed with the same inputs."""
    stored = {book.name[:2]: receipts.inputs(book) for book in BOOKS}
    books = dict(zip(stored, BOOKS, strict=True))
    expected = {"10"}
    if changed == "a helper":
        monkeypatch.setattr(stamps, "sources", lambda: READ | {"routes": "pass"})
        expected = {"03", "08"}
    elif changed == "an output":
        books["10"] = Chapter(books["10"].path)
        next(cell for cell in books["10"].cells if cell.text).node.outputs[0]["text"] += "more"
    elif changed == "a pin":
        books["10"] = Chapter(books["10"].path)
        (named,) = (cell for cell in books["10"].cells if cell.names_environments)
        named.node.source = named.source.replace('"numpy==', '"numpy==1')
    elif changed == "the runner":
        monkeypatch.setattr(receipts, "runner", lambda: "another")
        expected = {*stored}
    else:
        expected = set()
    assert {n for n, book in books.items() if receipts.inputs(book) != stored[n]} == expected

"""A receipt covers the helper modules that the cells of a chapter import, and no other."""

import pytest

from casebook import chapters
from casebook.chapters import Chapter, receipts
from casebook.execution import modules

BOOKS = chapters.load()


@pytest.mark.parametrize(
    ("helper", "importers"),
    [
        ("routes", "03 08"),  # shared by two chapters
        ("catalogue", "06"),  # of one
        ("built_driver", "07 09 32 36 38 42 49 50 61 68 71 78 79 80 82"),  # by fake drivers
        ("no_driver", "03 08 61"),  # imported in a string, which a process of its own runs
        ("again", "09 44 65 68"),  # a word that 19 prints
        ("sitecustomize", " ".join(book.name[:2] for book in BOOKS)),  # loaded by every script
    ],
)
def test_a_changed_line_makes_stale_what_imports_it_and_nothing_else(
    helper, importers, monkeypatch
):
    stored = [receipts.modules(book) for book in BOOKS]
    texts = modules.sources()
    texts[helper] += "pass\n"
    monkeypatch.setattr(modules, "sources", lambda: texts)
    monkeypatch.setattr(receipts, "sources", lambda: texts)
    stale = []
    for book, before in zip(BOOKS, stored, strict=True):
        for problem in receipts.module_problems(before, receipts.modules(book)):
            assert f"the helper module {helper} has changed" in problem
            stale.append(book.name[:2])
    assert stale == importers.split()


@pytest.mark.parametrize("changed", ["a helper", "an output", "a pin", "the runner", "nothing"])
def test_a_change_runs_exactly_what_it_concerns_again(changed, monkeypatch):
    """`make test` leaves out what passed with the same inputs."""
    stored = {book.name[:2]: receipts.inputs(book) for book in BOOKS}
    books = dict(zip(stored, BOOKS, strict=True))
    expected = {"10"}
    if changed == "a helper":
        texts = modules.sources() | {"routes": "pass"}
        monkeypatch.setattr(modules, "sources", lambda: texts)
        monkeypatch.setattr(receipts, "sources", lambda: texts)
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

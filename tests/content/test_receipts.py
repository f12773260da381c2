"""A receipt covers the helper modules that the cells of a chapter import, and no other."""

import ast
import functools

import pytest

from casebook.authoring import chapters, commands, receipts
from casebook.execution import modules

BOOKS = chapters.load()
HELPERS = modules.sources()


@functools.cache
def named(code):
    """Modules that Python code imports, and the code in its strings."""
    try:
        tree = ast.parse("\n".join(line for line in code.splitlines() if line[:1] not in "%!"))
    except SyntaxError:  # prose, or the setup cell
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
        elif isinstance(node, ast.Constant) and "import" in str(node.value):
            found |= named(str(node.value))
    return found


@functools.cache
def reached(book):
    """The helper modules that its cells import, directly or through others."""
    found, waiting = set(), set().union(*(named(cell.source) for cell in book.cells))
    while waiting := waiting & HELPERS.keys() - found:
        found |= waiting
        waiting = set().union(*(named(HELPERS[name]) for name in waiting))
    return found | ({receipts.EVERY_SCRIPT} if any(cell.pinned for cell in book.cells) else set())


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
def test_a_receipt_covers_the_modules_that_cells_import_and_no_other(book):
    assert receipts.modules(book).keys() == reached(book)


# Shared, of one chapter, imported by another helper, and imported by every script.
@pytest.mark.parametrize("helper", ["routes", "catalogue", "built_driver", receipts.EVERY_SCRIPT])
def test_a_changed_line_makes_stale_what_imports_it_and_nothing_else(helper, monkeypatch):
    stored = {book.name: receipts.modules(book) for book in BOOKS}
    changed = HELPERS | {helper: HELPERS[helper].replace("\n", "\npass\n", 1)}
    monkeypatch.setattr(modules, "sources", lambda: changed)
    monkeypatch.setattr(receipts, "sources", lambda: changed)
    stale = {
        book.name: list(receipts.module_problems(stored[book.name], receipts.modules(book)))
        for book in BOOKS
    }
    expected = [book.name for book in BOOKS if helper in reached(book)]
    assert expected and [name for name, found in stale.items() if found] == expected
    assert all(
        f"the helper module {helper} has" in one for found in stale.values() for one in found
    )


def test_a_receipt_without_modules_is_a_warning_that_check_counts(monkeypatch, capsys):
    book = chapters.Chapter(BOOKS[0].path)
    monkeypatch.setattr(chapters, "load", lambda names: [book])
    for stored, problems, end in (
        (None, 0, "; 1 warnings"),
        (receipts.modules(book), 0, "outputs match their receipts"),
        (receipts.modules(book) | {"timing": "0"}, 1, "run `make execute`"),
    ):
        book.receipt.pop("modules", None)
        book.receipt.update({"modules": stored} if stored else {})
        assert commands.check([]) == problems
        assert capsys.readouterr().out.strip().endswith(end)

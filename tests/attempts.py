"""The answers that tests try on the exercises: `answers` in NN-name.yml.

Each exercise has `wrong` answers (why, answer or edit, says) and `right` ones (why, answer or
edit). No exercise needs entries for the cell as it is stored, for None and for empty values:
`blanks` has them.
"""

import ast
from typing import Any

import pytest

from casebook import chapters
from casebook.chapters import Chapter
from casebook.chapters.exercises import Exercise, exercises
from casebook.teaching.grading.answers import YOURS

BOOKS = [book for book in chapters.load() if exercises(book)]


def answers(book: Chapter, one: Exercise, kind: str) -> list[dict[str, Any]]:
    """The answers of one kind to an exercise: "wrong", "right" or "blank"."""
    if kind == "blank":
        return [{"why": name, "answer": source} for name, source in blanks(one).items()]
    entries = book.sidecar["answers"]
    return next(entry[kind] for entry in entries if entry["exercise"] == one.number)


def attempts(kind: str) -> list[Any]:
    """Every answer of one kind, as a parameter (chapter, exercise, answer)."""
    return [
        pytest.param(book, one, answer, id=f"{book.name}-{one.number}-{answer['why']}")
        for book in BOOKS
        for one in exercises(book)
        for answer in answers(book, one, kind)
    ]


def written(one: Exercise, answer: dict[str, Any]) -> str:
    """Source of the reader's cell with an answer in it."""
    (reader,) = one.exercise
    source = answer.get("answer", reader.source)
    for old, new in answer.get("edit", {}).items():
        count = source.count(old)
        assert count == 1, f"{old!r} stands {count} times in cell [{reader.number}]"
        source = source.replace(old, new)
    return source


def blanks(one: Exercise) -> dict[str, str]:
    """Sources of the reader's cell without an answer: untouched, None, empty values.

    What changes are the functions, which return None, and the values with the mark YOURS. Without
    a mark it is all of them, or nothing in a pinned cell, whose answer is a file then. An untouched
    cell that checks itself is run and compared with the notebook.
    """
    (reader,) = one.exercise
    lines = reader.source.splitlines()
    tree = ast.parse("\n".join("" if line.startswith("%") else line for line in lines))
    marked = {number for number, line in enumerate(lines, 1) if YOURS in line}
    found = {reader.source: "untouched"}
    for name, empty in (("None", {}), ("empty", {str: '""', dict: "{}", int: "0"})):
        written = list(lines)
        for node in reversed(tree.body):
            place = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if not marked.intersection(place) and (marked or reader.pinned):
                continue
            if isinstance(node, ast.FunctionDef):
                first, text = node.body[0].lineno, "    return None"
            elif isinstance(node, ast.Assign):
                first = node.lineno
                text = f"{ast.unparse(node.targets[0])} = {hollow(node.value, empty)}"
            else:
                continue
            written[first - 1 : place.stop - 1] = [text]
        found.setdefault("\n".join(written), name)
    if not one.check:
        del found[reader.source]
    return {name: source for source, name in found.items()}


def hollow(value: ast.expr, empty: dict[type, str]) -> str:
    """An expression like `value` with nothing in it; "None" for types that `empty` lacks."""
    if isinstance(value, ast.Tuple):
        return f"({', '.join(hollow(part, empty) for part in value.elts)})"
    kind = dict if isinstance(value, ast.Dict) else type(getattr(value, "value", None))
    return empty.get(kind, "None")

"""The answers that tests try on the exercises: `answers` in NN-name.yml.

Each exercise has `wrong` answers (why, answer or edit, says) and `right` ones (why, answer or edit).
"""

import functools
from collections.abc import Iterator
from typing import Any

import pytest

from casebook.authoring import chapters
from casebook.authoring.chapters import Chapter
from casebook.authoring.exercises import Exercise, exercises

BOOKS = [book for book in chapters.load() if exercises(book)]


@functools.cache
def answers(book: Chapter) -> dict[int, dict[str, Any]]:
    """{number of the exercise: {'wrong': […], 'right': […]}}."""
    return {entry["exercise"]: entry for entry in book.sidecar.get("answers", ())}


def attempts(kind: str) -> Iterator[Any]:
    """Every answer of one kind, as a parameter (chapter, exercise, answer)."""
    for book in BOOKS:
        for one in exercises(book):
            for answer in answers(book).get(one.number, {}).get(kind) or []:
                name = f"{book.name}-{one.number}-{answer.get('why')}"
                yield pytest.param(book, one, answer, id=name)


def written(one: Exercise, answer: dict[str, Any]) -> str:
    """Source of the reader's cell with an answer in it."""
    (reader,) = one.exercise
    source = answer.get("answer", reader.source)
    for old, new in answer.get("edit", {}).items():
        count = source.count(old)
        assert count == 1, f"{old!r} stands {count} times in cell [{reader.number}]"
        source = source.replace(old, new)
    return source

"""The lessons: notebooks/lessons/NN-name.ipynb, stored as a learner gets it, and NN-name.yml.

A lesson has no facts, no card and no receipt. Its exercises are %%pinned cells that check
themselves below the line "# The check". The yml has `minutes`, and `answers` for each exercise:
`right` ones and `wrong` ones, which the tests try.
"""

import functools
from typing import Any

import yaml

from casebook.cells.repository import ADDRESS, ROOT
from casebook.chapters.chapter import Chapter
from casebook.chapters.exercises import Exercise, exercises

CHECK = "# The check\n"


class Lesson(Chapter):
    """One lesson; its exercises, setup and cells are found as a chapter's are."""

    folder = "notebooks/lessons"

    @functools.cached_property
    def sidecar(self) -> dict[str, Any]:
        """The whole of NN-name.yml."""
        return yaml.safe_load(self.path.with_suffix(".yml").read_text("utf-8"))

    @property
    def address(self) -> str:
        return f"{ADDRESS}/blob/main/{self.folder}/{self.path.name}"

    @property
    def number(self) -> int:
        return int(self.name.partition("-")[0])

    @property
    def minutes(self) -> int:
        return self.sidecar["minutes"]

    @property
    def exercises(self) -> list[Exercise]:
        return exercises(self)

    def answers(self, number: int, kind: str) -> list[dict[str, Any]]:
        """The answers, "right" or "wrong", to an exercise: why, answer or edit, and says."""
        entries = self.sidecar["answers"]
        return next(entry[kind] for entry in entries if entry["exercise"] == number)

    def written(self, one: Exercise, answer: dict[str, Any]) -> str:
        """Source of the exercise's cell with an answer between its imports and its check.

        Raises ValueError for an edit whose text the first right answer has not exactly once.
        """
        source = one.exercise[0].source
        text = answer.get("answer", self.answers(one.number, "right")[0]["answer"])
        for old, new in answer.get("edit", {}).items():
            if text.count(old) != 1:
                raise ValueError(f"{old!r} stands {text.count(old)} times in {text}")
            text = text.replace(old, new)
        imports = source[: min(at for mark in ("\n@", "\ndef ") if (at := source.find(mark)) > 0)]
        return f"{imports}\n{text.strip()}\n\n{CHECK}{source.partition(CHECK)[2]}"


def load() -> list[Lesson]:
    """All lessons, in their order."""
    return [Lesson(path) for path in sorted((ROOT / Lesson.folder).glob("*.ipynb"))]

"""What is wrong with a chapter as it is stored: sentences that name the chapter and the place. Nothing is executed.

Every check takes a Chapter and yields the ends of sentences that begin with the chapter's name.
"""
from ..chapters import receipt_problems
from .card import card_problems
from .code import code_problems
from .exercises import exercise_problems
from .prose import prose_problems
from .receipt import implausible
from .sidecar import sidecar_problems, unreadable
from .versions import version_problems

CHECKS = (card_problems, code_problems, prose_problems, exercise_problems, sidecar_problems, version_problems, receipt_problems,
          implausible)


def problems(chapter):
    if why := unreadable(chapter):
        return [f"{chapter.name}.yml: {why}"]
    return [f"{chapter.name}{problem}" for check in CHECKS for problem in check(chapter)]

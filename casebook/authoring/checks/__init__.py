"""Problems of a chapter as it is stored: sentences that name the chapter and the place.

Nothing is executed. Every check takes a Chapter and yields the ends of sentences that begin with
the chapter's name.
"""

from casebook.authoring.chapters import Chapter
from casebook.authoring.checks.card import card_problems
from casebook.authoring.checks.code import code_problems
from casebook.authoring.checks.evidence import evidence_problems
from casebook.authoring.checks.exercises import exercise_problems
from casebook.authoring.checks.page import page_problems
from casebook.authoring.checks.prose import prose_problems
from casebook.authoring.checks.versions import version_problems
from casebook.authoring.receipts import receipt_problems
from casebook.authoring.releases import evidence
from casebook.errors import CasebookError

CHECKS = (
    card_problems,
    page_problems,
    code_problems,
    prose_problems,
    exercise_problems,
    evidence_problems,
    version_problems,
    receipt_problems,
)


def problems(chapter: Chapter) -> list[str]:
    """Sentences about a chapter; about its facts or rows alone, where these cannot be read."""
    try:
        _ = chapter.facts
        evidence.entries(chapter)
    except CasebookError as error:
        return [str(error)]
    return [f"{chapter.name}{problem}" for check in CHECKS for problem in check(chapter)]

"""Problems of a chapter as it is stored: sentences that name the chapter and the place.

Nothing is executed. Every check takes a Chapter and yields the ends of sentences that begin with
the chapter's name.
"""

from collections.abc import Iterator

from casebook.authoring.checks.card import card_problems
from casebook.authoring.checks.code import code_problems
from casebook.authoring.checks.evidence import evidence_problems
from casebook.authoring.checks.exercises import exercise_problems
from casebook.authoring.checks.form import form_problems
from casebook.authoring.checks.give_aways import give_away_problems
from casebook.authoring.checks.page import page_problems
from casebook.authoring.checks.proof import proof_problems
from casebook.authoring.checks.prose import prose_problems
from casebook.authoring.checks.versions import version_problems
from casebook.chapters import Chapter, evidence, installs
from casebook.chapters.receipts import receipt_problems
from casebook.errors import CasebookError


def install_problems(chapter: Chapter) -> Iterator[str]:
    """Install lines that were not tried where readers are, or are wrong there."""
    yield from (f": {sentence}" for sentence in installs.wrong(chapter))


CHECKS = (
    card_problems,
    proof_problems,
    form_problems,
    page_problems,
    code_problems,
    prose_problems,
    exercise_problems,
    give_away_problems,
    evidence_problems,
    version_problems,
    install_problems,
    receipt_problems,
)


def identity_problems(chapter: Chapter) -> Iterator[str]:
    """Cells that no other check could tell apart, and probes of cells that are not there."""
    ids = [node.get("id") for node in chapter.notebook["cells"]]
    if not ids:
        yield " has no cells"
    if None in ids:
        yield f": {ids.count(None)} of its cells have no id; open it in JupyterLab and save it"
    for name in sorted({name for name in ids if name and ids.count(name) > 1}):
        yield f": {ids.count(name)} cells have the id {name!r}; give each its own"
    try:
        versions = chapter.sidecar.get("versions", {})
    except CasebookError as error:
        yield f": {error}"
        return
    for library, given in versions.items():
        for level in set(evidence.LEVELS) & given.keys():
            probed = given[level]["cell"] if isinstance(given[level], dict) else given[level]
            if probed not in ids:
                yield f".yml: versions: {library}: {level} names {probed!r}, which is no cell here"


def problems(chapter: Chapter) -> list[str]:
    """Sentences about a chapter; about its facts or rows alone, where these cannot be read."""
    if wrong := list(identity_problems(chapter)):
        return [f"{chapter.name}{problem}" for problem in wrong]
    try:
        _ = chapter.facts
        evidence.entries(chapter)
    except CasebookError as error:
        return [str(error)]
    return [f"{chapter.name}{problem}" for check in CHECKS for problem in check(chapter)]

"""A copy of a chapter for a class: it asks for predictions and does not show results.

Solutions, outputs, receipts, *If you have this now*, *How we know*, references and the messages in
headers are left out, and checks are encoded. Every passage is left out that the notebook marks as
telling a result (questions.py), and each question gets a place for the guess.
"""

import base64
import re
import zlib

import nbformat
from nbformat import NotebookNode

from casebook.cells.class_cell import for_class
from casebook.cells.line import without_match
from casebook.chapters.chapter import CLAIMS
from casebook.chapters.questions import NEXT, QUESTION, RESULT

# These sections tell how cells end.
TELLS = re.compile(r"(?m)^## (?:If you have this now|How we know|References)$")
GUESS = "*Your guess:*"
NOTE = (
    "*A copy for a workshop. Say what you expect before you run a cell. "
    "Outputs, explanations and solutions are on the book's site.*"
)
LEAD = re.compile(r"(?s)(?:%%\w+[^\n]*\n)?(?:# /// script\n.*?\n# ///\n)?(?:# The check\n)?")


def unsolved(notebook: NotebookNode) -> NotebookNode:
    """A notebook as a participant gets it: nothing run, no result shown, no exercise solved."""
    copy = nbformat.from_dict(notebook)
    copy.metadata.pop("casebook", None)
    kept: list[NotebookNode] = []
    for cell in copy.cells:
        if cell.cell_type == "markdown":
            cell.source = asked(cell.source)
        elif "solution" in cell.metadata.get("tags", []):
            continue
        else:
            cell.outputs, cell.execution_count = [], None
            tags = cell.metadata.get("tags", [])
            theirs = "exercise" in tags or "check" in tags
            cell.source = without_match(cell.source) if theirs else for_class(cell.source)
            if "check" in tags:
                cell.source = encoded(cell.source)
        kept.append(cell)
    kept[0].source = f"{without_answers(kept[0].source)}\n\n{NOTE}"
    for cell in kept:
        if cell.cell_type == "markdown":
            cell.source = without_verdicts(TELLS.split(cell.source)[0]).strip()
    copy.cells = [cell for cell in kept if cell.source]
    return copy


def asked(text: str) -> str:
    """A Markdown cell without results, and with a place for the guess below each question."""
    text = QUESTION.sub(rf"\g<0>\n\n{GUESS}", NEXT.sub("", RESULT.sub("", text)))
    return re.sub(r" *\n{2,}", "\n\n", text)


def encoded(source: str) -> str:
    """A check that works as before and cannot be read at a glance, below its magic and header."""
    lead = LEAD.match(source)[0]  # type: ignore[index]
    body = base64.b64encode(zlib.compress(source.removeprefix(lead).encode(), 9)).decode()
    lines = "\n".join(f'    "{body[at : at + 76]}"' for at in range(0, len(body), 76))
    return f"{lead}import base64, zlib\n\nexec(zlib.decompress(base64.b64decode(\n{lines})))"


def without_answers(first: str) -> str:
    """The title, and of the card what tells no result: libraries, kind, needs."""
    title, _, rest = first.partition("\n")
    kept = [line for line in rest.splitlines() if re.match(r"\*\*(?!Threads:)", line)]
    return "\n".join([title, "", *kept])


def without_verdicts(text: str) -> str:
    """The claims of the article, or of the threads, as a table to be filled in."""
    if not (heading := CLAIMS.search(text)):
        return text
    table, exercises, after = text[heading.end() :].partition("\n## ")
    table = re.sub(r"(?m)^\| ?(?!-)(.*?) \|.*$", r"| \1 | | |", table)
    table = re.sub(r"(?im)^\| claim \|.*$", "| Claim | Your verdict | What shows it |", table)
    return text[: heading.end()] + table + exercises + after

"""Who solved what: the exercises of participants' notebooks, judged by the book's own checks.

Each exercise runs in a kernel of its own (sandbox.py): the setup cell, the participant's answer,
the check as the book has it. Cells are found by their ids, so a check that was edited or deleted
does not matter. Whatever a notebook does is a row with a reason, and the next one follows.
It is a help for teachers and no exam: code that wants to deceive it can.
"""

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from nbformat import NotebookNode

from casebook import chapters
from casebook.cells.header import BLOCK
from casebook.chapters import Chapter, lessons
from casebook.chapters.class_copy import LEAD
from casebook.chapters.evidence import grouped
from casebook.chapters.exercises import Exercise, exercises
from casebook.environments import create, gpu
from casebook.errors import DownloadFailure, EnvironmentFailure, MissingPython, WrongUse
from casebook.teaching.grading import sandbox

LARGEST = 20_000_000  # bytes of a notebook's file
LONGEST = 300  # characters of a check's words that are kept
NOT_RUN = tuple(e.__name__ for e in (EnvironmentFailure, DownloadFailure, MissingPython))
YOURS = "# your code here"
FORMULA = "=", "+", "-", "@"  # what a spreadsheet takes for one begins so
# Run before a check: the functions that an answer has replaced, such as print, are Python's again.
# A function that Numba compiles, with `py_func`, stands for a builtin in kernels alone.
RESTORE = """import builtins, importlib.util
importlib.util.module_from_spec(builtins.__spec__)
for _ in builtins.__dict__.keys() & globals().keys():
    _.startswith("_") or hasattr(globals()[_], "py_func") or globals().pop(_)
"""


@dataclass(frozen=True)
class Row:
    """The outcome of an exercise of a participant; of a whole notebook where `exercise` is ''."""

    participant: str
    file: str
    chapter: str
    exercise: int | str
    outcome: str
    words: str = ""


class Unusable(Exception):
    """Why a file is not a copy of a chapter."""


Cells = list[tuple[str, str]]  # id and source of each code cell


def grade(folder: Path, out: Path, limit: float, unprotected: bool = False) -> int:
    """Judge every notebook below a folder: a line for each, and a CSV file with all words.

    Returns 130 where it is told to end; the file then has the notebooks that were judged. Raises
    WrongUse where the file cannot be written, or where root would run the code without a sandbox
    and `unprotected` does not allow it.
    """
    paths = notebooks(folder)
    if not paths:
        raise WrongUse(f"no notebook below {folder}")
    if os.geteuid() == 0 and not sandbox.isolated() and not unprotected:
        raise WrongUse(
            "participants' code would run as root and could change this machine: install "
            "bubblewrap, or work as another user; in a container, --unprotected allows it"
        )
    user = os.environ.get("USER") or f"user {os.getuid()}"
    print(f"{len(paths)} notebooks: their code runs as {user}, {protection()}.")
    books = [*chapters.load(), *lessons.load()]
    rows: list[Row] = []
    # who takes part, and with what, is read before any of their code runs
    submitted = [(path, read(path)) for path in paths]
    empty = [printable(one.name) for one in sorted(folder.glob("[!.]*/")) if not notebooks(one)]
    write(rows, out)
    try:
        for number, (path, cells) in enumerate(submitted, 1):
            found = list(judge(path, folder, cells, books, limit))
            rows += found
            write(rows, out)
            words = ", ".join(row.outcome if row.exercise else row.words for row in found)
            print(f"[{number}/{len(paths)}] {found[0].file}: {words}", flush=True)
    except KeyboardInterrupt:
        done = len({row.file for row in rows})
        print(f"stopped: {done} of {len(paths)} notebooks are judged; {out} has them")
        return 130
    rows += [Row(name, name, "", "", "no notebook", "no notebook") for name in empty]
    write(rows, out)
    print(*summary(rows), out, sep="\n")
    return 0


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each exercise: how many solved it, and what came of the others; then one for each
    notebook without a grade."""
    outcomes = grouped(((row.chapter, row.exercise), row.outcome) for row in rows if row.exercise)
    for (chapter, number), found in outcomes.items():
        counts = ", ".join(f"{count} {outcome}" for outcome, count in Counter(found).most_common())
        yield f"{chapter}, exercise {number}: {counts}"
    for row in rows:
        if not row.exercise:
            yield f"not graded: {row.file}: {row.words}"


def protection() -> str:
    """What keeps participants' code from the machine, in words."""
    if sandbox.isolated():
        return "in bubblewrap: it can read what you can, and write nothing that stays"
    return (
        "and can read and write what you can: install bubblewrap, or use a container "
        "(book/workshop.md)"
    )


def notebooks(folder: Path) -> list[Path]:
    """The notebooks below a folder: nothing hidden, as Jupyter's checkpoints are."""
    return [
        path
        for path in sorted(Path(folder).rglob("*.ipynb"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def read(path: Path) -> Cells | Unusable:
    """The code cells of a notebook, or the reason why there are none."""
    try:
        if path.is_symlink():
            return Unusable("a link, not a file")
        if path.stat().st_size > LARGEST:
            return Unusable(f"larger than {LARGEST:,} bytes")
        cells = json.loads(path.read_text("utf-8"))["cells"]
        return [
            (cell.get("id") or cell["metadata"].get("id"), "".join(cell["source"]))
            for cell in cells
            if cell["cell_type"] == "code"
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Unusable(f"no notebook: {type(error).__name__}: {error}")


def judge(
    path: Path, folder: Path, cells: Cells | Unusable, books: Sequence[Chapter], limit: float
) -> Iterator[Row]:
    """Rows of one notebook below the folder of all."""
    path = path.relative_to(folder)
    file = printable(str(path))
    who = printable(path.parts[0] if len(path.parts) > 1 else path.stem)
    book = cells if isinstance(cells, Unusable) else chapter_of(path, cells, books)
    if isinstance(cells, Unusable) or isinstance(book, Unusable):
        yield Row(who, file, "", "", "unreadable", printable(str(book)))
        return
    if not exercises(book):
        yield Row(who, file, book.name, "", "no exercise", "this chapter has no exercise")
    for one in exercises(book):
        outcome, words = attempt(book, one, cells, limit, folder)
        yield Row(who, file, book.name, one.number, outcome, printable(words))


def printable(text: str) -> str:
    """Text without what moves a cursor or begins a formula; long ones truncated."""
    plain = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)
    return plain[:LONGEST]


def chapter_of(path: Path, cells: Cells, books: Sequence[Chapter]) -> Chapter | Unusable:
    """The chapter with the most cells in common, those aside that all chapters have."""
    ids = {known for known, _ in cells}
    common = {
        book.name: sum(cell.node.id in ids for cell in book.cells if cell not in book.preamble)
        for book in books
    }
    best = max(books, key=lambda book: (common[book.name], path.name.startswith(book.name)))
    why = "not a copy of a chapter: no cell has the id of one of its cells"
    return best if common[best.name] else Unusable(why)


def attempt(
    book: Chapter, one: Exercise, cells: Cells, limit: float, hidden: Path
) -> tuple[str, str]:
    """Outcome of one exercise and the words with it; its code does not see the folder `hidden`."""
    (reader,) = one.exercise
    known = {cell.node.id for cell in book.cells}
    ids = [name for name, _ in cells]
    if reader.node.id not in ids:
        return "missing", "the cell of the answer was deleted, or has another id"
    place = ids.index(reader.node.id)
    first, last = place, place + 1  # with the participant's own cells around it
    while first > 0 and ids[first - 1] not in known:
        first -= 1
    while last < len(ids) and ids[last] not in known:
        last += 1
    sources = [source for _, source in cells[first:last]]
    if sources == [reader.source]:
        return "untouched", ""
    if reader.pinned and YOURS not in reader.source:
        return "not here", "the answer is outside of the notebook"
    if one.needs_gpu and not gpu.find():
        return "not run", "needs an NVIDIA GPU"
    setup = [cell.source for cell in book.preamble]
    checks = [cell.source for cell in one.check]
    if reader.header:
        sources = [*sources[: place - first], restored(reader.source, cells[place][1])]
        asked = 1
    else:
        sources += [RESTORE, *checks]
        asked = len(checks)
    try:
        if reader.header:
            create.make(reader.header)
        outputs = sandbox.run([*setup, *sources], limit, hidden)
    except EnvironmentFailure as error:
        return "not run", str(error)
    except sandbox.Stopped as error:
        return error.outcome, str(error)
    return verdict(outputs, asked)


def restored(source: str, answer: str) -> str:
    """A participant's %%pinned cell with the header and the check of the book's cell."""
    lead = LEAD.match(source)[0]  # type: ignore[index]
    after = source.partition(YOURS)[2].partition("\n")[2]
    check = after.partition("\n# The check\n")[2]
    check = check or after[re.search(r"(?m)^[^\s#]", after).start() :]  # type: ignore[union-attr]
    body = BLOCK.sub("", re.sub(r"\A%%\w+.*\n", "", answer), count=1)
    first = "\n".join(check.split("\n", 2)[:2])  # one line may stand in an answer, too
    before, found, _ = f"\n{body}\n".rpartition(f"\n{first}\n")
    return f"{lead}{before.removeprefix(chr(10)) if found else body}\n{RESTORE}{check}"


def verdict(outputs: Sequence[Sequence[NotebookNode]], asked: int) -> tuple[str, str]:
    """What the last `asked` cells said; where they gave no verdict, the first error of all."""
    text = "".join(output.get("text", "") for cell in outputs[-asked:] for output in cell)
    errors = [
        f"{output.ename}: {output.evalue}".partition("\n")[0]
        for cell in outputs
        for output in cell
        if output.output_type == "error"
    ]
    lines = [line for line in text.splitlines() if line.startswith(("Not yet", "Correct"))]
    wrong = [line for line in lines if not line.startswith("Correct")]
    correct = bool(lines) and not wrong
    if errors and not correct:
        return "not run" if errors[0].startswith(NOT_RUN) else "error", errors[0]
    if not lines:
        return "error", "the check printed no verdict"
    return ("solved", lines[-1]) if correct else ("not yet", wrong[-1])


def write(rows: Iterable[Row], path: Path) -> None:
    """The rows as CSV, in which no spreadsheet finds a formula. Raises WrongUse."""
    try:
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(field.name for field in fields(Row))
            for row in rows:
                values = map(str, astuple(row))
                writer.writerow(f"'{one}" if one.startswith(FORMULA) else one for one in values)
    except OSError as error:
        raise WrongUse(f"cannot write {path}: {error.strerror}; name another file: --out") from None

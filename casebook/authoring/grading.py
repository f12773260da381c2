"""Who solved what: the exercises of participants' notebooks, judged by the book's own checks.

Each exercise runs in a kernel of its own: the setup cell, the participant's answer, the check as the book has it. Cells are found by their
ids, so a check that was edited or deleted does not matter. Whatever a notebook does is a row with a reason, and the next one follows.
Participants' code is run with the rights of whoever calls this: it is a help for teachers, no sandbox, and no exam.
"""

import csv
import json
import os
import re
import tempfile
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from casebook.authoring import chapters
from casebook.authoring.exercises import exercises
from casebook.authoring.workshop import LEAD
from casebook.cells.header import BLOCK
from casebook.cells.repository import ROOT
from casebook.environments import gpu
from casebook.errors import DownloadFailure, EnvironmentFailure, MissingPython, WrongUse

LARGEST = 20_000_000  # bytes of a notebook's file
MOST = 10_000_000  # characters that one exercise may print
NOT_RUN = tuple(e.__name__ for e in (EnvironmentFailure, DownloadFailure, MissingPython))
VERDICT = re.compile(r"(?m)^(Correct|Not yet)\b.*")
YOURS = "# your code here"


@dataclass(frozen=True)
class Row:
    """What became of one exercise of one participant; of a whole notebook where `exercise` is ''."""

    participant: str
    file: str
    chapter: str
    exercise: int | str
    outcome: str
    words: str = ""


class Unusable(Exception):
    """Why a file is nobody's chapter."""


def grade(folder, out, limit):
    """Judge every notebook below a folder, print who solved what, and write it to a CSV file."""
    paths = notebooks(folder)
    if not paths:
        raise WrongUse(f"no notebook below {folder}")
    user = os.environ.get("USER") or f"user {os.getuid()}"
    print(f"The code of {len(paths)} notebooks is run as {user}, who should have nothing to lose.")
    books, rows = [book for book in chapters.load() if exercises(book)], []
    submitted = [(path, read(path)) for path in paths]  # before any of their code runs
    for number, (path, cells) in enumerate(submitted, 1):
        start = time.monotonic()
        found = list(judge(path.relative_to(folder), cells, books, limit))
        rows += found
        write(rows, out)
        solved = sum(row.outcome == "solved" for row in found)
        what = (
            f"{solved} of {len(found)} solved"
            if found[0].exercise
            else f"{found[0].outcome}, {found[0].words}"
        )
        print(
            f"[{number}/{len(paths)}] {path.relative_to(folder)}: {what}, {time.monotonic() - start:.1f} s",
            flush=True,
        )
    print(f"\n{table(rows)}\n\n{out}")
    return 0


def notebooks(folder):
    """The notebooks below a folder; nothing hidden, as Jupyter's checkpoints are."""
    return [
        path
        for path in sorted(Path(folder).rglob("*.ipynb"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def read(path):
    """The code cells of a notebook as pairs of id and source, or the reason why there are none."""
    try:
        if path.stat().st_size > LARGEST:
            return Unusable(f"larger than {LARGEST:,} bytes")
        cells = json.loads(path.read_text("utf-8"))["cells"]
        return [
            (cell.get("id") or cell["metadata"].get("id"), "".join(cell["source"]))
            for cell in cells
            if cell["cell_type"] == "code"
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Unusable(f"no notebook: {type(error).__name__}: {error}"[:200])


def judge(path, cells, books, limit):
    """Rows of one notebook."""
    who = path.parts[0] if len(path.parts) > 1 else path.stem
    try:
        book = chapter_of(path, cells, books)
    except Unusable as error:
        yield Row(who, str(path), "", "", "unreadable", str(error))
        return
    for one in exercises(book):
        yield Row(who, str(path), book.name, one.number, *attempt(book, one, cells, limit))


def chapter_of(path, cells, books):
    """The chapter that a notebook is a copy of: that with the most cells in common, the setup cell aside."""
    if isinstance(cells, Unusable):
        raise cells
    ids = {known for known, _ in cells}
    common = {book.name: len(ids & {cell.node.id for cell in book.cells[1:]}) for book in books}
    best = max(books, key=lambda book: (common[book.name], path.name.startswith(book.name)))
    if not common[best.name]:
        raise Unusable("no cell of a chapter is in it, or their ids are lost")
    return best


def attempt(book, one, cells, limit):
    """Outcome of one exercise and the words with it."""
    (reader,) = one.exercise
    known = {cell.node.id for cell in book.cells}
    ids = [name for name, _ in cells]
    if reader.node.id not in ids:
        return "missing", "the cell of the answer was deleted, or made anew"
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
    if reader.pinned:
        sources[place - first] = restored(reader.source, cells[place][1])
    asked = [cell.source for cell in one.check]
    return outcome(run([book.cells[0].source, *sources, *asked], limit), len(asked) or last - place)


def restored(source, answer):
    """A participant's %%pinned cell with the book's header, and with the book's check in the place of what follows the answer."""
    lead = LEAD.match(source)[0]
    after = source.partition(YOURS)[2].partition("\n")[2]
    check = after[re.search(r"(?m)^[^\s#]", after).start() :]
    body = BLOCK.sub("", re.sub(r"\A%%\w+.*\n", "", answer), count=1)
    before, found, _ = f"\n{body}\n".rpartition(f"\n{check.partition(chr(10))[0]}\n")
    return f"{lead}{before.removeprefix(chr(10)) if found else body}\n{check}"


class Client(NotebookClient):
    """Runs cells, and kills the kernel of one that prints without end."""

    printed = 0

    def process_message(self, msg, cell, cell_index):
        self.printed += len(msg["content"].get("text", ""))
        if self.printed > MOST:
            self.km.provisioner.process.kill()
        return super().process_message(msg, cell, cell_index)


def run(sources, limit):
    """Run cells in a fresh kernel and an empty folder: their outputs, or the word for what kept the kernel from going on."""
    book = new_notebook(cells=[new_code_cell(source) for source in sources])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = Client(
            book,
            kernel_name="python3",
            timeout=limit,
            allow_errors=True,
            shutdown_kernel="immediate",
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
        except CellTimeoutError:
            return "time", f"still running after {limit} s"
        except DeadKernelError:
            return (
                "died",
                f"printed more than {MOST:,} characters"
                if client.printed > MOST
                else "the process ended",
            )
    return [cell.outputs for cell in book.cells]


def outcome(outputs, asked):
    """The verdict on what the last `asked` cells said; where they said none, the first error of all."""
    if isinstance(outputs, tuple):
        return outputs
    said = "".join(output.get("text", "") for cell in outputs[-asked:] for output in cell)
    errors = [
        f"{output.ename}: {output.evalue}".splitlines()[0]
        for cell in outputs
        for output in cell
        if output.output_type == "error"
    ]
    verdicts = list(VERDICT.finditer(said))
    if errors and (not verdicts or verdicts[-1][1] == "Not yet"):
        return "not run" if errors[0].startswith(NOT_RUN) else "error", errors[
            0
        ]
    if not verdicts:
        return "error", "the check says nothing"
    return ("solved" if verdicts[-1][1] == "Correct" else "not yet"), verdicts[-1][0]


def write(rows, path):
    """The rows as CSV. A spreadsheet must not take a participant's words for a formula."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(field.name for field in fields(Row))
        writer.writerows(
            [
                f"'{value}" if str(value).startswith(("=", "+", "-", "@")) else value
                for value in astuple(row)
            ]
            for row in rows
        )


def table(rows):
    """A line for each notebook and a column for each exercise."""
    lines = {}
    for row in rows:
        lines.setdefault((row.participant, row.file, row.chapter), {})[row.exercise] = row.outcome
    numbers = range(1, max((row.exercise for row in rows if row.exercise), default=0) + 1)
    text = [["participant", "chapter", *map(str, numbers), "solved"]]
    for (who, _, chapter), found in lines.items():
        solved = (
            f"{sum(one == 'solved' for one in found.values())} of {len(found)}" if chapter else ""
        )
        text.append(
            [who, chapter or found[""], *(found.get(number, "") for number in numbers), solved]
        )
    widths = [max(len(line[k]) for line in text) for k in range(len(text[0]))]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in text
    )

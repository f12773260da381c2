"""`casebook architectures`: the kernels of GPU cells, compiled for the GPUs that readers have.

Each GPU cell that runs today's numba-cuda runs here once for each compute capability, without a
GPU, with casebook/helpers/compiled_for.py in front: its kernels become machine code, and nothing is
launched. book/architectures.json keeps what they take, and where the cell ends. A cell that ends at
another line than for the capability of its receipt makes a claim that another GPU breaks.

T4 has 7.5, RTX 30 8.6, RTX 40 8.9, an H100 or H200 9.0, B200 10.0, RTX 50 12.0.
"""

import dataclasses
import json
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from casebook import chapters
from casebook.cells.repository import ROOT
from casebook.chapters import Cell, Chapter
from casebook.chapters.stamps import stamps
from casebook.environments.store import write_atomically
from casebook.errors import CasebookError
from casebook.execution.script import run

TABLE = ROOT / "book/architectures.json"
OWN = "9.0"  # of the receipts
CAPABILITIES = ("7.5", "8.6", "8.9", OWN, "10.0", "12.0")
TODAY = re.compile(r"numba-cuda==0\.30\.\d+$")
SECONDS = 120  # of one cell for one capability


def compiled_cells(book: Chapter) -> list[tuple[Cell, str]]:
    """The GPU cells of a chapter whose kernels can be compiled here, each with its own hash."""
    made = stamps(book)
    return [
        (cell, made[cell.node.id].own)
        for cell in book.cells
        if cell.header and cell.gpus == 1 and any(map(TODAY.match, cell.header.dependencies))
    ]


def command(names: Sequence[str]) -> int:
    """Compile the cells that the table lacks or that have changed, and store it."""
    table = stored()
    books = chapters.load(names)
    if not names:
        known = {cell.node.id for book in books for cell, _ in compiled_cells(book)}
        table = {name: row for name, row in table.items() if name in known}
    todo = [
        (book, cell, own)
        for book in books
        for cell, own in compiled_cells(book)
        if table.get(cell.node.id, {}).get("own") != own
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = pool.map(lambda one: ends(one[1]), todo)
        for number, ((book, cell, own), row) in enumerate(zip(todo, rows, strict=True), 1):
            table[cell.node.id] = {"own": own, "ends": row}
            print(
                f"[{number}/{len(todo)}] {book.name} [{cell.number}]: {row[OWN]['end']}", flush=True
            )
            write_atomically(TABLE, text_of(table).encode())
    found = [f"{book.name}{one}" for book in books for one in architecture_problems(book, table)]
    print("\n".join(found) or f"{len(table)} cells compile for {', '.join(CAPABILITIES)}")
    return bool(found)


def ends(cell: Cell) -> dict[str, dict[str, Any]]:
    """Where a cell ends for each capability, and what its kernels take."""
    return {capability: end_for(cell, capability) for capability in CAPABILITIES}


def end_for(cell: Cell, capability: str) -> dict[str, Any]:
    assert cell.header
    header = dataclasses.replace(
        cell.header,
        gpu=False,
        driver=None,
        timeout=SECONDS,
        env=cell.header.env | {"CASEBOOK_CAPABILITY": capability},
    )
    source = f"import compiled_for\n{cell.script}"
    try:
        outcome = run(source, header, lambda text: None)
    except CasebookError as error:
        return {"end": str(error).partition("\n")[0][:80], "kernels": []}
    lines = re.findall(r'File "cell.py", line (\d+)', outcome.output)
    kernels = re.findall(r"(?m)^KERNELS (.*)$", outcome.output)
    end = "time limit" if outcome.status is None else "end"
    if outcome.error:  # the import stands in a line of its own
        end = f"{outcome.error.type} in line {int(lines[-1]) - 1}" if lines else outcome.error.type
    return {"end": end, "kernels": json.loads(kernels[-1]) if kernels else []}


def text_of(table: dict[str, Any]) -> str:
    """One cell a line, so that a change is legible."""
    rows = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(table.items())]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def stored() -> dict[str, Any]:
    """The table, by the ids of cells."""
    return json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}


def architecture_problems(book: Chapter, table: dict[str, Any]) -> Iterator[str]:
    """Cells that the table lacks, and those that another GPU ends elsewhere."""
    for cell, own in compiled_cells(book):
        row = table.get(cell.node.id)
        place = f", cell [{cell.number}]"
        if not row or row["own"] != own:
            command = f"casebook architectures {book.name[:2]}"
            yield f"{place}: its kernels were not compiled for other GPUs; run `{command}`"
            continue
        yield from (f"{place}: {words}" for words in differences(row["ends"]))


def differences(row: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Where other capabilities end a cell, if not where its own does."""
    for capability, found in row.items():
        if found["end"] != row[OWN]["end"]:
            errors = [kernel["error"] for kernel in found["kernels"] if "error" in kernel]
            why = f" ({errors[0]})" if errors else ""
            yield (
                f"for compute capability {capability} it ends with {found['end']}{why}, "
                f"for {OWN} with {row[OWN]['end']}"
            )

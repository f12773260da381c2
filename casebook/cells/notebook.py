"""A notebook file as data: its code cells, their headers, its title and its case card.

Read without nbformat, so that it works for anybody's notebook, wherever casebook is installed.
"""

import functools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from casebook.cells import environments_cell, line
from casebook.cells import header as headers
from casebook.cells.repository import ADDRESS, ROOT
from casebook.errors import HeaderError, WrongUse


class Confirmation(TypedDict):
    """A run on another GPU model: the stamps of the GPU cells that ended there as expected."""

    gpu: str
    compute_capability: str
    driver: str
    date: str
    stamps: dict[str, str]


class Receipt(TypedDict, total=False):
    """Which run the outputs come from; receipts.py and stamps.py of casebook/chapters say more."""

    gpu: str
    gpus: int
    compute_capability: str
    driver: str
    python: str
    date: str
    seconds: float
    cells: dict[str, str]
    confirmed: list[Confirmation]
    pending: list[str]
    rerun: dict[str, str]


@dataclass(frozen=True)
class Cell:
    """One code cell. `number` counts the code cells from 1, as the brackets beside a cell do.

    `node` is its content as nbformat 4 has it: a dict, or in a Chapter a NotebookNode.
    `environments` gives those of its notebook, by name; it may raise HeaderError.
    """

    number: int
    node: Any
    environments: Callable[[], Mapping[str, headers.Header]] = dict

    @property
    def source(self) -> str:
        return self.node["source"]

    @property
    def script(self) -> str:
        """What runs: the source, or what is below the line of the magic."""
        magic = self.pinned or self.names_environments
        return self.source.partition("\n")[2] if magic else self.source

    @property
    def body(self) -> str:
        """The source without its magic and its header."""
        return headers.BLOCK.sub("", self.script, count=1).lstrip("\n")

    @property
    def names_environments(self) -> bool:
        """True for the cell that names the environments of the notebook."""
        return self.source.partition("\n")[0].rstrip() == environments_cell.MAGIC

    @property
    def tags(self) -> list[str]:
        return self.node["metadata"].get("tags", [])

    @property
    def pinned(self) -> bool:
        return self.source.startswith(line.MAGIC)

    @functools.cached_property
    def _read(self) -> tuple[headers.Header | None, str]:
        try:
            if self.names_environments:
                self.environments()
            if not self.pinned:
                return None, ""
            options = line.of_source(self.source)
            environments = self.environments() if options.name else {}
            return line.header(options, self.script, environments), ""
        except HeaderError as error:
            return None, str(error)

    @property
    def header(self) -> headers.Header | None:
        """Header of a %%pinned cell, None for others and for a header with an error."""
        return self._read[0]

    @property
    def header_error(self) -> str:
        """The sentence about a header with an error; "" for none."""
        return self._read[1]

    @property
    def gpus(self) -> int:
        """Number of GPUs that it needs."""
        if self.header:
            return self.header.gpus if self.header.gpu else 0
        marked = re.match(r"%%gpu(?: +([1-9]))?\s*?(?:\n|$)", self.source)
        return int(marked[1] or 1) if marked else 0

    @property
    def needs_gpu(self) -> bool:
        return self.gpus > 0

    @property
    def varies(self) -> bool:
        """True if the outputs differ from run to run and are not compared."""
        return "nbval-ignore-output" in self.tags

    @property
    def text(self) -> str:
        """All text that the stored outputs show."""
        parts: list[str] = []
        for output in self.node["outputs"]:
            data = output.get("data", {})
            parts += [
                output.get("text", ""),
                *output.get("traceback", []),
                *(data[kind] for kind in data if kind.startswith("text/")),
            ]
        return "".join(parts)


class Notebook:
    """One notebook file: `notebook` is its content as nbformat 4 has it, each text in one piece."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.name = self.path.stem
        self.notebook = self.read()
        codes = (node for node in self.notebook["cells"] if node["cell_type"] == "code")
        self.cells = [Cell(number, node, self.environments) for number, node in enumerate(codes, 1)]

    def environments(self) -> Mapping[str, headers.Header]:
        """The environments that its cells may name. Raises HeaderError for a cell with an error."""
        texts = [cell.script for cell in self.cells if cell.names_environments]
        if len(texts) > 1:
            raise HeaderError(f"{len(texts)} cells begin with {environments_cell.MAGIC}: keep one")
        return environments_cell.read(texts[0]) if texts else {}

    def read(self) -> Any:
        try:
            return read(self.path)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise WrongUse(f"{self.path} is not an nbformat 4 notebook") from None

    @property
    def address(self) -> str:
        """Its public address, if it is a chapter of this book; else ""."""
        of_the_book = self.path.resolve().parent == ROOT / "notebooks"
        return f"{ADDRESS}/blob/main/notebooks/{self.path.name}" if of_the_book else ""

    @property
    def first(self) -> str:
        """Source of its first cell."""
        return self.notebook["cells"][0]["source"] if self.notebook["cells"] else ""

    @property
    def receipt(self) -> Receipt | None:
        return self.notebook["metadata"].get("casebook")

    @property
    def pending(self) -> list[str]:
        """Ids of the cells that wait for a GPU: nobody has stored what they print."""
        return (self.receipt or {}).get("pending", [])

    @property
    def title(self) -> str:
        """Its first line, if that is a heading; else its name."""
        line = self.first.partition("\n")[0]
        return line.removeprefix("# ") if line.startswith("# ") else self.name

    @property
    def threads(self) -> list[tuple[str, str]]:
        """Names and addresses of the upstream threads that the card in its first cell links."""
        line = re.search(r"(?m)^\*\*Threads:\*\* (.*)$", self.first)
        return re.findall(r"\[([^]]+)\]\((\S+?)\)", line[1]) if line else []


def read(path: Path) -> Any:
    """Content of a notebook file of format 4.

    Raises ValueError, KeyError, TypeError or AttributeError for any other file.
    """
    notebook = json.loads(text_of(path))
    if notebook["nbformat"] != 4:
        raise ValueError(notebook["nbformat"])
    for cell in notebook["cells"]:
        cell["source"] = whole(cell["source"])
        if not isinstance(cell["source"], str):
            raise TypeError(cell["source"])
        cell.setdefault("metadata", {})
        if cell["cell_type"] == "code":
            cell["outputs"] = [joined(output) for output in cell.get("outputs", [])]
    notebook.setdefault("metadata", {})
    return notebook


def text_of(path: Path | str) -> str:
    """Text of a file that somebody named."""
    try:
        return Path(path).read_text("utf-8")
    except OSError as error:
        raise WrongUse(f"{path}: {error.strerror}") from None
    except ValueError:
        raise WrongUse(f"{path} is no text in UTF-8") from None


def joined(output: dict[str, Any]) -> dict[str, Any]:
    """An output with its texts whole: a notebook file may hold them as lists of lines."""
    output = dict(output)
    if "text" in output:
        output["text"] = whole(output["text"])
    if "data" in output:
        output["data"] = {
            kind: value if kind.endswith("json") else whole(value)
            for kind, value in output["data"].items()
        }
    return output


def whole(text: Any) -> Any:
    """A text that may be stored as a list of lines."""
    return "".join(text) if isinstance(text, list) else text


def gpus_of(receipt: Receipt) -> str:
    """The GPUs of a receipt's machine: "an NVIDIA H200", "2 × NVIDIA H200" or "no GPU"."""
    count = receipt.get("gpus", 1)
    if not count:
        return receipt["gpu"]
    return f"{count} × {receipt['gpu']}" if count > 1 else f"an {receipt['gpu']}"

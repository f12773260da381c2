"""The stored output of a cell that cannot run here: found by the cell's source, and shown in a
frame that names its GPU.

A notebook that was run and saved without a GPU holds the framed output itself, which is then shown
as it is. Needs IPython alone: a kernel on Colab or in VS Code may have no nbformat.
"""

import base64
import html
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from IPython.display import display

from casebook.cells.class_cell import for_class
from casebook.cells.hashes import of_outputs
from casebook.cells.header import Header
from casebook.cells.notebook import Notebook, gpus_of
from casebook.cells.repository import ROOT
from casebook.errors import HeaderError, WrongUse

MARK = 'data-casebook="stored"'
FRAME = f"""<div {MARK} style="border-left: 4px solid #8a8a8a; padding-left: 0.8em">
<div style="font-size: 0.9em; font-style: italic; margin-bottom: 0.4em">{{title}}</div>
{{parts}}
</div>"""

PRE = 'style="font-size: var(--jp-code-font-size, inherit); margin: 0"'
IMAGE = '<img src="data:{};base64,{}" style="max-width: 100%" alt="picture of the stored output">'


def show(source: str, names: dict[str, Any]) -> None:
    """Display the stored output of a cell, if there is one."""
    if data := stored(source, names):
        display(data, raw=True)


def stored(source: str, names: dict[str, Any]) -> dict[str, str] | None:
    """The framed output of the cell with this source; `names` are the kernel's names."""
    found = (framed(path, source) for path, _ in notebooks(names))
    return next(filter(None, found), None)


def notebooks(names: dict[str, Any]) -> Iterator[tuple[Path, bool]]:
    """Files that may be the notebook, and whether JupyterLab or VS Code says so: that one, those in
    the working directory, then the book's own."""
    for name in (os.environ.get("JPY_SESSION_NAME"), names.get("__vsc_ipynb_file__")):
        if name:
            yield Path(name), True
    for folder in (Path(), ROOT / "notebooks"):
        yield from ((path, False) for path in sorted(folder.glob("*.ipynb")))


def framed(path: Path, source: str) -> dict[str, str] | None:
    """The framed output of a cell as {mime type: data}; None if the file has none that its receipt
    vouches for."""
    try:
        book = Notebook(path)
    except WrongUse:
        return None
    receipt = book.receipt or {}
    for cell in book.cells:
        if not same(cell.source, source):
            continue
        outputs = cell.node["outputs"]
        for output in outputs:
            if MARK in output.get("data", {}).get("text/html", ""):
                return output["data"]
        stamp = receipt.get("cells", {}).get(cell.node.get("id"), "")
        if outputs and stamp.endswith(of_outputs(outputs)):
            return frame(outputs, f"stored output of {gpus_of(receipt)}, {receipt['date']}")
    return None


def environments_of(source: str, names: dict[str, Any]) -> Mapping[str, Header] | None:
    """The environments of the notebook with this cell, as its file has them; None if none is found.

    The file that JupyterLab or VS Code names counts even if the cell was edited since it was saved.
    """
    for path, certain in notebooks(names):
        try:
            book = Notebook(path)
            found = book.environments()
        except (WrongUse, HeaderError):
            continue
        if found and (certain or any(same(cell.source, source) for cell in book.cells)):
            return found
    return None


def same(one: str, other: str) -> bool:
    """Whether two sources are one cell: copies for a class lack the message that is expected."""
    return lines(one) == lines(other)


def lines(source: str) -> list[str]:
    return [text.rstrip() for text in for_class(source).strip().splitlines()]


def frame(outputs: list[dict[str, Any]], title: str) -> dict[str, str]:
    """Outputs of a cell as one: HTML with a frame, and text with a line beside it."""
    text = "\n".join(as_text(output).rstrip("\n") for output in outputs)
    below = "".join(f"\n│ {line}".rstrip() for line in text.splitlines())
    return {
        "text/html": FRAME.format(title=html.escape(title), parts="\n".join(map(as_html, outputs))),
        "text/plain": f"{title}:{below}",
    }


def as_text(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    text = output.get("text") or data.get("text/plain") or data.get("text/markdown")
    return text or "(a picture)"


def as_html(output: dict[str, Any]) -> str:
    """An output as HTML; pictures as images of their own, so that their styles stay theirs."""
    data = output.get("data", {})
    if "text/html" in data:
        return data["text/html"]
    if "image/svg+xml" in data:
        svg = base64.b64encode(data["image/svg+xml"].encode()).decode()
        return IMAGE.format("image/svg+xml", svg)
    if "image/png" in data:
        return IMAGE.format("image/png", data["image/png"].replace("\n", ""))
    return f"<pre {PRE}>{html.escape(as_text(output))}</pre>"

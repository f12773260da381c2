"""The stored output of a cell that cannot run here: found by the cell's source, and shown in a frame that names its GPU.

A notebook that was run and saved without a GPU holds the framed output itself, which is then shown as it is. Needs IPython alone: a
kernel on Colab or in VS Code may have no nbformat.
"""

import base64
import html
import json
import os
from pathlib import Path

from IPython.display import display

from casebook.cells.notebook import gpus_of, joined, whole
from casebook.cells.repository import ROOT
from casebook.cells.stamp import of_outputs
from casebook.cells.verdict import renewed

MARK = 'data-casebook="stored"'
FRAME = f"""<div {MARK} style="border-left: 4px solid #8a8a8a; padding-left: 0.8em">
<div style="font-size: 0.9em; font-style: italic; margin-bottom: 0.4em">{{title}}</div>
{{parts}}
</div>"""

PRE = 'style="font-size: var(--jp-code-font-size, inherit); margin: 0"'


def show(source, names):
    """Display the stored output of the cell with this source, if it is found; `names` are the kernel's names."""
    for path in notebooks(names):
        if data := framed(path, source):
            display(data, raw=True)
            return


def notebooks(names):
    """Files that may be the notebook: what JupyterLab or VS Code says, those in the working directory, then the book's own."""
    yield from (
        Path(said)
        for said in (os.environ.get("JPY_SESSION_NAME"), names.get("__vsc_ipynb_file__"))
        if said
    )
    yield from sorted(Path().glob("*.ipynb"))
    yield from sorted((ROOT / "notebooks").glob("*.ipynb"))


def framed(path, source):
    """The framed output of a cell as {mime type: data}, or None where the file has none that its receipt vouches for."""
    try:
        notebook = json.loads(path.read_text("utf-8"))
        cells = [
            cell
            for cell in notebook["cells"]
            if cell["cell_type"] == "code" and same(whole(cell["source"]), source)
        ]
        for cell in cells:
            outputs = [joined(output) for output in cell["outputs"]]
            for output in outputs:
                if MARK in output.get("data", {}).get("text/html", ""):
                    return output["data"]
            receipt = notebook["metadata"].get("casebook", {"cells": {}})
            if outputs and receipt["cells"].get(cell["id"], "").endswith(of_outputs(outputs)):
                return frame(outputs, f"stored output of {gpus_of(receipt)}, {receipt['date']}")
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ):  # no notebook, or not one of ours
        return None


def same(stored, source):
    """True for two forms of one cell. The message that a header expects is missing in the copies for a class."""
    return lines(stored) == lines(source)


def lines(source):
    return [
        line.rstrip() for line in source.strip().splitlines() if not line.startswith("# match = ")
    ]


def frame(outputs, title):
    """Outputs of a cell as one: HTML with a frame, and text with a line beside it."""
    text = "\n".join(as_text(output).rstrip("\n") for output in outputs)
    below = "".join(f"\n│ {line}".rstrip() for line in text.splitlines())
    return {
        "text/html": FRAME.format(title=html.escape(title), parts="\n".join(map(as_html, outputs))),
        "text/plain": f"{title}:{below}",
    }


def as_text(output):
    data = output.get("data", {})
    text = output.get("text") or data.get("text/plain") or data.get("text/markdown")
    return renewed(text or "(a picture)")


def as_html(output):
    """An output as HTML; pictures as images of their own, so that their styles stay theirs."""
    data = output.get("data", {})
    if "text/html" in data:
        return data["text/html"]
    if "image/svg+xml" in data:
        return picture("image/svg+xml", base64.b64encode(data["image/svg+xml"].encode()).decode())
    if "image/png" in data:
        return picture("image/png", data["image/png"].replace("\n", ""))
    return f"<pre {PRE}>{html.escape(as_text(output))}</pre>"


def picture(kind, encoded):
    return f'<img src="data:{kind};base64,{encoded}" style="max-width: 100%" alt="picture of the stored output">'

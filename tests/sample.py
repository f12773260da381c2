"""The site that its tests look at: the book, a chapter with a cell of each kind, one with markup in
its data files, and a page with links that lead nowhere. The build executes nothing."""

import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from helpers import ROOT
from jsonschema import Draft202012Validator, FormatChecker
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, writes

from casebook.authoring import publish
from casebook.authoring.chapters import Chapter
from casebook.authoring.facts import schema
from casebook.authoring.releases import evidence

SAMPLE, MARKED, LOST = "notebooks/98-sample", "notebooks/97-markup", "book/lost"
MARKUP = (
    "``\"'><script>document.title = 'owned'</script> <img src=x onerror=document.title='owned'>"
)
LOST_PAGE = """# A page whose links lead nowhere

It describes itself.

```{exported} 98-sample no-such-id
```
```{mistakes} 97-markup
```
[lost](lost-page.md) [lost](../notebooks/98-sample.ipynb#lost-anchor) {doc}`lost-document`
"""
LOST_LINES = ("no-such-id", "lost-page", "lost-anchor", "lost-document")
FACTS = """
kind: [crash, slow]
libraries: [NumPy, Numba's built-in CUDA target]
threads: [numpy/numpy/issues/1]
faults:
- id: example
  see: A division breaks
  messages: ["ZeroDivisionError: division by zero"]
  do: "`max(d, 1)`"
  affected: {numpy: <=2.4.6}
versions: {numpy: {cpu: probe}}
"""
RUN = {"date": "2026-11-21", "probe": "0"}
OLD = {"library": "numpy", "release": "2.4.6", "released": "2026-05-01"}
CLOSURE = {"python": "3.12", "closure": "numpy==2.4.6 six==1.17.0"}
RELEASES = [
    {
        **OLD,
        "as_of": "release",
        **CLOSURE,
        "cpu": {
            "outcome": "reproduced",
            "line": "ZeroDivisionError: <b>division by zero",
            **RUN,
        },
        "gpu": {
            "outcome": "failed differently",
            "line": "killed by SIGSEGV",
            **RUN,
            "driver": "580.1",
            "gpu": "NVIDIA X",
        },
    },
    {**OLD, "as_of": "today", **CLOSURE, "cpu": {"outcome": "not reproduced", "line": "", **RUN}},
    {
        "library": "numpy",
        "release": "2.10.0",
        "released": "2026-09-01",
        "as_of": "today",
        "cannot": "Python 3.12: no wheel",
        "asked": "numpy==2.10.0",
        "date": "2026-11-21",
    },
]
SEEN = "A division breaks: `ZeroDivisionError: division by zero`"
FIRST = f"""# Something breaks

One sentence.

<!-- card: written from the facts -->
| You see | Do | Affected | Fixed in |
|---|---|---|---|
| {SEEN} | `max(d, 1)` | NumPy ≤ 2.4.6 | not yet |

**Libraries:** NumPy, Numba's built-in CUDA target
<!-- end of the card -->"""
HEADER = """%%pinned
# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["numpy==2.4.6", "llvmlite==0.47.0", "numba==0.65.1"]
# [tool.casebook]
"""
FAILING = f"""{HEADER}# gpu = true
# raises = 'ZeroDivisionError'
# ///
import numpy

for n in range(3):
    print(n / 0)"""
PRINTED = """Traceback (most recent call last):
  File "cell.py", line 12, in <module>
    print(n / 0)
ZeroDivisionError: division by zero
as expected: ZeroDivisionError
"""
FIXED = HEADER + "# timeout = 60\n# ///\ndef half(n):\n    return n / 2"
NEWER = FIXED.replace("numpy==2.4.6", "numpy==2.5.5")
KERNEL = "%%gpu\nfrom numba import cuda\nwhile True:\n    break"
TABLE = {
    "text/plain": "option  what becomes of it\n-ftz    dropped",
    "text/html": "<table><tr><th>option</th><th>what becomes of it</th></tr>\n"
    "<tr><td>-ftz</td><td>dropped</td></tr></table>",
}
PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" width="700" height="40"
 viewBox="0 0 700 40"><text x="4" y="20" fill="#757575">words</text></svg>"""
FIGURE = {"text/plain": "<Figure>", "image/svg+xml": PICTURE}
DARK_FIGURE = FIGURE | {"image/svg+xml": PICTURE.replace("#757575", "#111111")}


def prints(source, text):
    return new_code_cell(source, outputs=[new_output("stream", text=text)])


def shows(source, output, *tags):
    """A code cell with an output in several forms, {mime type: data}."""
    outputs = [new_output("display_data", output)]
    return new_code_cell(source, metadata={"tags": list(tags)}, outputs=outputs)


def sample():
    """A chapter with a cell of each kind; one output is in old words."""
    cells = [
        new_markdown_cell(FIRST),
        new_markdown_cell("## The symptom"),
        prints(FAILING, PRINTED),
        prints(FIXED, "as expected: exit status 0\n"),
        prints(KERNEL, "a line\n" * 50),
        new_code_cell("answer = 42", metadata={"tags": ["solution"]}),
        new_markdown_cell("The plot shows words."),
        shows("figure()\nfigure()", FIGURE, "hide-input"),
        prints(NEWER, f"{'a long message ' * 30}\nas expected: exit status 0\n"),
        shows("table()", TABLE),
        prints("columns()", f"name{' ' * 40}value{' ' * 60}unit\n" * 4),
        shows("drawing()", DARK_FIGURE),
        new_markdown_cell("## How we know"),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def with_markup(document, schema):
    """The document with markup in every text that its schema allows it in: in the place of the
    text, or at its end."""
    numbers = itertools.count()
    hostile = changed(document, lambda text: f"{MARKUP} {next(numbers)}")
    restore(hostile, changed(document, lambda text: f"{text} {MARKUP} {next(numbers)}"), schema)
    restore(hostile, document, schema)
    return hostile


def changed(value, change):
    """A copy of nested lists and tables, with every text changed."""
    if isinstance(value, dict):
        return {key: changed(one, change) for key, one in value.items()}
    if isinstance(value, list):
        return [changed(one, change) for one in value]
    return change(value) if isinstance(value, str) else value


def restore(document, original, schema):
    """Put back what the schema refuses."""
    errors = Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(document)
    for place in [list(error.absolute_path) for error in errors]:
        inside, instead = document, original
        for key in place[:-1]:
            inside, instead = inside[key], instead[key]
        inside[place[-1]] = instead[place[-1]]


def add_markup(folder):
    """A copy of chapter 04 with markup in every text of its data files, and a stale receipt."""
    facts = yaml.safe_load((ROOT / "notebooks/04-fused-scalars.yml").read_text())
    facts["faults"].append({"id": "words", "see": "a", "do": "b", "affected": "c"})
    path = folder / f"{MARKED}.yml"
    path.write_text(yaml.safe_dump(with_markup(facts, schema().schema)))
    releases = [release | {"library": "marked"} for release in RELEASES]
    rows = with_markup(releases, json.loads(evidence.SCHEMA.read_text()))
    (folder / f"{MARKED}.versions.json").write_text(json.dumps(rows))
    notebook = path.with_suffix(".ipynb")
    shutil.copy(ROOT / "notebooks/04-fused-scalars.ipynb", notebook)
    chapter = Chapter(notebook)
    chapter.notebook.cells[0].source = publish.with_card(chapter)
    chapter.receipt["environment"] = "of other pins"
    fields = "compute_capability", "driver", "date", "code"
    chapter.receipt["confirmed"] = [
        dict.fromkeys(fields, MARKUP) | {"gpu": f"NVIDIA H100 {MARKUP}", "ended": 6, "cells": 7}
    ]
    chapter.write()


def copy(folder):
    """The sources of the site with the sample, the case with markup, and a page of lost links."""
    for name in ("book", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "_config.yml", folder)
    (folder / f"{SAMPLE}.ipynb").write_text(writes(sample()))
    (folder / f"{SAMPLE}.yml").write_text(FACTS)
    (folder / f"{SAMPLE}.versions.json").write_text(json.dumps(RELEASES))
    add_markup(folder)
    (folder / f"{LOST}.md").write_text(LOST_PAGE)
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    toc["parts"][0]["chapters"] += [{"file": name} for name in (MARKED, SAMPLE, LOST)]
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    return folder


def build(folder):
    """What the builder says, without colours and without the folder's path."""
    builder = Path(sys.executable).with_name("jupyter-book")
    command = [builder, "build", ".", "-W", "--keep-going", "-n"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    said = subprocess.run(command, cwd=folder, text=True, **streams).stdout
    return re.sub(r"\x1b\[[\d;]*m", "", said).replace(f"{folder}/", "")


def complaints(said):
    """Lines that say what is wrong. The builder itself ends with a RuntimeError for any of them."""
    wrong = re.compile(r"WARNING|ERROR|(?<!Runtime)Error:|Exception")
    return [line for line in said.splitlines() if wrong.search(line)]

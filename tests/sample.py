"""The site that its tests look at: the book and one more chapter, with a cell of each kind."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from helpers import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, writes

SAMPLE = "notebooks/98-sample"
FACTS = """
kind: [crash, slow]
libraries: [NumPy, Numba's built-in CUDA target]
threads: [numpy/numpy/issues/1]
faults:
- id: example
  see: A division breaks
  messages: ["ZeroDivisionError: division by zero"]
  do: "`n / max(d, 1)`"
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
| {SEEN} | `n / max(d, 1)` | NumPy ≤ 2.4.6 | not yet |

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
        prints(FIXED, "as told: exit status 0\n"),
        prints(KERNEL, "a line\n" * 50),
        new_code_cell("answer = 42", metadata={"tags": ["solution"]}),
        new_markdown_cell("The plot shows words."),
        shows("figure()\nfigure()", FIGURE, "hide-input"),
        prints(NEWER, f"{'a long message ' * 30}\nas expected: exit status 0\n"),
        shows("table()", TABLE),
        prints("columns()", f"name{' ' * 40}value{' ' * 60}unit\n" * 4),
        shows("drawing()", DARK_FIGURE),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def copy(folder):
    """The sources of the site, with one more chapter."""
    for name in ("book", "notebooks"):
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    toc["parts"][0]["chapters"].append({"file": SAMPLE})
    return complete(folder, toc)


def small(folder, page):
    """The sources of a site of one page and the sample, with the book's settings and extension."""
    for name in ("_ext", "_static"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name)
    (folder / "notebooks").mkdir()
    (folder / "book/page.md").write_text(page)
    toc = {"format": "jb-book", "root": "book/page", "chapters": [{"file": SAMPLE}]}
    return complete(folder, toc)


def complete(folder, toc):
    shutil.copy(ROOT / "_config.yml", folder)
    (folder / f"{SAMPLE}.ipynb").write_text(writes(sample()))
    (folder / f"{SAMPLE}.yml").write_text(FACTS)
    (folder / f"{SAMPLE}.versions.json").write_text(json.dumps(RELEASES))
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    return folder


def build(folder):
    command = Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "--keep-going"
    return subprocess.run(
        [*command, "-n"], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )

"""The site that its tests look at: the book, and what site/sample/ adds: a chapter with a cell of
each kind and a page with links that lead nowhere; and a chapter with markup in its data files. The
build executes nothing."""

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

from casebook.authoring import publish
from casebook.chapters import Chapter, evidence
from casebook.chapters.facts import schema
from casebook.chapters.stamps import stamps

ADDED = ROOT / "tests/site/sample"
SAMPLE, MARKED, LOST = "notebooks/98-sample", "notebooks/97-markup", "book/lost"
MARKUP = (
    "``\"'><script>document.title = 'owned'</script> <img src=x onerror=document.title='owned'>"
)
LOST_LINES = ("lost-page", "lost-anchor", "lost-document")


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
    releases = json.loads((ADDED / f"{SAMPLE}.versions.json").read_text())
    marked = [release | {"library": "marked"} for release in releases]
    rows = with_markup(marked, json.loads(evidence.SCHEMA.read_text()))
    (folder / f"{MARKED}.versions.json").write_text(json.dumps(rows))
    notebook = path.with_suffix(".ipynb")
    shutil.copy(ROOT / "notebooks/04-fused-scalars.ipynb", notebook)
    chapter = Chapter(notebook)
    chapter.notebook.cells[0].source = publish.with_card(chapter)
    chapter.receipt.update(gpu="NVIDIA H200", cells=dict.fromkeys(chapter.receipt["cells"], "0 0"))
    now = {name: str(stamp) for name, stamp in stamps(chapter).items()}
    six = [cell.node.id for cell in chapter.cells if cell.needs_gpu][:6]
    fields = dict.fromkeys(("compute_capability", "driver", "date"), MARKUP)
    of_cells = {"gpu": f"NVIDIA H100 {MARKUP}", "stamps": {name: now[name] for name in six}}
    chapter.receipt["confirmed"] = [fields | of_cells]
    chapter.write()


def copy(folder):
    """The sources of the site with what the tests add."""
    for name in ("book", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "_config.yml", folder)
    shutil.copytree(ADDED, folder, dirs_exist_ok=True)
    add_markup(folder)
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

"""The JupyterHub of book/run.md and the class of book/workshop.md, without the hub: the
administrator's commands, then students.

A student is another user, to whom the configuration's variables and the link are given, as the hub
gives them.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
from helpers import ROOT

from casebook.chapters import lessons, load
from casebook.chapters.stamps import gpu_pins
from casebook.environments import uv
from casebook.magics import NO_GPU

(CHAPTER,) = load(["01"])
STUDENT = {"user": 12345, "group": 12345, "extra_groups": []}
PYTHON = "/usr/bin/python3"  # every user can run it
LEFT_OUT = ("VIRTUAL_ENV", "PYTHONPATH", "UV_CACHE_DIR", "XDG_CACHE_HOME")


def section(page, heading):
    return (ROOT / page).read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]


HUB = section("book/run.md", "On a JupyterHub")
CLASS = section("book/workshop.md", "A class on a hub")


def block(page, kind):
    """The page's first block of that kind."""
    return re.search(rf"(?s)```(?:{{code-block}} )?{kind}\n(.*?)\n```", page)[1]


def clean():
    """The environment variables of a machine without a GPU, and without what this run has set."""
    kept = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    return kept | {"CUDA_VISIBLE_DEVICES": ""}


class Hub:
    """A folder in the place of /opt, which every user can enter, with the users' environment."""

    def __init__(self, folder, repository):
        self.folder, self.address = folder, f"file://{folder}/book.git"
        subprocess.run(
            ["git", "clone", "-q", "--bare", repository, folder / "book.git"], check=True
        )
        self.configuration = SimpleNamespace(Spawner=SimpleNamespace(environment={}))

    def here(self, text):
        """Text of a page with this hub's folders and repository, for chapter 1 alone."""
        text = text.replace("{repository}", self.address).replace("/opt/tljh/user", "/opt/user")
        text = re.sub(r"\b01 05\b", "01", text)  # 05 compiles for a minute
        return text.replace("/opt/", f"{self.folder}/")

    def run(self, commands):
        """Run commands as the administrator."""
        shell = ["bash", "-euo", "pipefail", "-c", self.here(commands)]
        subprocess.run(shell, check=True, env=clean())

    def configure(self, lines):
        exec(self.here(lines), {"c": self.configuration})

    def student(self, name):
        """How a process of a student runs; the home is made as the hub makes it."""
        home = self.folder / "home" / f"jupyter-{name}"
        home.mkdir(parents=True)
        (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")  # the repository is root's
        os.chown(home, STUDENT["user"], STUDENT["group"])
        given = {"HOME": str(home), "PATH": f"{self.folder}/user/bin:/usr/bin:/bin"}
        given |= self.configuration.Spawner.environment
        return home, STUDENT | {"cwd": home, "env": clean() | given}


@pytest.fixture(scope="module")
def hub(repository):
    if os.geteuid():
        pytest.skip("needs root, to be two users")
    folder = Path(tempfile.mkdtemp(prefix="hub-"))
    try:
        folder.chmod(0o755)
        if subprocess.run(["test", "-x", folder], **STUDENT).returncode:
            pytest.skip(f"needs a temporary folder that other users can enter, unlike {folder}")
        install = ["pip", "install", "--python", folder / "user"]
        for command in (
            ["venv", "--seed", "--relocatable", "--python", PYTHON, folder / "user"],
            [*install, "jupyterlab", "nbclient", *gpu_pins()],
        ):
            if subprocess.run([uv.executable(), "--quiet", *command]).returncode:
                pytest.skip(f"needs a network, and {PYTHON} of a version that the book supports")
        hub = Hub(folder, repository)
        hub.run(block(HUB, "bash"))
        hub.configure(block(HUB, "python"))
        yield hub
    finally:
        shutil.rmtree(folder)


def test_a_student_takes_what_the_administrator_made(hub):
    home, student = hub.student("ada")
    link = parse_qs(urlsplit(hub.here(block(HUB, "text"))).query)
    clone = link["urlpath"][0].split("/")[2]
    subprocess.run(["gitpuller", link["repo"][0], link["branch"][0], clone], check=True, **student)

    cells = [CHAPTER.cells[0], *(cell for cell in CHAPTER.cells if cell.pinned)][:4]
    cells += [next(cell for cell in CHAPTER.cells if cell.needs_gpu and not cell.pinned)]
    sources = [*(cell.source for cell in cells), block(HUB, "ipython3")]
    notebook = CHAPTER.notebook | {"cells": list(map(nbformat.v4.new_code_cell, sources))}
    path = home / Path(*link["urlpath"][0].split("/")[2:], "class.ipynb")
    path.write_text(json.dumps(notebook))
    path.chmod(0o666)
    texts = executed(path, student)
    for cell, text in zip(cells[1:], texts[1:], strict=False):
        ending = NO_GPU if cell.needs_gpu else f"as expected: {cell.header.expected.ending}"
        assert ending in text
    lines = re.findall(r"\[\d+/\d+\].*", texts[-1])
    assert lines and all(line.rstrip().endswith(f", in {hub.folder}/casebook") for line in lines)
    assert not (home / ".cache/casebook/environments").exists()


def test_a_class_copies_works_and_is_graded(hub):
    """Two students run the first lesson, one of whom answers; a third answers wrongly, and a
    fourth hands in a broken file."""
    hub.run(block(CLASS, "bash"))
    lesson = lessons.load()[0]
    made = {path.name for path in (hub.folder / "class").glob("*.ipynb")}
    assert made == {one.path.name for one in lessons.load()}

    first = lesson.exercises[0]
    (cell_id,) = (cell.node.id for cell in first.exercise)
    right, wrong = (
        lesson.written(first, lesson.answers(1, kind)[0]) for kind in ("right", "wrong")
    )
    for name, answer in {"ben": right, "cleo": "", "dan": wrong, "eve": "{no"}.items():
        home, student = hub.student(name)
        subprocess.run(["bash", "-ec", hub.here(block(CLASS, "console"))], check=True, **student)
        path = home / "class" / lesson.path.name
        copy = nbformat.read(path, 4)
        for cell in copy.cells:
            cell.source = answer if answer and cell.id == cell_id else cell.source
        path.write_text(answer if name == "eve" else nbformat.writes(copy))
        if name in ("ben", "cleo"):
            wanted = [*(cell.node.id for cell in lesson.preamble), cell_id]
            some = nbformat.from_dict(
                copy | {"cells": [cell for cell in copy.cells if cell.get("id") in wanted]}
            )
            (home / "some.ipynb").write_text(nbformat.writes(some))
            (home / "some.ipynb").chmod(0o666)
            assert ("Correct" in executed(home / "some.ipynb", student)[-1]) == (name == "ben")
    # once more, as a student does who is unsure: nothing is lost
    subprocess.run(["bash", "-ec", hub.here(block(CLASS, "console"))], check=True, **student)
    assert path.read_text() == "{no"

    hub.run(block(CLASS, "sh").replace("/home/", f"{hub.folder}/home/"))
    with open(hub.folder / "grades.csv", newline="", encoding="utf-8") as file:
        rows = [
            (row["participant"], row["file"], row["exercise"], row["outcome"])
            for row in csv.DictReader(file)
        ]
    found = {
        name.removeprefix("jupyter-"): outcome
        for name, file, number, outcome in rows
        if file.endswith(lesson.path.name) and number in ("", "1")
    }
    assert found == {"ben": "solved", "cleo": "untouched", "dan": "not yet", "eve": "unreadable"}


def executed(path, student):
    """The texts that the cells of a notebook print when a student runs it."""
    subprocess.run(["jupyter", "execute", "--inplace", path], check=True, **student)
    cells = nbformat.read(path, 4).cells
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]

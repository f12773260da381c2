"""The JupyterHub of book/run.md: a machine is set up with the page's own commands, and two students work on it.

The repository's address is stood in for by a bare repository with the working tree, in which chapter 1 has one cell of each kind, and
chapter 5 those of exercise 4, so that one module is compiled instead of three. What all cells say is compared where the notebooks are
run. The hub's packages are of the date that hub/requirements.txt names.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from helpers import ROOT, lock

from casebook.authoring.chapters import load
from casebook.authoring.receipts import gpu_pins
from casebook.cells.repository import ADDRESS
from casebook.environments import store, uv
from casebook.magics import NO_GPU

HUB = ROOT / "tests/hub"
CHAPTER, EXERCISE = load(["01", "05"])
PYTHON = "/usr/bin/python3"
ALONE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
PAGE = (
    (ROOT / "book/run.md")
    .read_text()
    .split("\n## On a JupyterHub\n")[1]
    .split("\n## ")[0]
    .replace("{repository}", ADDRESS)
)


def first_of_each_kind(cells):
    """The setup, the first cells of two environments, the first pinned and the first other cell that needs a GPU."""
    own = {
        cell.header.environment_key: cell
        for cell in reversed(cells)
        if cell.pinned and not cell.needs_gpu
    }
    other = {cell.pinned: cell for cell in reversed(cells) if cell.needs_gpu}
    return sorted(
        [cells[0], *list(own.values())[-2:], *other.values()], key=lambda cell: cell.number
    )


KEPT = first_of_each_kind(CHAPTER.cells)
# What hub, servers and kernels import is compiled once: students could not keep it. All that is installed would take five times as long.
COMPILED = {
    "hub": "jupyterhub.app",
    "user": "jupyterhub.singleuser.extension, jupyterlab.labapp, nbgitpuller, ipykernel.kernelapp, IPython",
}


def block(kind):
    """The page's code blocks of one kind, as one text."""
    return "\n".join(re.findall(rf"(?s)```(?:{{code-block}} )?{kind}\n(.*?)\n```", PAGE))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What happened on the machine."""
    for what, there in NEEDED.items():
        if not there():
            pytest.skip(f"a JupyterHub with two users needs {what}")
    folder = tmp_path_factory.mktemp("hub")
    (folder / "plan.json").write_text(json.dumps(a_plan(folder)))
    with subprocess.Popen(
        [*ALONE, sys.executable, HUB / "machine.py", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        said = process.stdout.read()
    if process.returncode and (missing := re.search(r"no network, or no answer: .*", said)):
        pytest.skip(
            f"a JupyterHub with two users needs what its administrator downloads: {missing[0]}"
        )
    assert process.returncode == 0, said
    return json.loads((folder / "results.json").read_text())


def installed():
    """Folder with what a machine with a hub has before it hears of the book: the hub, its users' Python, the proxy."""
    pins = [HUB / "requirements.txt", HUB / "package-lock.json", ROOT / "requirements.txt"]
    key = hashlib.sha256(
        b"".join(path.read_bytes() for path in pins) + python().encode()
    ).hexdigest()[:16]
    folder = store.cache() / "hub" / key
    folder.mkdir(parents=True, exist_ok=True)
    with lock(folder / "lock"):
        if not (folder / "ready").exists():
            install(folder)
            (folder / "ready").touch()
    return folder


def install(folder):
    """The hub and its users' Python at the versions of the dated file, and the proxy at those of its lock file."""
    (folder / "proxy").mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HUB / name, folder / "proxy")
    steps = [["npm", "ci", "--no-audit", "--no-fund", "--prefix", folder / "proxy"]]
    pins = ["--constraint", HUB / "requirements.txt", "--constraint", ROOT / "requirements.txt"]
    users = ["jupyterhub", "jupyterlab", "nbgitpuller", "matplotlib", "pip", "setuptools", "uv"]
    for name, packages in {"hub": ["jupyterhub"], "user": users}.items():
        into = [uv.executable(), "pip", "install", "--python", folder / name, *pins]
        steps += [
            [uv.executable(), "venv", "--clear", "--relocatable", "--python", PYTHON, folder / name],
            [*into, *packages],
            [folder / name / "bin/python", "-c", f"import {COMPILED[name]}"],
        ]
    steps += [[*into, *gpu_pins()]]
    for step in steps:
        ended = subprocess.run(step, env=uv.variables(), capture_output=True, text=True)
        if ended.returncode and re.search(
            r"network|ENOTFOUND|EAI_AGAIN|dns error|Failed to fetch|request for url", ended.stderr
        ):
            pytest.skip(
                f"a JupyterHub with two users needs a network, the first time: {ended.stderr.strip().splitlines()[-1]}"
            )
        assert ended.returncode == 0, ended.stderr


def python():
    """Version of the machine's own Python, which all its users can run; nothing where the book has no use for it."""
    ask = "import sys, sysconfig, os; os.path.exists(sysconfig.get_path('include') + '/Python.h') and print(*sys.version_info[:2], sep='.')"
    found = (
        Path(PYTHON).exists()
        and subprocess.run([PYTHON, "-I", "-c", ask], capture_output=True, text=True).stdout.strip()
    )
    return found if found in ("3.11", "3.12") else ""


def alone():
    """True where one may do what machine.py does first."""
    layer = (
        "mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work && "
        "mount -t overlay none -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work /etc"
    )
    return (
        shutil.which("unshare")
        and subprocess.run([*ALONE, "sh", "-c", layer], capture_output=True).returncode == 0
    )


def a_plan(folder):
    """All that machine.py has to know."""
    place = urlsplit(ADDRESS)
    bare = folder / "git" / place.path.strip("/")
    publish(folder / "book", bare)
    notebooks = f"{place.path.rpartition('/')[2]}/notebooks"
    return {
        "students": ["ada", "bert"],
        "installed": str(installed()),
        "node": str(Path(shutil.which("node")).parent),
        "server": f"{place.scheme}://{place.netloc}",
        "bare": f"/srv/git{place.path}",
        "commands": block("bash"),
        "configuration": block("python"),
        "link": block("text").replace("https://HUB", ""),
        "check": block("ipython3"),
        "edit": "!cd .. && git apply -p0 native/multiply.diff && git status --short",
        "chapter": f"{notebooks}/{CHAPTER.path.name}",
        "exercise": f"{notebooks}/{EXERCISE.path.name}",
    }


def publish(book, bare):
    """A bare repository with the working tree; of chapter 1 the cells of KEPT, of chapter 5 the setup and the last exercise."""
    files = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(
        files, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")[:-1]:
        if (ROOT / name).is_file():
            (book / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, book / name)
    task = [
        EXERCISE.cells[0],
        next(cell for cell in reversed(EXERCISE.cells) if "exercise" in cell.tags),
    ]
    for chapter, kept in ((CHAPTER, KEPT), (EXERCISE, task)):
        fewer = chapter.notebook | {
            "cells": [chapter.notebook.cells[0], *(cell.node for cell in kept)]
        }
        nbformat.write(nbformat.from_dict(fewer), book / "notebooks" / chapter.path.name)
    git = ["git", "-c", "user.name=Author", "-c", "user.email=author@example.org"]
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["commit", "-q", "-m", "The book"],
    ):
        subprocess.run([*git, *command], cwd=book, check=True)
    subprocess.run(["git", "clone", "-q", "--bare", book, bare], check=True)


NEEDED = {
    "root": lambda: os.geteuid() == 0,
    "the right to mount file systems of its own": alone,
    "git": lambda: shutil.which("git"),
    "node and npm": lambda: shutil.which("node") and shutil.which("npm"),
    f"{PYTHON} 3.11 or 3.12 with its headers": python,
}


def test_two_students_run_the_chapter_at_the_same_time(results):
    for lesson in results["lessons"].values():
        for cell, ran in zip(KEPT, lesson["cells"], strict=False):
            assert ran["status"] == "ok", f"cell {cell.number}: {ran['text']}"
            if cell.needs_gpu:
                assert ran["text"] == f"{NO_GPU}\n", cell.number
                assert ("text/html" in ran["kinds"]) == bool(cell.node.outputs), (
                    f"cell {cell.number} does not show its stored output"
                )
            elif cell.pinned:
                assert ran["text"].endswith(f"as expected: {cell.header.expected.ending}\n"), (
                    f"cell {cell.number}: {ran['text']}"
                )
        assert len(lesson["cells"]) == len(KEPT)


def test_they_take_what_the_administrator_made_and_make_nothing(results):
    lines = re.findall(r"\[\d+/\d+\].*", results["edits"]["check"]["text"])
    assert len(lines) == 2
    assert [line for line in lines if not line.rstrip().endswith(", in /opt/casebook")] == []
    for home in results["homes"].values():
        assert [path for path in home["casebook"] if path.startswith("environments/")] == []


def test_an_edit_of_native_takes_effect_for_its_author_alone(results):
    said = {name: ran["text"] for name, ran in results["edits"].items()}
    assert said["before"].startswith("Not yet: there is no da.multiply")
    assert said["after"] == "Correct: like da.add.\nas expected: exit status 0\n"
    assert said["other's answer"] == said["before"]
    built = [
        [path for path in home["casebook"] if path.startswith("builds/")]
        for home in results["homes"].values()
    ]
    assert [bool(folders) for folders in built] == [True, False]


def test_nothing_that_students_share_was_changed_or_could_be(results):
    assert results["changed"] == []
    assert [home["writable"] for home in results["homes"].values()] == [[], []]

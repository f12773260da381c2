"""The JupyterHub of book/run.md, without the hub: the administrator's commands, then a student.

The student is another user, to whom the configuration's variables and the link are given, as the
hub gives them.
"""

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

from casebook.chapters import load
from casebook.chapters.receipts import gpu_pins
from casebook.environments import uv
from casebook.magics import NO_GPU

(CHAPTER,) = load(["01"])
STUDENT = {"user": 12345, "group": 12345, "extra_groups": []}
PYTHON = "/usr/bin/python3"  # every user can run it
PAGE = (ROOT / "book/run.md").read_text().split("\n## On a JupyterHub\n")[1].split("\n## ")[0]


def block(kind):
    """The page's first block of that kind."""
    return re.search(rf"(?s)```(?:{{code-block}} )?{kind}\n(.*?)\n```", PAGE)[1]


@pytest.fixture
def hub(repository):
    """Folder in the place of /opt, which every user can enter, with the users' environment."""
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
        subprocess.run(
            ["git", "clone", "-q", "--bare", repository, folder / "book.git"], check=True
        )
        yield folder
    finally:
        shutil.rmtree(folder)


def test_a_student_takes_what_the_administrator_made(hub, monkeypatch):
    address = f"file://{hub}/book.git"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for name in ("VIRTUAL_ENV", "PYTHONPATH", "UV_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    commands = block("bash").replace("{repository}", address)
    commands = commands.replace("/opt/tljh/user", f"{hub}/user").replace("/opt/", f"{hub}/")
    commands = commands.replace("01 05", "01")  # 05 compiles for a minute
    subprocess.run(["bash", "-euo", "pipefail", "-c", commands], check=True)

    c = SimpleNamespace(Spawner=SimpleNamespace(environment={}))
    exec(block("python").replace("/opt/", f"{hub}/"), {"c": c})
    monkeypatch.setenv("PATH", f"{hub}/user/bin:/usr/bin:/bin")
    home = hub / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")  # the repository is root's
    os.chown(home, STUDENT["user"], STUDENT["group"])
    student = STUDENT | {"cwd": home, "env": os.environ | c.Spawner.environment | {"HOME": home}}
    link = parse_qs(urlsplit(block("text").replace("{repository}", address)).query)
    clone = link["urlpath"][0].split("/")[2]
    subprocess.run(["gitpuller", link["repo"][0], link["branch"][0], clone], check=True, **student)

    cells = [CHAPTER.cells[0], *(cell for cell in CHAPTER.cells if cell.pinned)][:4]
    cells += [next(cell for cell in CHAPTER.cells if cell.needs_gpu and not cell.pinned)]
    sources = [*(cell.source for cell in cells), block("ipython3")]
    notebook = CHAPTER.notebook | {"cells": list(map(nbformat.v4.new_code_cell, sources))}
    path = home / Path(*link["urlpath"][0].split("/")[2:], "class.ipynb")
    path.write_text(json.dumps(notebook))
    path.chmod(0o666)
    subprocess.run(["jupyter", "execute", "--inplace", path], check=True, **student)
    ran = nbformat.read(path, 4).cells
    texts = ["".join(o.get("text", "") for o in cell.outputs) for cell in ran]
    for cell, text in zip(cells[1:], texts[1:], strict=False):
        ending = NO_GPU if cell.needs_gpu else f"as expected: {cell.header.expected.ending}"
        assert ending in text
    lines = re.findall(r"\[\d+/\d+\].*", texts[-1])
    assert lines and all(line.rstrip().endswith(f", in {hub}/casebook") for line in lines)
    assert not (home / ".cache/casebook/environments").exists()

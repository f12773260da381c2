"""Codespaces and VS Code (.devcontainer), Binder, Docker (Dockerfile), GitHub's workflows.

The images are not built: what a machine without Docker can do of them is done in a clone.
"""

import ast
import contextlib
import json
import re
import shlex
import subprocess
import urllib.error
import urllib.request

import pytest
from helpers import ROOT, wait_until
from IPython.core.inputtransformer2 import TransformerManager
from packaging.specifiers import SpecifierSet

from casebook import chapters
from casebook.cli import parser
from casebook.environments import uv
from casebook.execution.modules import FOLDERS, imported

DEVCONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()
BINDER = (ROOT / ".binder/runtime.txt").read_text().strip().removeprefix("python-")
UBUNTU = {"24.04": "3.12"}  # its Python
PLACES = [".binder/postBuild", ".ci/run", ".devcontainer/devcontainer.json", "Dockerfile"]
PLACES += [str(path.relative_to(ROOT)) for path in ROOT.glob(".github/*/*.yml")]


@pytest.mark.parametrize("place", PLACES)
def test_every_command_exists(place):
    text = (ROOT / place).read_text()
    targets = re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text())
    for words in re.findall(r"\bpython3? -m casebook ([\w -]+)", text):
        parser().parse_args(shlex.split(words))
    for words in re.findall(r'(?m)(?:^|run:|RUN|")\s*(?:make|\.ci/run) ([a-z ]+?)(?: &&|$)', text):
        assert set(words.split()) <= set(targets), words


def test_the_python_of_each_place_fits_every_header():
    devcontainer = re.search(r"python:3-(3\.\d+)-", DEVCONTAINER["image"])[1]
    ubuntu = UBUNTU[re.search(r"BASE=ubuntu:(\S+)", DOCKERFILE)[1]]
    ranges = {c.header.requires_python for b in chapters.load() for c in b.cells if c.header}
    for minor in (devcontainer, BINDER, ubuntu):
        assert [text for text in ranges if f"{minor}.0" not in SpecifierSet(text)] == []


@pytest.fixture
def book(repository, tmp_path):
    subprocess.run(["git", "clone", "--quiet", repository, tmp_path / "book"], check=True)
    return tmp_path / "book"


def kernel_imports():
    """Modules that cells import which neither are pinned nor need a GPU, and their helpers do."""
    plain = TransformerManager().transform_cell  # no % and no !
    for cell in (cell for chapter in chapters.load() for cell in chapter.cells):
        if cell.pinned or cell.needs_gpu:
            continue
        code = plain(cell.source)
        for nodes in (
            ast.walk(ast.parse(code)),
            *(ast.parse(text).body for text in imported(code).values()),
        ):
            for node in nodes:
                if isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.module


def test_binder_installs_what_kernel_cells_import(book, tmp_path, monkeypatch):
    kernel = tmp_path / "kernel"
    for command in (
        ["venv", "--seed", "--python", BINDER, kernel],
        ["pip", "install", "--python", kernel, "jupyterlab"],  # which Binder's base has
    ):
        if subprocess.run([uv.executable(), *command, "--quiet"]).returncode:
            pytest.skip(f"needs Python {BINDER} and a network")
    monkeypatch.setenv("PATH", f"{kernel}/bin:/usr/bin:/bin")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    script = subprocess.run(book / ".binder/postBuild", cwd=book, capture_output=True, text=True)
    assert script.returncode == 0, script.stdout + script.stderr
    assert "[1/" in script.stdout
    monkeypatch.setenv("PYTHONPATH", ":".join(map(str, FOLDERS)))
    look = "import sys, importlib.util as u; print([n for n in sys.argv[1:] if not u.find_spec(n)])"
    missing = subprocess.check_output(["python", "-c", look, *set(kernel_imports())], text=True)
    assert missing == "[]\n"


def test_the_images_command_serves_the_readers_copies(book, tmp_path, monkeypatch):
    """JupyterLab as the container starts it, but at a port that is free."""
    (book / ".venv").symlink_to(ROOT / ".venv")
    for name, folder in {"HOME": tmp_path, "CASEBOOK_LAB": tmp_path / "copies"}.items():
        monkeypatch.setenv(name, str(folder))
    command = json.loads(re.search(r"(?m)^CMD (.+)$", DOCKERFILE)[1])
    command[-1] += " --port=0 --allow-root --ServerApp.port_retries=0"
    log, pattern = tmp_path / "log", r"(http://127\.0\.0\.1:\d+)/lab(\?token=\w+)"
    with (
        log.open("w") as file,
        subprocess.Popen(command, cwd=book, stdout=file, stderr=file) as server,
    ):

        def names():
            host, token = re.search(pattern, log.read_text()).groups()
            with urllib.request.urlopen(f"{host}/api/contents{token}") as answer:
                return {entry["name"] for entry in json.load(answer)["content"]}

        def ready():
            with contextlib.suppress(AttributeError, urllib.error.URLError):
                return names()

        try:
            assert wait_until(lambda: server.poll() is not None or ready(), 200)
            assert {path.name for path in (ROOT / "notebooks").glob("*.ipynb")} <= names()
        finally:
            server.terminate()

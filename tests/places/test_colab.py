"""Chapters on Colab: one notebook file, a kernel of Colab's versions (colab.yml), no casebook.

The repository's address is replaced by a local one. The GPU libraries of the extra are not
installed: no cell that runs here imports them.
"""

import json
import os
import re
import subprocess

import pytest
import yaml
from helpers import ROOT
from jupyter_client.manager import run_kernel
from packaging.specifiers import SpecifierSet

from casebook import chapters
from casebook.cells.repository import ADDRESS
from casebook.environments import uv
from casebook.magics import NO_GPU

COLAB = yaml.safe_load((ROOT / "tests/places/colab.yml").read_text())
MINOR = COLAB["python"].rpartition(".")[0]
PAGE = (ROOT / "book/run.md").read_text()


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Interpreter of an environment with Colab's kernel, and what casebook adds to it."""
    root = tmp_path_factory.mktemp("colab") / "env"
    install = ["pip", "install", "--no-deps", "--python", root, *COLAB["kernel"], "jedi", "uv"]
    for command in (["venv", "--python", MINOR, root], install):
        if subprocess.run([uv.executable(), "--quiet", *command]).returncode:
            pytest.skip(f"needs Python {MINOR} and a network")
    (site,) = root.glob("lib/python3.*/site-packages")
    (site / "google/colab").mkdir(parents=True)
    (site / "google/colab/__init__.py").touch()
    (site / "colab.pth").write_text("import google.colab\n")  # Colab imports it at the start, too
    return root / "bin/python"


@pytest.fixture
def run(python, repository, tmp_path, monkeypatch):
    """run(source): the text of a cell, and its error or None."""
    git = {"KEY_0": f"url.file://{repository}.insteadOf", "VALUE_0": ADDRESS, "COUNT": "1"}
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables |= {f"GIT_CONFIG_{name}": value for name, value in git.items()}
    variables |= {"CUDA_VISIBLE_DEVICES": "", "PIP_NO_DEPS": "1", "IPYTHONDIR": str(tmp_path)}

    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Colab", "language": "python"}
    (tmp_path / "kernels/colab").mkdir(parents=True)
    (tmp_path / "kernels/colab/kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    with run_kernel(kernel_name="colab", cwd=str(tmp_path), env=variables) as client:

        def run(source):
            texts = []
            reply = client.execute_interactive(
                source, timeout=300, output_hook=lambda m: texts.append(m["content"].get("text"))
            )["content"]
            error = f"{reply['ename']}: {reply['evalue']}" if reply["status"] == "error" else None
            return "".join(filter(None, texts)), error

        yield run


def cell(test, *names):
    return next(c for b in chapters.load(names) for c in b.cells if c.header and test(c))


def test_the_setup_cell_and_the_cells_below_it(run):
    text, error = run(chapters.load()[0].cells[0].source)
    assert error is None, text
    text, error = run("import casebook; print(casebook.__file__)")
    assert "/env/lib/" in text, error
    for name in ("01", "11"):
        for above in chapters.load([name])[0].preamble[1:]:  # the environments of that notebook
            assert run(above.source) == ("", None)
        first = cell(lambda c: not c.needs_gpu and not c.varies, name)
        assert run(first.source) == (first.text, None)
    assert run("%%gpu\n1 / 0") == (NO_GPU + "\n", None)
    builds = cell(lambda c: c.header.build and not c.needs_gpu)
    assert run(chapters.load(["05"])[0].preamble[1].source) == ("", None)
    _, error = run(builds.source)
    assert error.startswith("EnvironmentFailure: this cell builds native/, which is not inst")


def test_the_clone_of_the_page_runs_cells_that_build_the_native_module(run, repository):
    (clone,) = re.findall(r"(?s)```\{code-block\} ipython3\n(!git clone.*?)```", PAGE)
    builds = cell(lambda c: c.header.build and not c.needs_gpu)
    run(clone.replace("{repository}", f"file://{repository}"))
    assert run("%load_ext casebook") == ("", None)
    assert run(builds.source) == (builds.text, None)


def test_the_page_names_the_chapters_that_colabs_python_is_too_new_for():
    (paragraph,) = re.findall(r"(?m)^Colab's Python is .*$", PAGE)
    too_new = {
        book.name
        for book in chapters.load()
        for c in book.cells
        if c.header and COLAB["python"] not in SpecifierSet(c.header.requires_python)
    }
    assert set(re.findall(r"notebooks/([\w.-]+)\.ipynb", paragraph)) == too_new
    assert paragraph.startswith(f"Colab's Python is {MINOR}.")

"""casebook installed alone: its wheel with its dependencies only, used as book/pinned.md says."""

import functools
import re
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
from helpers import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from casebook.cells import repository
from casebook.environments import uv as tool

OURS = f"{sys.version_info.major}.{sys.version_info.minor}"
PAGE = (ROOT / "book/pinned.md").read_text()
NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "CASEBOOK_REQUIRE_GPU": ""}


def uv(*words):
    return subprocess.run(
        [tool.executable(), *map(str, words)], env=tool.variables(), capture_output=True, text=True
    )


def offline_first(*words):
    """A command of uv that may need the network; skips where there is none."""
    ended = uv(*words, "--offline")
    ended = uv(*words) if ended.returncode else ended
    if ended.returncode:
        pytest.skip(f"uv {words[0]} {words[1]}: {ended.stderr.strip().splitlines()[-1]}")
    return ended


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of this working tree."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(
        ROOT / "casebook", folder / "casebook", ignore=shutil.ignore_patterns("__pycache__")
    )
    offline_first("build", "--wheel", "--out-dir", folder / "dist", folder)
    (file,) = (folder / "dist").glob("*.whl")
    return file


@pytest.fixture(scope="session")
def alone(wheel, tmp_path_factory):
    """alone(minor, package, …): runs commands of a new environment with casebook and these."""

    @functools.cache
    def make(minor, *packages):
        root = tmp_path_factory.mktemp("alone") / "env"
        if uv("venv", "--python", minor, root).returncode:
            pytest.skip(f"no Python {minor} on this machine")
        offline_first("pip", "install", "--python", root, wheel, *packages)

        def run(program, *words, folder, **options):
            variables = tool.variables() | NO_GPU | {"IPYTHONDIR": str(root / "ipython")}
            return subprocess.run(
                [root / "bin" / program, *words],
                cwd=folder,
                env=variables,
                capture_output=True,
                text=True,
                **options,
            )

        return run

    return make


@pytest.fixture
def casebook(alone, tmp_path):
    """casebook(word, …): `python -m casebook …` in an empty folder."""
    run = alone(OURS)
    return lambda *words: run("python", "-m", "casebook", *words, folder=tmp_path)


def write(path, *sources):
    cells = [new_markdown_cell("# My book"), *map(new_code_cell, sources)]
    nbformat.write(new_notebook(cells=cells), path)


def blocks(kind):
    return re.findall(rf"```(?:{{code-block}} )?{kind}\n(.*?)```", PAGE, re.DOTALL)


def skip_without_network(ended):
    if why := re.search(r"no network.*|could not fetch one", ended.stdout + ended.stderr):
        pytest.skip(why[0])


def test_the_wheel_holds_every_module_and_says_that_it_is_typed(wheel):
    folder = ROOT / "casebook"
    files = [*folder.rglob("*.py"), folder / "py.typed"]
    there = {path.relative_to(ROOT).as_posix() for path in files}
    assert there <= set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize("minor", ["3.11", "3.13"])
def test_the_page_does_what_it_says(alone, minor, tmp_path):
    load, out, text = blocks("ipython3")
    write(
        tmp_path / "mine.ipynb",
        load.strip(),
        *(source.strip() for source in (*blocks("{example-cell}"), out, text)),
    )
    install, execute, export = (block.splitlines() for block in blocks("bash"))
    run = functools.partial(alone(minor, *execute[0].split()[2:]), folder=tmp_path)
    ended = run(*execute[1].split())
    skip_without_network(ended)
    assert ended.returncode == 0, ended.stderr
    exported = run(*export[0].split()[:-2])
    (tmp_path / "report.py").write_text(exported.stdout)
    compile(exported.stdout, "report.py", "exec")
    assert exported.stdout.startswith(
        "# From mine.ipynb, cell [2]: My book\n# Expected: OverflowError"
    )
    assert 'casebook @ git+{repository}"' in install[0]
    write(tmp_path / "mine.ipynb", load.strip(), out.replace("> 1", "> 1 / 0").strip())
    failed = run(*execute[1].split())
    assert failed.returncode == 1 and "UnexpectedOutcome" in failed.stderr


def test_what_else_works_and_what_needs_the_book(casebook):
    assert casebook("doctor").returncode == 0
    book = casebook("check")
    assert (book.returncode, book.stdout) == (2, "")
    assert "`check` needs a clone of the book" in book.stderr
    assert f": git clone {repository.ADDRESS}, and" in book.stderr
    assert "the chapter '01' needs a clone of the book" in casebook("export", "01", "3").stderr


def test_a_terminal_waits_for_the_end_of_a_gpu_cell(alone, tmp_path):
    typed = "%load_ext casebook\n%%gpu\nprint('guar' + 'ded')\n\n\nprint('ne' + 'xt')\n"
    shown = alone(OURS)(
        "ipython", "--simple-prompt", "--no-banner", folder=tmp_path, input=typed
    ).stdout
    assert "guarded" not in shown
    assert shown.index("Skipped: this cell needs an NVIDIA GPU") < shown.index("next")

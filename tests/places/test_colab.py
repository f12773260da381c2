"""Chapters on Colab: one notebook file, no clone, and a kernel of Colab's own versions (colab.yml) that knows nothing of casebook
until the setup cell has run, exactly as the notebooks have it.

What this machine lacks is replaced around the cell:

- `google.colab`: an empty package, imported at the start of every Python of that environment, as on Colab.
- the public address: git is told to take it from a local repository with one commit of this working tree.
- the index: pip finds casebook's extra [gpu] in a folder, as wheels with the real names, versions and requirements and without
  contents. Colab's own GPU libraries are such wheels too, so pip complains of them here as it does there.
"""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from platform import machine

import pytest
import yaml
from helpers import ROOT, SIX, cell
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from casebook.authoring import chapters, receipts
from casebook.cells.header import read
from casebook.cells.repository import ADDRESS
from casebook.environments import create, store, uv
from casebook.errors import EnvironmentFailure
from casebook.magics import NO_GPU

BOOKS = chapters.load()
COLAB = yaml.safe_load((ROOT / "tests/colab.yml").read_text())
MINOR = COLAB["python"].rpartition(".")[0]
PAGE = (ROOT / "book/run.md").read_text()
NO_NETWORK = r"Failed to fetch|Failed to download|network was disabled|No interpreter found|Failed to inspect Python|from versions: none"


def call(*command, **options):
    """Run a command that must end well; skips where it only wants a network, or the Python that only a network brings."""
    ended = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **options
    )
    if ended.returncode and (why := re.search(f".*(?:{NO_NETWORK}).*", ended.stderr)):
        pytest.skip(f"needs a network: {why[0].strip()}")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A git repository whose one commit holds the files of this working tree."""
    folder = tmp_path_factory.mktemp("repository")
    listed = call(
        "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT
    ).split("\0")
    files = "\0".join(name for name in listed if name and (ROOT / name).exists())
    git = (
        "git",
        f"--git-dir={folder / '.git'}",
        f"--work-tree={ROOT}",
        "-c",
        "user.name=A test",
        "-c",
        "user.email=test@example.org",
    )
    call("git", "init", "--quiet", folder)
    call(*git, "add", "--pathspec-from-file=-", "--pathspec-file-nul", input=files, cwd=ROOT)
    call(*git, "commit", "--quiet", "--message=The working tree")
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Interpreter of an environment that holds what Colab's list holds, and the stand-in for google.colab."""
    folder = tmp_path_factory.mktemp("colab")
    root = folder / "env"
    call(uv.executable(), "venv", "--python", MINOR, root)
    install = uv.executable(), "pip", "install", "--no-deps", "--python", root / "bin/python"
    call(*install, *COLAB["kernel"])
    call(
        *install,
        "--offline",
        *(wheel(folder, pin, requires) for pin, requires in COLAB["gpu"].items()),
    )
    (site,) = root.glob("lib/python3.*/site-packages")
    (site / "google" / "colab").mkdir(parents=True)
    (site / "google" / "colab" / "__init__.py").touch()
    (site / "colab.pth").write_text("import google.colab\n")
    return root / "bin/python"


def wheel(folder, pin, requires):
    """A wheel of that name and version with these requirements, and nothing else."""
    name, version = pin.split("==")
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {text}" for text in requires),
    ]
    files = {
        "METADATA": metadata,
        "WHEEL": ["Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any"],
        "RECORD": [f"{stem}.dist-info/{name},," for name in ("METADATA", "WHEEL", "RECORD")],
    }
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, lines in files.items():
            archive.writestr(f"{stem}.dist-info/{name}", "\n".join([*lines, ""]))
    return path


@pytest.fixture(scope="module")
def index(python, tmp_path_factory):
    """A folder with all that pip may install: the extra [gpu] without contents, uv, jedi for IPython, and what builds casebook."""
    folder = tmp_path_factory.mktemp("index")
    for pin in receipts.gpu_pins():
        wheel(
            folder,
            pin,
            [
                text
                for text in importlib.metadata.requires(pin.split("==")[0]) or ()
                if "extra ==" not in text
            ],
        )
    call(
        python,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        folder,
        "jedi",
        "uv",
        "setuptools",
    )
    return folder


def variables(python, folder):
    """Colab's Python is the first one that uv finds, no GPU is there, and casebook has no environment yet."""
    base = call(python, "-c", "import sys; print(sys.base_prefix)").strip()
    ours = "PYTHONPATH", "VIRTUAL_ENV", "CASEBOOK_REQUIRE_GPU"
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith("PIP_")
    }
    return kept | {
        "CUDA_VISIBLE_DEVICES": "",
        "IPYTHONDIR": str(folder / "ipython"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "UV_CACHE_DIR": call(uv.executable(), "cache", "dir").strip(),
        "PATH": f"{base}/bin:{kept['PATH']}",
    }


@contextmanager
def a_kernel(python, folder, **more):
    """A kernel of that environment, in a folder of its own: a function that runs a cell and returns its text and its error, if any."""
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "colab").mkdir()
    (folder / "colab" / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "Colab", "language": "python"})
    )
    manager = KernelManager(
        kernel_name="colab", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(folder)])
    )
    manager.start_kernel(cwd=str(folder), env=variables(python, folder) | more)
    client = manager.blocking_client()
    client.start_channels()

    def execute(source):
        outputs = []
        reply = client.execute_interactive(source, timeout=300, output_hook=outputs.append)[
            "content"
        ]
        text = "".join(
            message["content"]["text"] for message in outputs if message["msg_type"] == "stream"
        )
        return text, f"{reply['ename']}: {reply['evalue']}" if reply["status"] == "error" else None

    try:
        client.wait_for_ready(timeout=60)
        yield execute
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def setup(repository, python, index, tmp_path_factory):
    """A kernel after the setup cell: what the cell printed, what was installed before and after, and the kernel."""
    before = installed(python)
    there = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(index),
        "PIP_CONFIG_FILE": os.devnull,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": ADDRESS,
    }
    with a_kernel(python, tmp_path_factory.mktemp("content"), **there) as execute:
        text, error = execute(BOOKS[0].cells[0].source)
        assert error is None, text
        yield text, before, installed(python), execute


@pytest.fixture
def colab(setup):
    """The kernel after the setup cell: a function that runs a cell."""
    return setup[-1]


def installed(python):
    """Versions by name of what an environment holds."""
    return dict(
        line.split("==")
        for line in call(
            uv.executable(), "pip", "list", "--python", python, "--format=freeze"
        ).splitlines()
    )


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
def test_every_chapter_begins_with_the_setup_cell_that_is_run_here(book):
    assert "setup" in book.cells[0].tags
    assert book.cells[0].source == BOOKS[0].cells[0].source


def test_casebook_comes_from_the_address_and_not_from_here(colab):
    text, error = colab("import casebook; print(casebook.__file__)")
    assert error is None
    assert "/env/lib/" in text and str(ROOT) not in text


def test_the_kernel_stays_colabs_own_and_the_page_names_what_changes(setup):
    """Between backticks on the page: first what is replaced, then what comes along."""
    _, before, after, _ = setup
    kernel = {canonicalize_name(pin.split("==")[0]) for pin in COLAB["kernel"]}
    assert {name: after[name] for name in kernel} == {name: before[name] for name in kernel}
    paragraph = re.search(r"(?m)^.*replaces the GPU libraries.*$", PAGE)[0].removesuffix(
        " `pip` then prints red lines:"
    )
    replaced, come = (re.findall(r"`([\w-]+)`", part) for part in paragraph.split(", and adds "))
    assert replaced == sorted(name for name in before if after[name] != before[name])
    assert come == sorted(set(after) - set(before))


def test_the_red_lines_of_pip_are_those_on_the_page(setup):
    told = re.search(r"(?s)```text\n(ERROR: pip's dependency resolver.*?)```", PAGE)[1].splitlines()
    printed = re.sub(r"\x1b\[[\d;]*m", "", setup[0]).strip().splitlines()
    assert sorted(printed) == sorted(
        [*told, "Note: you may need to restart the kernel to use updated packages."]
    )


def test_a_pinned_cell_runs(colab):
    body = "import sys\nprint(sys.version_info[:2], 'google.colab' in sys.modules)\nraise TypeError"
    text, error = colab("%%pinned\n" + cell(body, "raises = 'TypeError'"))
    assert error is None
    assert re.search(
        rf"\({MINOR.replace('.', ', ')}\) False\nTraceback .*\nTypeError\nas expected: TypeError\n$",
        text,
        re.DOTALL,
    )


@pytest.mark.parametrize("name", ["01", "11"])
def test_the_first_pinned_cell_of_a_chapter_and_of_a_short_case_says_what_is_stored(colab, name):
    (book,) = chapters.load([name])
    first = next(
        cell for cell in book.cells if cell.header and not cell.needs_gpu and not cell.varies
    )
    text, error = colab(first.source)
    assert error is None
    assert text.endswith(first.text)


def test_a_pinned_cell_that_ends_otherwise_is_an_error(colab):
    _, error = colab("%%pinned\n" + cell("pass", "raises = 'TypeError'"))
    assert (
        error
        == "UnexpectedOutcome: expected TypeError, but got exit status 0\nThe end of the output:\n(no output)"
    )


def test_a_gpu_cell_says_its_sentence(colab):
    assert colab("%%gpu\n1 / 0") == (NO_GPU + "\n", None)


@pytest.fixture(scope="module")
def builds():
    """The first cell that builds native/ and needs no GPU."""
    return next(
        cell
        for book in BOOKS
        for cell in book.cells
        if cell.header and cell.header.build and not cell.needs_gpu
    )


def test_a_cell_that_builds_the_native_module_asks_for_a_clone(colab, builds):
    _, error = colab(builds.source)
    assert error == (
        "EnvironmentFailure: this cell builds native/, which is not installed with casebook: "
        "open the notebook from a clone of the book"
    )


def test_with_the_clone_of_the_page_how_to_run_it_that_cell_runs(
    colab, builds, python, repository, tmp_path
):
    lines = re.search(r"```\{code-block\} ipython3\n(.*?)```", PAGE, re.DOTALL)[1]
    with a_kernel(python, tmp_path, XDG_CACHE_HOME=str(store.cache().parent)) as execute:
        assert execute(lines.replace("{repository}", f"file://{repository}"))[1] is None
        assert execute("%load_ext casebook") == ("", None)
        text, error = execute(builds.source)
        assert error is None
        assert text.endswith(builds.text)


def test_the_page_names_the_chapters_that_colabs_python_is_too_new_for():
    ranges = [
        (book.name, cell.header.requires_python)
        for book in BOOKS
        for cell in book.cells
        if cell.header
    ]
    too_new = {name for name, text in ranges if COLAB["python"] not in SpecifierSet(text)}
    assert (
        set(
            re.findall(
                r"notebooks/([\w.-]+)\.ipynb", re.search(r"(?m)^Colab's Python is .*$", PAGE)[0]
            )
        )
        == too_new
    )
    assert f"Colab's Python is {MINOR}." in PAGE


@pytest.fixture
def fetching(tmp_path, monkeypatch, empty_caches):
    """A machine on which uv finds no Python: it takes one from a list, and puts it into a folder that is empty at first."""
    cache = call(uv.executable(), "cache", "dir").strip()
    monkeypatch.setenv("UV_CACHE_DIR", cache)
    monkeypatch.setenv("UV_PYTHON_PREFERENCE", "only-managed")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "automatic")
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "pythons"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    return tmp_path


def packed(folder):
    """This machine's Python as an archive such as uv fetches, and a list that names it."""
    archive, left_out = (
        folder / "python.tar.gz",
        ("test", "idlelib", "ensurepip", "site-packages", "dist-packages", "__pycache__"),
    )

    def chosen(info):
        return (
            None
            if Path(info.name).name in left_out or Path(info.name).parent.name.startswith("config-")
            else info
        )

    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(
            Path(sys._base_executable).resolve(),
            f"python/bin/python{sys.version_info[0]}.{sys.version_info[1]}",
        )
        tar.add(
            sysconfig.get_path("stdlib"),
            f"python/lib/{Path(sysconfig.get_path('stdlib')).name}",
            filter=chosen,
        )
    major, minor, patch = sys.version_info[:3]
    entry = {
        "name": "cpython",
        "major": major,
        "minor": minor,
        "patch": patch,
        "prerelease": "",
        "os": "linux",
        "libc": "gnu",
        "arch": {"family": machine(), "variant": None},
        "url": archive.as_uri(),
        "sha256": sha256(archive.read_bytes()).hexdigest(),
        "variant": None,
        "build": None,
    }
    (folder / "list.json").write_text(
        json.dumps({f"cpython-{major}.{minor}.{patch}-linux-{machine()}-gnu": entry})
    )
    return folder / "list.json"


def test_a_python_that_the_machine_lacks_is_fetched_and_kept(fetching, monkeypatch):
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS_JSON_URL", str(packed(fetching)))
    header = read(
        cell("", python=f"=={sys.version_info[0]}.{sys.version_info[1]}.*", dependencies=[SIX])
    )
    said = []
    made = create.make(header, said.append)
    assert any(line.startswith("Downloading cpython-") for line in said)
    home = call(made.python, "-c", "import six, sys; print(sys.base_prefix)").strip()
    assert Path(home).parent == fetching / "pythons"
    (fetching / "python.tar.gz").unlink()
    another = read(cell("", python=header.requires_python))
    assert create.make(another).base == made.base


def test_a_python_that_cannot_be_fetched_is_named_in_one_sentence(fetching, monkeypatch):
    monkeypatch.setenv(
        "UV_PYTHON_INSTALL_MIRROR", "http://127.0.0.1:9/python-build-standalone/releases/download"
    )
    with pytest.raises(EnvironmentFailure) as failure:
        create.make(read(cell("", python=">=3.11,<3.13", dependencies=[SIX])))
    assert f"```text\nMissingPython: {failure.value}\n```" in PAGE

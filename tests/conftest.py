"""Fixtures of the tests of the tooling."""

import os
import re
import shutil
from contextlib import contextmanager

import pytest
import sample
from bs4 import BeautifulSoup
from helpers import ROOT, SIX, cell, lock
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import start_new_kernel

from casebook.cells.header import read
from casebook.environments import create, gpu, uv
from casebook.errors import EnvironmentFailure
from casebook.magics import load


@pytest.fixture
def forgetful(monkeypatch):
    """No environment is remembered from an earlier test."""
    monkeypatch.setattr(create, "_made", {})


@pytest.fixture
def no_gpu(monkeypatch):
    """A machine without a GPU, whatever this one has."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.delenv("CASEBOOK_REQUIRE_GPU", raising=False)
    gpu.find.cache_clear()
    yield
    gpu.find.cache_clear()


@pytest.fixture
def empty_caches(tmp_path, monkeypatch, forgetful):
    """No environment is there yet, and uv has nothing in its cache nor in a wheelhouse."""
    monkeypatch.setattr(uv, "WHEELHOUSE", tmp_path / "wheelhouse")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def six():
    """The pin of a tiny package that uv can install; skips without network and cache."""
    try:
        create.make(read(cell("", dependencies=[SIX])))
    except EnvironmentFailure as error:
        pytest.skip(f"needs {SIX}: {error}")
    return SIX


@pytest.fixture(scope="session")
def network(tmp_path_factory):
    """Skips where no package index answers."""
    command = ["pip", "install", "--no-cache", "--dry-run", "--target", "none", SIX]
    status, messages = uv.run(uv.silent, *command, folder=tmp_path_factory.mktemp("network"))
    if status:
        pytest.skip(f"needs a package index: {messages}")


@pytest.fixture
def kernel(tmp_path):
    """Starts Jupyter kernels with casebook loaded: `with kernel() as (manager, client)`."""
    variables = {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path / "ipython")}

    @contextmanager
    def start():
        manager, client = start_new_kernel(env=os.environ | variables)
        try:
            client.execute_interactive("%load_ext casebook", timeout=60)
            yield manager, client
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)

    return start


@pytest.fixture
def ipython():
    """The shell that get_ipython() returns, with casebook loaded."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    load(shell)
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def browser():
    """The machine's own Chromium; skips where it has none."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if not chromium:
        pytest.skip("this machine has no Chromium")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"], timeout=0)
        playwright.expect.set_options(
            timeout=60_000
        )  # ms; what a busy machine does in 5 s is no promise
        yield found
        found.close()


@pytest.fixture(scope="session")
def built(tmp_path_factory, worker_id):
    """Folder of the site and the builder's complaints. The first worker that needs it builds it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "site"
    log = folder / "build.log"
    with lock(folder.with_suffix(".lock")):
        if not log.exists():
            folder.mkdir()
            said = complaints(sample.build(sample.copy(folder)))
            log.write_text(
                re.sub(r"\x1b\[[\d;]*m", "", said).replace(f"{folder}/", ""), encoding="utf-8"
            )
    return folder / "_build/html", log.read_text("utf-8")


def complaints(built):
    """Nothing for a build that went well, else the lines that say why it did not."""
    if built.returncode == 0:
        return ""
    lines = re.findall(r".*(?:WARNING|ERROR|Error:|Exception).*", built.stdout)
    return "\n".join(lines) or built.stdout


@pytest.fixture(scope="session")
def site(built):
    """Folder of the built site; skips if it cannot be built, and test_the_site_builds fails."""
    folder, why = built
    if why:
        pytest.skip("the site does not build; test_the_site_builds says why")
    return folder


@pytest.fixture(scope="session")
def pages(site):
    """All pages, parsed, by their path."""
    return {
        path: BeautifulSoup(path.read_text("utf8"), "html.parser")
        for path in site.rglob("*.html")
        if not {"_static", "_templates"} & set(path.parts)
    }

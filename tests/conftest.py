"""Fixtures of the tests of the tooling."""

import functools
import http.server
import os
import shutil
import signal
import threading

import pytest
import sample
from helpers import ROOT, SIX, cell, lock
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import start_new_kernel
from page_checks import WIDE

from casebook.cells.header import read
from casebook.cells.repository import ADDRESS
from casebook.environments import create, gpu, uv
from casebook.errors import EnvironmentFailure
from casebook.magics import load

# A shell that starts the tests in the background ignores SIGINT, and so would all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
    """No environment is there yet, and uv has nothing in its cache."""
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
    """A Jupyter kernel with casebook loaded: its manager and a client."""
    variables = {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path / "ipython")}
    manager, client = start_new_kernel(env=os.environ | variables)
    client.execute_interactive("%load_ext casebook", timeout=60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


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
        # Milliseconds: what a busy machine does in 5 s is no promise.
        playwright.expect.set_options(timeout=60_000)
        yield found
        found.close()


@pytest.fixture(scope="session")
def built(tmp_path_factory, worker_id):
    """Folder of the site and what the builder said. The first worker that needs it builds it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "site"
    log = folder / "build.log"
    with lock(folder.with_suffix(".lock")):
        if not log.exists():
            folder.mkdir()
            log.write_text(sample.build(sample.copy(folder)), encoding="utf-8")
    return folder / "_build/html", log.read_text("utf-8")


@pytest.fixture(scope="session")
def site(built):
    """Folder of the built site; skips if it cannot be built, and test_the_site_builds fails."""
    if not (built[0] / "index.html").exists():
        pytest.skip("the site does not build; test_the_site_builds says why")
    return built[0]


@pytest.fixture(scope="session")
def texts(site):
    """The pages as written: {'book/index.html': '<!DOCTYPE html>…'}."""
    files = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    return {path.relative_to(site).as_posix(): path.read_text("utf8") for path in files}


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server(site, tmp_path_factory):
    """Address that serves the site, in a folder as on GitHub Pages: the 404 page relies on it."""
    name = ADDRESS.rpartition("/")[2]
    served = tmp_path_factory.mktemp("served")
    (served / name).symlink_to(site)
    handler = functools.partial(Quiet, directory=served)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as started:
        threading.Thread(target=started.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{started.server_port}/{name}"
        started.shutdown()


@pytest.fixture(scope="module")
def tab(browser, server):
    """A page for all tests of a file, as each new one costs a second of processor time; and what is
    wrong: what is logged, and requests that leave the site."""
    wrong = []

    def log(message):
        if message.type in ("error", "warning"):
            wrong.append(f"{message.location.get('url')}: {message.text}")

    def look(request):
        if not request.url.startswith((server, "data:")):
            wrong.append(request.url)

    page = browser.new_page(
        reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"]
    )
    page.set_default_timeout(0)  # pytest's limit is enough: a page may take a minute
    page.on("console", log)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", look)
    yield page, wrong
    page.close()


@pytest.fixture
def visit(tab, server):
    """Opens a page: `visit("book/run", color_scheme="dark")`. At the end nothing was wrong."""
    page, wrong = tab

    def open_page(name, viewport=WIDE, color_scheme="light"):
        page.set_viewport_size(viewport)
        page.emulate_media(media="null", color_scheme=color_scheme)
        page.goto(f"{server}/{name}.html")
        return page

    yield open_page
    page.evaluate("localStorage.clear()")
    found = wrong.copy()
    wrong.clear()
    assert not found

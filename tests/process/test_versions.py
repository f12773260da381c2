"""`casebook versions` with an index and packages of our own: no network, and no real releases."""

import errno
import functools
import http.server
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import zipfile
from contextlib import nullcontext
from dataclasses import asdict

import pytest
import yaml
from example import FACTS
from helpers import ROOT, cell
from nbformat.v4 import new_code_cell, new_notebook, writes

from casebook.authoring.chapters import Chapter
from casebook.authoring.checks.evidence import evidence_problems
from casebook.authoring.releases import command, evidence, index, probe
from casebook.authoring.releases.evidence import Entry, Run
from casebook.authoring.releases.index import Release
from casebook.authoring.releases.worker import Answer, Job, perform
from casebook.errors import CasebookError

HERE = f"3.{sys.version_info[1]}"
WHEELS = [  # name, version, day of upload, requirement
    ("tiny-lib", "1.0", "2024-03-01", "part"),
    ("tiny-lib", "1.10", "2025-06-01", "gone"),
    ("part", "1", "2024-01-01", ""),
    ("part", "2", "2025-01-01", ""),
]
BODY = """import part, tiny_lib
assert (tiny_lib.VERSION, part.VERSION) != ('1.0', '2'), 'they do not fit'
print('together')"""
PROBE = cell(BODY, "raises = 'AssertionError'", "match = 'do not fit'")
KEY = probe.Probe("fit", PROBE).key


def wheel(folder, name, version, requirement):
    """A wheel whose module says its version; returns its name."""
    stem = f"{name.replace('-', '_')}-{version}"
    needs = f"Requires-Dist: {requirement}\n" if requirement else ""
    files = {
        f"{name.replace('-', '_')}.py": f"VERSION = {version!r}\n",
        f"{stem}.dist-info/METADATA": (
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
        ),
        f"{stem}.dist-info/WHEEL": (
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join(f"{path},,\n" for path in [*files, record])
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return f"{stem}-py3-none-any.whl"


class Index(http.server.SimpleHTTPRequestHandler):
    """Pages of an index in JSON, and files."""

    def guess_type(self, path):
        return index.ACCEPTED if path.endswith(".html") else "application/zip"

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Address of a package index with WHEELS."""
    folder = tmp_path_factory.mktemp("index")
    files = evidence.gathered(
        (
            name,
            {"filename": file, "url": f"/{file}", "hashes": {}, "upload-time": f"{day}T12:00:00Z"},
        )
        for name, version, day, needs in WHEELS
        for file in [wheel(folder, name, version, needs)]
    )
    for name, found in files.items():
        page = folder / "simple" / name / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": found}))
    handler = functools.partial(Index, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A chapter whose case is about tiny-lib, where no index can be reached."""
    cells = [new_code_cell(f"%%pinned\n{PROBE}", id="fit")]
    (tmp_path / "90-fit.ipynb").write_text(writes(new_notebook(cells=cells)))
    given = {"tiny-lib": {"cpu": "fit", "with": ["part"]}}
    (tmp_path / "90-fit.yml").write_text(yaml.safe_dump(FACTS | {"versions": given}))
    chapter = Chapter(tmp_path / "90-fit.ipynb")
    monkeypatch.setattr(command, "chapters", lambda names: [chapter])
    monkeypatch.setenv("UV_OFFLINE", "1")
    return chapter


@pytest.fixture
def online(address, tmp_path, monkeypatch):
    """uv has our index, and no package yet."""
    monkeypatch.setenv("UV_DEFAULT_INDEX", address)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "packages"))
    for name in ("OFFLINE", "NO_INDEX", "FIND_LINKS", "EXTRA_INDEX_URL", "INDEX_URL"):
        monkeypatch.delenv(f"UV_{name}", raising=False)
    monkeypatch.setattr(index, "PYTHONS", (HERE,))


def entry(release, outcome="", as_of="today", python="3.12", **run):
    """An entry that was run on 2020-02-02, or one that was not."""
    run = Run(outcome=outcome, line="", date="2020-02-02", **{"probe": KEY} | run)
    pins = f"part==1 tiny-lib=={release}"
    return Entry("tiny-lib", release, "2020-01-01", as_of, python, pins, run if outcome else None)


def store(book, *entries):
    for one in entries:
        evidence.store(book, one)
    listed = {one.release: Release("tiny-lib", one.release, one.released, ()) for one in entries}
    evidence.write(book.path.with_name(index.FILE), map(asdict, listed.values()))


def outcomes(book):
    return {(row.release, row.as_of): row.outcome for row in evidence.rows(book)}


def test_each_release_is_run_with_the_packages_of_its_day_and_with_those_of_today(
    book, online, capsys
):
    assert command.versions([]) == 0
    assert outcomes(book) == {
        ("1.0", "release"): "not reproduced",
        ("1.0", "today"): "reproduced",
        ("1.10", "release"): "cannot be installed",
        ("1.10", "today"): "cannot be installed",
    }
    first, second, third, _ = evidence.rows(book)
    assert first.closure == ("part==1", "tiny-lib==1.0")
    assert second.closure == ("part==2", "tiny-lib==1.0")
    assert (first.line, second.line) == ("", "AssertionError: they do not fit")
    assert "gone" in third.line and third.python is None
    assert (first.released, first.driver, first.gpu) == ("2024-03-01", None, None)
    assert list(evidence_problems(book)) == []
    assert "[4/4] 90-fit, tiny-lib" in capsys.readouterr().out

    # A second run has nothing to do; a run over what is missing gives the same file.
    file = evidence.path(book)
    stored, lines = file.read_bytes(), file.read_text().splitlines()
    file.write_text("\n".join(lines[:1] + lines[2:]))
    assert command.versions([]) == 0
    shown = capsys.readouterr().out
    assert "[1/1] 90-fit, tiny-lib 1.0 as of release, cpu: not reproduced" in shown
    assert command.versions([], as_of="today") == 0
    assert "cpu: " not in capsys.readouterr().out
    assert file.read_bytes() == stored


def test_today_is_asked_anew_and_the_day_of_a_release_is_not(book, online, capsys):
    """The index has changed since: what is stored as of today was right then."""
    works = "not reproduced"
    store(book, *(entry("1.0", works, as_of, HERE) for as_of in evidence.AS_OF))
    assert command.versions([], release="1.0") == 0
    assert outcomes(book) == {("1.0", "release"): works, ("1.0", "today"): works}
    assert command.versions([], release="1.0", as_of="today") == 0
    assert outcomes(book) == {("1.0", "release"): works, ("1.0", "today"): "reproduced"}
    assert [row.closure[0] for row in evidence.rows(book)] == ["part==1", "part==2"]
    new = "new: 90-fit, tiny-lib 1.0 as of today, cpu: reproduced, before: not reproduced"
    assert new in capsys.readouterr().out


def test_only_what_is_missing_or_stale_runs(book, monkeypatch):
    """Without an index the stored closures are run; what fails is named, the rest is stored."""
    rows = [("not reproduced", KEY), ("not reproduced", "0"), ("needs another Python", KEY)]
    store(book, *(entry(f"1.{n}", outcome, probe=key) for n, (outcome, key) in enumerate(rows)),
          entry("1.3"), entry("1.4"))  # fmt: skip
    ran = []

    def perform(job):
        ran.append(job.closure[-1])
        if job.closure.endswith("1.3"):
            os.kill(99999999, signal.SIGKILL)  # whatever ends a run, it is only this one
        return [Answer("not reproduced")]

    monkeypatch.setattr(command, "perform", perform)
    assert command.versions([]) == 1
    assert sorted(ran) == ["1", "2", "3", "4"]
    stored = {row.release: row.date == "2020-02-02" for row in evidence.rows(book)}
    assert stored == {"1.0": True, "1.1": False, "1.2": False, "1.4": False}


@pytest.fixture
def works(monkeypatch):
    """Whatever is run works, one after the other."""
    monkeypatch.setattr(command, "perform", lambda job: [Answer("not reproduced")])


def test_what_is_new_is_said(book, works, capsys):
    """An outcome that the release, or a new release's forerunner, did not have."""
    old = [entry(release, "reproduced", probe="0") for release in ("1.2", "1.9")]
    store(book, *old, entry("1.10"), entry("1.10", as_of="release"))
    for release, number in (("newest", "1.10"), ("1.9", "1.9")):
        assert command.versions([], release=release) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if not line.startswith("[")] == [
            f"new: 90-fit, tiny-lib {number} as of today, cpu: not reproduced, before: reproduced"
        ]
    assert outcomes(book)["1.2", "today"] == "reproduced"


def test_a_release_is_compared_with_the_one_right_before_it(book):
    """With the same dependency set; a missing Python is no outcome."""
    fails, works, no_python = "reproduced", "not reproduced", "needs another Python"
    store(
        book,
        entry("1.2", works),
        entry("1.9", fails),
        entry("1.9", works, as_of="release"),
        entry("1.9.1", no_python),
        entry("1.11", works),
    )

    def before(one):
        return command.Place(book, one, None).before("cpu")

    assert before(entry("1.10")) == fails
    assert before(entry("1.10", works)) == works
    assert before(entry("1.10", as_of="release")) == works
    assert before(entry("1.2", no_python)) is None


def test_another_closure_forgets_what_was_run_and_a_result_that_comes_again_keeps_its_day():
    old = entry("1.0", "reproduced")
    assert command.with_closure(old, {"python": "3.12", "closure": old.closure}) == old
    assert command.with_closure(old, {"python": "3.12", "closure": "a==1"}).cpu is None
    asked = probe.Probe("fit", PROBE)
    assert command.with_run(old, "cpu", asked, Answer("reproduced")) == old
    other = command.with_run(old, "cpu", asked, Answer("reproduced", "killed by SIGABRT"))
    assert other.cpu.date == evidence.today()


def test_a_full_disk_is_said_and_ends_nothing(book, works, monkeypatch, capsys):
    store(book, entry("1.0"), entry("1.1"))
    put = evidence.store

    def full(chapter, one):
        if one.release == "1.0":
            raise OSError(errno.ENOSPC, "No space left on device")
        put(chapter, one)

    monkeypatch.setattr(evidence, "store", full)
    assert command.versions([]) == 1
    assert [row.release for row in evidence.rows(book)] == ["1.1"]
    said = capsys.readouterr().out
    assert "1.0 as of today, cpu: could not be stored: No space left on device\n" in said


def test_an_interrupt_loses_nothing_that_came(book, works, monkeypatch, capsys):
    store(book, entry("1.0"), entry("1.1"))

    def each(work, jobs):
        yield 0, work(jobs[0]), ""
        if len(jobs) > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "team", lambda cluster: nullcontext(each))
    assert command.versions([]) == 1
    assert capsys.readouterr().out.endswith("missing: the rest: interrupted at 1 of 2\n")
    assert [row.release for row in evidence.rows(book)] == ["1.0"]


def test_a_case_without_releases_is_said(book):
    with pytest.raises(CasebookError, match="nothing to run"):
        command.versions([])


# --- one environment


def run_one(source, python=HERE, closure="", **more):
    (answer,) = perform(Job("cpu", python, closure, (probe.Probe("cell", source, **more),)))
    return answer


def test_a_python_that_is_not_there_is_an_outcome(monkeypatch):
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    answer = run_one(PROBE, "3.4")
    assert (answer.outcome, answer.line[:17]) == ("needs another Python", "no Python ==3.4.*")


def test_a_hang_ends_with_the_probes_own_limit():
    """Not with the header's 120 s. What is printed before it hangs tells where it hangs."""
    source = cell("import time\nprint('launched', flush=True)\ntime.sleep(99)")
    answer = run_one(source, fails=r"launched\s+still running", works="status 0", seconds=1)
    assert answer.outcome == "reproduced"
    assert answer.line == "launched still running when its time was up"
    assert answer.took.keys() == {"environment", "waiting", "script"}
    assert 1 <= answer.took["script"] < 30


def test_a_package_that_cannot_be_had_says_nothing_about_the_release(monkeypatch, tmp_path):
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("UV_OFFLINE", "1")
    answer = run_one(PROBE, closure="six==1.17.0")
    assert answer.trouble and not answer.outcome


# --- a cluster

CLUSTER = """
import distributed, time
local = distributed.LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None
)
print(local.scheduler_address, flush=True)
time.sleep(600)
"""
SLOW = """
import time
from casebook.authoring.releases.worker import Answer
def perform(job):
    time.sleep(0 if job.closure.endswith("1.0") else 600)
    return [Answer("not reproduced")]
"""


def test_a_scheduler_that_is_lost_takes_nothing_along_that_came(
    book, monkeypatch, tmp_path, capsys
):
    """It dies with its worker as soon as the first result is stored. The rest is named."""
    pytest.importorskip("distributed")
    store(book, entry("1.0"), entry("1.1"), entry("1.2"))
    (tmp_path / "slow.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(command, "perform", importlib.import_module("slow").perform)
    put = evidence.store
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as cluster:
        try:
            monkeypatch.setattr(evidence, "store", lambda *one: (put(*one), cluster.kill()))
            assert command.versions([], cluster=cluster.stdout.readline().strip()) == 1
        finally:
            cluster.kill()
    assert [row.release for row in evidence.rows(book)] == ["1.0"]
    lost = r"(?m)^missing: 90-fit, tiny-lib (.*) as of today, cpu: .* scheduler-connection-lost"
    assert re.findall(lost, capsys.readouterr().out) == ["1.1", "1.2"]

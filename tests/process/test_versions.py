"""`casebook versions` with an index and packages of our own: no network, and no real releases."""

import functools
import http.server
import json
import os
import signal
import sys
import threading
from contextlib import nullcontext
from dataclasses import asdict
from types import SimpleNamespace

import pytest
from example import write_case
from helpers import cell, fake_driver, wheel

from casebook.authoring.checks.evidence import evidence_problems
from casebook.authoring.releases import command, index
from casebook.authoring.releases.executor import executor
from casebook.authoring.releases.index import Release
from casebook.authoring.releases.probe import Probe
from casebook.authoring.releases.worker import Job, perform
from casebook.cells.header import read
from casebook.chapters import evidence
from casebook.chapters.evidence import Entry, Run
from casebook.errors import CasebookError

HERE = f"3.{sys.version_info[1]}"
WHEELS = [  # name, version, day of upload, requirements; a module says its version
    ("tiny-lib", "1.0", "2024-03-01", ["part"]),
    ("tiny-lib", "1.10", "2025-06-01", ["gone"]),
    ("part", "1", "2024-01-01", []),
    ("part", "2", "2025-01-01", []),
]
BODY = """import part, tiny_lib
assert (tiny_lib.VERSION, part.VERSION) != ('1.0', '2'), 'they do not fit'
print('together')"""
SOURCE = cell(BODY, "raises = 'AssertionError'", "match = 'do not fit'")
PROBE = Probe(SOURCE, read(SOURCE))


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
    for name in ("tiny-lib", "part"):
        files = []
        for version, day, requires in (row[1:] for row in WHEELS if row[0] == name):
            module = {f"{name.replace('-', '_')}.py": f"VERSION = {version!r}\n"}
            file = wheel(folder, name, version, module, requires).name
            time = f"{day}T12:00:00Z"
            files.append({"filename": file, "url": f"/{file}", "hashes": {}, "upload-time": time})
        page = folder / "simple" / name / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": files}))
    handler = functools.partial(Index, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A chapter whose case is about tiny-lib, where no index can be reached."""
    given = {"tiny-lib": {"cpu": "probe", "with": ["part"]}}
    chapter = write_case(tmp_path / "90-fit.ipynb", PROBE.source, given)
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


FAILS, WORKS = "reproduced", "not reproduced"


def run(outcome, line="", date="2020-02-02", probe=PROBE.key):
    return Run(outcome=outcome, line=line, date=date, probe=probe)


def entry(release, outcome="", as_of="today", python="3.12", **more):
    """An entry that was run, or one that was not."""
    pins, cpu = f"part==1 tiny-lib=={release}", run(outcome, **more) if outcome else None
    return Entry("tiny-lib", release, "2020-01-01", as_of, python, pins, cpu)


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
        ("1.0", "release"): WORKS,
        ("1.0", "today"): FAILS,
        ("1.10", "release"): evidence.CANNOT,
        ("1.10", "today"): evidence.CANNOT,
    }
    first, second, third, _ = evidence.rows(book)
    assert first.closure == ("part==1", "tiny-lib==1.0")
    assert second.closure == ("part==2", "tiny-lib==1.0")
    assert (first.line, second.line) == ("", "AssertionError: they do not fit")
    assert "gone" in third.line and third.python is None
    assert (first.released, first.driver, first.gpu) == ("2024-03-01", None, None)
    assert list(evidence_problems(book)) == []

    # A run over what is missing or edited gives the same file; one over nothing runs nothing.
    file, stored = evidence.path(book), evidence.path(book).read_text()
    lines = [line for line in stored.splitlines() if "part==1" not in line]
    file.write_text("\n".join(lines))
    assert command.versions([]) == 0
    assert file.read_text() == stored
    capsys.readouterr()
    assert command.versions([], as_of="today") == 0
    assert "cpu: " not in capsys.readouterr().out
    assert file.read_text() == stored


def test_today_is_asked_anew_and_the_day_of_a_release_is_not(book, online, capsys):
    """The index has changed since: what is stored as of today was right then."""
    store(book, *(entry("1.0", WORKS, as_of, HERE) for as_of in evidence.AS_OF))
    for as_of, today in ((None, WORKS), ("today", FAILS)):
        assert command.versions([], release="1.0", as_of=as_of) == 0
        assert outcomes(book) == {("1.0", "release"): WORKS, ("1.0", "today"): today}
    new = "new: 90-fit, tiny-lib 1.0 as of today, cpu: reproduced, before: not reproduced\n"
    assert capsys.readouterr().out.endswith(new)


def test_only_what_is_missing_or_stale_runs(book, monkeypatch):
    """Without an index the stored closures are run; what fails is named, the rest is stored."""
    rows = [entry("1.0", WORKS), entry("1.1", WORKS, probe="0"), entry("1.2", FAILS, probe="0")]
    store(book, *rows, entry("1.3"), entry("1.4"))
    ran = []

    def perform(job):
        ran.append(job.closure[-1])
        if job.closure.endswith("1.3"):
            os.kill(99999999, signal.SIGKILL)  # whatever ends a run, it is only this one
        return [run(WORKS, date=evidence.today())]

    monkeypatch.setattr(command, "perform", perform)
    assert command.versions([]) == 1
    assert sorted(ran) == ["1", "2", "3", "4"]
    stored = {row.release: row.date == "2020-02-02" for row in evidence.rows(book)}
    assert stored == {"1.0": True, "1.1": False, "1.2": False, "1.4": False}


@pytest.fixture
def works(monkeypatch):
    """Whatever is run works."""
    monkeypatch.setattr(command, "perform", lambda job: [run(WORKS, date=evidence.today())])


def test_what_is_new_is_said(book, works, capsys):
    """An outcome that the release, or a new release's forerunner, did not have."""
    old = [entry(release, FAILS, probe="0") for release in ("1.2", "1.9")]
    store(book, *old, entry("1.10"), entry("1.10", as_of="release"))
    for release, number in (("newest", "1.10"), ("1.9", "1.9")):
        assert command.versions([], release=release) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if not line.startswith("[")] == [
            f"new: 90-fit, tiny-lib {number} as of today, cpu: not reproduced, before: reproduced"
        ]
    assert outcomes(book)["1.2", "today"] == FAILS


def test_a_release_is_compared_with_the_one_right_before_it(book):
    """With the same dependency set."""
    ran = {"1.2": WORKS, "1.9": FAILS, "1.9.1": "", "1.10": "", "1.11": WORKS}
    store(book, *(entry(*one) for one in ran.items()), entry("1.9", WORKS, "release"))
    before = [place.before("cpu") for place in command.chosen(book, "tiny-lib", None)]
    assert before == [None, WORKS, WORKS, WORKS, WORKS, WORKS, FAILS, FAILS, FAILS, WORKS]


def test_another_closure_forgets_what_was_run_and_a_result_that_comes_again_keeps_its_day():
    old = entry("1.0", FAILS)
    assert command.with_closure(old, {"python": "3.12", "closure": old.closure}) == old
    assert command.with_closure(old, {"python": "3.12", "closure": "a==1"}).cpu is None
    assert command.with_run(old, "cpu", run(FAILS, date="2026-11-22")) == old
    other = run(FAILS, "killed by SIGABRT", date="2026-11-22")
    assert command.with_run(old, "cpu", other).cpu == other


def test_an_interrupt_loses_nothing_that_came(book, works, monkeypatch, capsys):
    store(book, entry("1.0"), entry("1.1"))

    def each(work, jobs):
        yield 0, work(jobs[0]), ""
        if len(jobs) > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "executor", lambda cluster: nullcontext(each))
    assert command.versions([]) == 1
    assert capsys.readouterr().out.endswith("missing: the rest: interrupted at 1 of 2\n")
    assert outcomes(book) == {("1.0", "today"): WORKS}


def test_a_dask_cluster_does_the_work(book, works):
    distributed = pytest.importorskip("distributed")
    store(book, entry("1.0"), entry("1.1"))
    options = {"n_workers": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        assert command.versions([], cluster=cluster.scheduler_address) == 0
    assert set(outcomes(book).values()) == {WORKS}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("gpu", "--cluster gpu: no Dask scheduler"), ("gpus", "this machine has no NVIDIA GPU")],
)
def test_a_cluster_that_is_not_there_is_said(name, sentence, no_gpu, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setitem(sys.modules, "dask_cuda", SimpleNamespace(LocalCUDACluster=dict))
    with pytest.raises(CasebookError, match=sentence), executor(name):
        pass


def test_a_case_without_releases_is_said(book):
    with pytest.raises(CasebookError, match="nothing to run"):
        command.versions([])


# --- one environment


def run_one(probe, python=HERE, closure="", level="cpu"):
    (answer,) = perform(Job(level, python, closure, (probe,)))
    return answer


def test_a_python_that_is_not_there_says_nothing_about_the_release(monkeypatch):
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    assert run_one(PROBE, "3.4").startswith("no Python ==3.4.*")


def test_a_python_that_is_there_is_asked_first(book, monkeypatch):
    monkeypatch.setattr(command, "missing", lambda python: python != HERE)
    one = Release("tiny-lib", "1.0", "2020-01-01", ("3.9", "3.10", HERE))
    evidence.write(book.path.with_name(index.FILE), [asdict(one)])
    places = list(command.chosen(book, "tiny-lib", None))
    assert [place.question.pythons for place in places] == [(HERE, "3.9", "3.10")] * 2


def test_a_hang_ends_with_the_probes_own_limit():
    """Not with the header's 120 s. What is printed before it hangs tells where it hangs."""
    source = cell("import time\nprint('launched', flush=True)\ntime.sleep(99)")
    answer = run_one(
        Probe(source, read(source), fails=r"launched\s+still running", works="no", seconds=1)
    )
    line = "launched still running when its time was up"
    assert (answer.outcome, answer.line) == (FAILS, line)


def test_a_package_that_cannot_be_had_says_nothing_about_the_release(monkeypatch, tmp_path):
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("UV_OFFLINE", "1")
    answer = run_one(PROBE, closure="six==1.17.0")
    assert isinstance(answer, str) and "six" in answer


def test_a_run_on_a_gpu_names_it_and_its_driver(monkeypatch, tmp_path):
    monkeypatch.setenv("LD_LIBRARY_PATH", fake_driver(tmp_path))
    source = cell("", "gpu = true", "raises = 'ValueError'")
    answer = run_one(Probe(source, read(source)), level="gpu")
    assert (answer.driver, answer.gpu) == ("580.65.06", "NVIDIA Fake")

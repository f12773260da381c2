"""Cases over releases: an index and packages of our own, so that nothing here needs the network or the real releases."""

import errno
import functools
import http.server
import importlib
import os
import re
import signal
import subprocess
import sys
import threading
import zipfile
from contextlib import nullcontext
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from helpers import ROOT, cell

from casebook.authoring.chapters import Chapter, load
from casebook.authoring.releases import command, evidence, index, probe
from casebook.authoring.releases.executor import team
from casebook.authoring.releases.worker import meaning, perform
from casebook.cells.outcome import Expected, Raised
from casebook.errors import CasebookError
from casebook.execution.script import Outcome

# name, version, day of upload, requirements
WHEELS = [
    ("tiny-lib", "1.0", "2024-03-01", ["part"]),
    ("tiny-lib", "1.10", "2025-06-01", ["gone"]),
    ("part", "1", "2024-01-01", []),
    ("part", "2", "2025-01-01", []),
]
PROBE = cell(
    "import part, tiny_lib\nassert (tiny_lib.VERSION, part.VERSION) != ('1.0', '2'), 'they do not fit'\nprint('together')",
    "raises = 'AssertionError'",
    "match = 'do not fit'",
    dependencies=["tiny-lib==1.0"],
)


def wheel(folder, name, version, requires):
    """A wheel whose module says its version."""
    stem, info = (
        f"{name.replace('-', '_')}-{version}",
        f"{name.replace('-', '_')}-{version}.dist-info",
    )
    files = {
        f"{name.replace('-', '_')}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": "\n".join(
            [
                "Metadata-Version: 2.1",
                f"Name: {name}",
                f"Version: {version}",
                *(f"Requires-Dist: {r}" for r in requires),
                "",
            ]
        ),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return f"{stem}-py3-none-any.whl"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Address of a package index with WHEELS."""
    folder = tmp_path_factory.mktemp("index")
    for name, version, day, requires in WHEELS:
        project = folder / "simple" / name
        project.mkdir(parents=True, exist_ok=True)
        file = wheel(project, name, version, requires)
        with (project / "index.html").open("a") as page:
            page.write(f'<a href="{file}" data-upload-time="{day}T12:00:00Z">{file}</a>\n')
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=folder)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()


@pytest.fixture
def book(tmp_path, monkeypatch, address):
    """A chapter whose case is about tiny-lib, with uv at our index."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# They do not fit", id="card"),
            nbformat.v4.new_code_cell(f"%%pinned\n{PROBE}", id="fit"),
        ]
    )
    nbformat.write(notebook, tmp_path / "90-fit.ipynb")
    (tmp_path / "90-fit.yml").write_text(
        yaml.safe_dump({"versions": {"tiny-lib": {"cpu": "fit", "with": ["part"]}}})
    )
    monkeypatch.setenv("UV_DEFAULT_INDEX", address)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "packages"))
    for name in (
        "UV_OFFLINE",
        "UV_NO_INDEX",
        "UV_FIND_LINKS",
        "UV_EXTRA_INDEX_URL",
        "UV_INDEX_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    chapter = Chapter(tmp_path / "90-fit.ipynb")
    monkeypatch.setattr(command, "chapters", lambda names: [chapter])
    monkeypatch.setattr(command, "known", index.releases)
    monkeypatch.setattr(index, "PYTHONS", (f"{sys.version_info[0]}.{sys.version_info[1]}",))
    return chapter


def outcomes(book):
    return {(row.release, row.as_of): row.outcome for row in evidence.rows(book)}


def test_each_release_is_run_with_the_packages_of_its_day_and_with_those_of_today(book, capsys):
    assert command.versions([]) == 0
    assert outcomes(book) == {
        ("1.0", "release"): evidence.NOT_REPRODUCED,
        ("1.0", "today"): evidence.REPRODUCED,
        ("1.10", "release"): evidence.CANNOT,
        ("1.10", "today"): evidence.CANNOT,
    }
    rows = list(evidence.rows(book))
    assert [row.closure for row in rows][:2] == [
        ("part==1", "tiny-lib==1.0"),
        ("part==2", "tiny-lib==1.0"),
    ]
    assert (rows[0].line, rows[1].line) == ("", "AssertionError: they do not fit")
    assert "gone" in rows[2].line and rows[2].python is None
    assert (rows[0].released, rows[0].driver, rows[0].gpu) == ("2024-03-01", None, None)
    assert "[4/4] 90-fit, tiny-lib" in capsys.readouterr().out

    # A second run has nothing to do; a run over what is missing gives the same file.
    file = evidence.path(book)
    first, lines = file.read_bytes(), file.read_text().splitlines()
    file.write_text("\n".join(lines[:1] + lines[2:]))
    assert command.versions([]) == 0
    assert (
        "[1/1] 90-fit, tiny-lib 1.0 as of release, cpu: not reproduced" in capsys.readouterr().out
    )
    assert file.read_bytes() == first
    assert command.versions([], as_of="today") == 0
    assert not re.search("cpu: ", capsys.readouterr().out)
    assert file.read_bytes() == first


def test_today_is_asked_anew_and_the_day_of_a_release_is_not(book, capsys):
    """The index has changed since: what is stored as of today was right then."""
    old = {
        "python": index.PYTHONS[0],
        "closure": "part==1 tiny-lib==1.0",
        "cpu": {
            "outcome": evidence.NOT_REPRODUCED,
            "line": "",
            "date": "2020-02-02",
            "probe": probe.probes(book, "tiny-lib")["cpu"].key,
        },
    }
    for as_of in evidence.AS_OF:
        evidence.store(book, an_entry(as_of=as_of, **old))
    assert command.versions([], release="1.0") == 0
    assert outcomes(book) == {
        ("1.0", "release"): evidence.NOT_REPRODUCED,
        ("1.0", "today"): evidence.NOT_REPRODUCED,
    }
    assert command.versions([], release="1.0", as_of="today") == 0
    assert outcomes(book) == {
        ("1.0", "release"): evidence.NOT_REPRODUCED,
        ("1.0", "today"): evidence.REPRODUCED,
    }
    assert [row.closure[0] for row in evidence.rows(book)] == ["part==1", "part==2"]
    assert (
        "new: 90-fit, tiny-lib 1.0 as of today, cpu: reproduced, before: not reproduced"
        in capsys.readouterr().out
    )


def an_entry(release="1.0", **more):
    return {
        "library": "tiny-lib",
        "release": release,
        "released": "2024-03-01",
        "as_of": "today",
        "python": "3.12",
        "closure": f"tiny-lib=={release}",
    } | more


def test_only_what_is_missing_or_stale_runs(book, monkeypatch):
    """Without an index the stored closures are run; what is lost is said, and everything else is stored."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    key = probe.probes(book, "tiny-lib")["cpu"].key
    was = {"outcome": evidence.NOT_REPRODUCED, "line": "", "date": "2020-02-02", "probe": key}
    for number, cpu in enumerate(
        [was, was | {"probe": "0"}, was | {"outcome": evidence.NO_PYTHON}, None, None]
    ):
        evidence.store(book, an_entry(f"1.{number}", **({"cpu": cpu} if cpu else {})))
    ran = []

    def perform(job):
        ran.append(job["closure"])
        if job["closure"] == "tiny-lib==1.3":
            os.kill(99999999, signal.SIGKILL)  # whatever ends a run, it is only this one
        return {"answers": [{"outcome": evidence.NOT_REPRODUCED, "line": ""}]}

    monkeypatch.setattr(command, "perform", perform)
    assert command.versions([]) == 1
    assert sorted(ran) == ["tiny-lib==1.1", "tiny-lib==1.2", "tiny-lib==1.3", "tiny-lib==1.4"]
    assert [row.release for row in evidence.rows(book)] == ["1.0", "1.1", "1.2", "1.4"]
    assert [row.date == "2020-02-02" for row in evidence.rows(book)] == [True, False, False, False]


def test_a_result_that_comes_again_keeps_its_day():
    cpu = {
        "outcome": evidence.REPRODUCED,
        "line": "killed by SIGSEGV",
        "date": "2020-02-02",
        "probe": "1",
    }
    again = {"outcome": evidence.REPRODUCED, "line": "killed by SIGSEGV"}
    asked = SimpleNamespace(key="1")
    assert command.with_outcome(an_entry(cpu=cpu), "cpu", asked, again) == an_entry(cpu=cpu)
    other = command.with_outcome(
        an_entry(cpu=cpu), "cpu", asked, again | {"line": "killed by SIGABRT"}
    )
    assert other["cpu"]["date"] == command.today()


def test_what_is_new_is_said(book, monkeypatch, capsys):
    """An outcome that the release, or a new release's forerunner, did not have. Only the newest release is run."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    was = {
        "outcome": evidence.REPRODUCED,
        "line": "killed by SIGSEGV",
        "date": "2020-02-02",
        "probe": "0",
    }
    for release, more in (
        ("1.2", {"cpu": was}),
        ("1.9", {"cpu": was}),
        ("1.10", {}),
        ("1.10", {"as_of": "release"}),
    ):
        evidence.store(book, an_entry(release, **more))
    monkeypatch.setattr(
        command,
        "perform",
        lambda job: {"answers": [{"outcome": evidence.NOT_REPRODUCED, "line": ""}]},
    )
    assert command.versions([], release="newest") == 0
    assert [line for line in capsys.readouterr().out.splitlines() if not line.startswith("[")] == [
        "new: 90-fit, tiny-lib 1.10 as of today, cpu: not reproduced, before: reproduced"
    ]
    assert command.versions([], release="1.9") == 0
    assert (
        "new: 90-fit, tiny-lib 1.9 as of today, cpu: not reproduced, before: reproduced"
        in capsys.readouterr().out
    )
    assert outcomes(book)["1.2", "today"] == evidence.REPRODUCED


def test_a_release_is_compared_with_the_one_right_before_it(book):
    """Of the same library, in the same dependency set, at the same level; not with an older one, nor with one that came later."""
    fails, works = (
        {"outcome": outcome, "line": "", "date": "2020-02-02", "probe": "0"}
        for outcome in (evidence.REPRODUCED, evidence.NOT_REPRODUCED)
    )
    for release, more in (
        ("1.2", {"cpu": works}),
        ("1.9", {"cpu": fails, "gpu": works}),
        ("1.9", {"cpu": works, "as_of": "release"}),
        ("1.9", {"cpu": works, "library": "tiny-other"}),
        ("1.11", {"cpu": works}),
    ):
        evidence.store(book, an_entry(release, **more))
    assert command.Place(book, an_entry("1.10")).before("cpu") == evidence.REPRODUCED
    assert command.Place(book, an_entry("1.10")).before("gpu") == evidence.NOT_REPRODUCED
    assert (
        command.Place(book, an_entry("1.10", as_of="release")).before("cpu")
        == evidence.NOT_REPRODUCED
    )
    assert command.Place(book, an_entry("1.2")).before("cpu") is None
    evidence.store(book, an_entry("1.9.1", cpu=works | {"outcome": evidence.NO_PYTHON}))
    assert command.Place(book, an_entry("1.10")).before("cpu") == evidence.REPRODUCED
    assert (
        command.Place(book, an_entry("1.2", cpu=works | {"outcome": evidence.NO_PYTHON})).before(
            "cpu"
        )
        is None
    )


def test_another_closure_forgets_what_was_run_with_the_old_one():
    entry = an_entry(cpu={"outcome": evidence.NOT_REPRODUCED})
    assert command.with_closure(entry, {"python": "3.12", "closure": "tiny-lib==1.0"}) is entry
    assert "cpu" not in command.with_closure(
        entry, {"python": "3.12", "closure": "part==2 tiny-lib==1.0"}
    )


def test_a_full_disk_is_said_and_ends_nothing(book, monkeypatch, capsys):
    monkeypatch.setenv("UV_OFFLINE", "1")
    for release in ("1.0", "1.1"):
        evidence.store(book, an_entry(release))
    store = evidence.store

    def full(chapter, entry):
        if entry["release"] == "1.0":
            raise OSError(errno.ENOSPC, "No space left on device")
        store(chapter, entry)

    monkeypatch.setattr(evidence, "store", full)
    monkeypatch.setattr(
        command,
        "perform",
        lambda job: {"answers": [{"outcome": evidence.NOT_REPRODUCED, "line": ""}]},
    )
    assert command.versions([]) == 1
    assert [row.release for row in evidence.rows(book)] == ["1.1"]
    assert (
        "missing: 90-fit, tiny-lib 1.0 as of today, cpu: could not be stored: No space left on device"
        in capsys.readouterr().out
    )


def test_an_interrupt_loses_nothing_that_came(book, monkeypatch, capsys):
    monkeypatch.setenv("UV_OFFLINE", "1")
    for release in ("1.0", "1.1"):
        evidence.store(book, an_entry(release))

    def team():
        def each(work, jobs):
            yield 0, work(jobs[0])
            if len(jobs) > 1:
                raise KeyboardInterrupt

        return nullcontext(each)

    monkeypatch.setattr(command, "team", lambda cluster=None: team())
    monkeypatch.setattr(
        command,
        "perform",
        lambda job: {"answers": [{"outcome": evidence.NOT_REPRODUCED, "line": ""}]},
    )
    assert command.versions([]) == 1
    assert capsys.readouterr().out.endswith("missing: the rest: interrupted at 1 of 2\n")
    assert [row.release for row in evidence.rows(book)] == ["1.0"]


def test_a_case_without_releases_is_said(book):
    with pytest.raises(CasebookError, match="nothing to run"):
        command.versions([], release="99")


# --- how a probe's end is read

HEADER = SimpleNamespace(expected=Expected("LibError", "two", None, 120, False), timeout=120)
ERROR = Raised("lib.LibError", "takes two\n\nmore")


@pytest.mark.parametrize(
    ("readings", "status", "error", "output", "meaning"),
    [
        (
            {},
            1,
            ERROR,
            "lib.LibError: takes two\nof them\n\nmore\n",
            (evidence.REPRODUCED, "lib.LibError: takes two of them"),
        ),
        (
            {},
            1,
            Raised("lib.LibError", "three"),
            "lib.LibError: three\n",
            (evidence.DIFFERENT, "lib.LibError: three"),
        ),
        ({}, 0, None, "fine\n", (evidence.NOT_REPRODUCED, "")),
        (
            {},
            -11,
            ERROR,
            "lib.LibError: takes two\n",
            (evidence.DIFFERENT, "killed by SIGSEGV"),
        ),
        (
            {"fails": "second"},
            1,
            ERROR,
            "lib.LibError: takes two\n",
            (evidence.DIFFERENT, "lib.LibError: takes two"),
        ),
        ({}, -11, None, "before\n", (evidence.DIFFERENT, "killed by SIGSEGV")),
        ({}, None, None, "", (evidence.DIFFERENT, "still running when its time was up")),
        (
            {"fails": "second +float32", "works": "first"},
            0,
            None,
            "x\na second  float32\n",
            (evidence.REPRODUCED, "a second float32"),
        ),
        ({"fails": "second", "works": "first"}, 0, None, "first\n", (evidence.NOT_REPRODUCED, "")),
        ({"fails": "second", "works": "first"}, 0, None, "third\n", (evidence.DIFFERENT, "third")),
        (
            {"fails": "exit status 0", "works": "AssertionError"},
            0,
            None,
            "",
            (evidence.REPRODUCED, "exit status 0"),
        ),
        (
            {"fails": "exit status 0", "works": "AssertionError"},
            1,
            Raised("AssertionError", ""),
            "AssertionError\n",
            (evidence.NOT_REPRODUCED, ""),
        ),
    ],
)
def test_what_the_end_of_a_probe_means(readings, status, error, output, meaning):
    assert (
        probe.judge(probe.Probe("cell", PROBE, **readings), HEADER, Outcome(status, error, output))
        == meaning
    )


def test_the_key_of_a_probe_changes_with_what_is_run_or_read_and_with_nothing_else():
    key = probe.Probe("cell", PROBE).key
    assert probe.Probe("renamed", PROBE).key == key
    assert (
        probe.Probe(
            "cell", PROBE.replace("tiny-lib==1.0", "tiny-lib==1.1").replace(">=3.11", ">=3.12")
        ).key
        == key
    )
    changed = [
        probe.Probe("cell", PROBE.replace("together", "apart")),
        probe.Probe("cell", PROBE.replace("match = 'do", "match = 'they do")),
        probe.Probe("cell", PROBE, works="x"),
        probe.Probe("cell", PROBE, cuda_home=True),
        probe.Probe("cell", PROBE, seconds=8),
    ]
    assert key not in {other.key for other in changed}


def test_old_releases_get_variables_that_the_header_does_not_set():
    given = probe.Probe(
        "cell", cell("", "env = { ONE = 'mine' }"), env=(("ONE", "theirs"), ("TWO", "{site}/lib"))
    )
    assert given.header("3.12", "").env == {"ONE": "mine", "TWO": "{site}/lib"}
    assert given.key == probe.Probe("cell", given.source).key


def test_the_toolkit_stays_and_the_rest_is_free(tmp_path):
    dependencies = [
        "numba==0.1",
        "numpy==2.4.6",
        "nvidia-cuda-nvcc-cu12==12.9.86",
        "cuda-bindings==12.9.10",
    ]
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("%%pinned\n" + cell("", dependencies=dependencies), id="a")
        ]
    )
    nbformat.write(notebook, tmp_path / "90-x.ipynb")
    given = {
        "cpu": "a",
        "extra": "cu12",
        "with": ["scipy", "cmake==4.4.4", "cuda-bindings==12.9.9"],
    }
    (tmp_path / "90-x.yml").write_text(yaml.safe_dump({"versions": {"numba": given}}))
    asked, kept = probe.template(Chapter(tmp_path / "90-x.ipynb"), "numba")
    assert asked == ("numba[cu12]", "scipy")
    assert kept == ("cmake==4.4.4", "cuda-bindings==12.9.9", "nvidia-cuda-nvcc-cu12==12.9.86")


# --- environments that cannot be had


def job(python, closure="", source=PROBE, level="cpu"):
    return {
        "level": level,
        "python": python,
        "closure": closure,
        "probes": [vars(probe.Probe("cell", source))],
    }


def test_a_python_that_is_not_there_is_an_outcome(monkeypatch):
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    ((answer,),) = perform(job("3.4")).values()
    assert (answer["outcome"], answer["line"][:18]) == (evidence.NO_PYTHON, "no Python ==3.4.* ")


def test_a_hang_ends_with_the_probes_own_limit():
    """Not with the header's 120 s. What is printed before it hangs tells where it hangs."""
    source = cell("import time\nprint('launched', flush=True)\ntime.sleep(99)", dependencies=[])
    hang = vars(
        probe.Probe(
            "cell", source, fails=r"launched\s+still running", works="exit status 0", seconds=1
        )
    )
    ((answer,),) = perform(job("3." + str(sys.version_info[1])) | {"probes": [hang]}).values()
    took = answer.pop("took")
    assert answer == {
        "outcome": evidence.REPRODUCED,
        "line": "launched still running when its time was up",
    }
    assert took.keys() == {"environment", "waiting", "script"} and 1 <= took["script"] < 30


def test_a_package_that_cannot_be_had_says_nothing_about_the_release(monkeypatch, tmp_path):
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("UV_OFFLINE", "1")
    ((answer,),) = perform(job("3." + str(sys.version_info[1]), "six==1.17.0")).values()
    assert answer.keys() == {"trouble", "took"}


# --- the index

FILES = [
    {
        "filename": "a_lib-1.0-cp39-abi3-manylinux_2_28_x86_64.whl",
        "upload-time": "2024-01-03T00:00:00Z",
    },
    {
        "filename": "a_lib-1.0-cp38-cp38-manylinux2014_x86_64.whl",
        "upload-time": "2024-01-01T00:00:00Z",
    },
    {"filename": "a_lib-1.0.tar.gz", "upload-time": "2024-01-02T00:00:00Z"},
    {
        "filename": "a_lib-1.2-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "upload-time": "2025-01-03T00:00:00Z",
    },
    {"filename": "a_lib-1.2-cp310-cp310-linux_x86_64.whl", "upload-time": "2025-01-02T00:00:00Z"},
    {
        "filename": "a_lib-1.10-py3-none-any.whl",
        "upload-time": "2026-01-02T00:00:00Z",
        "requires-python": ">=3.12",
    },
    {
        "filename": "a_lib-1.11-py3-none-any.whl",
        "upload-time": "2026-02-02T00:00:00Z",
        "yanked": "broken",
    },
    {"filename": "a_lib-1.12rc1-py3-none-any.whl", "upload-time": "2026-02-02T00:00:00Z"},
    {
        "filename": "a_lib-1.13-cp312-cp312-macosx_11_0_arm64.whl",
        "upload-time": "2026-02-02T00:00:00Z",
    },
    {
        "filename": "a_lib-1.14-cp312-cp312-musllinux_1_2_x86_64.whl",
        "upload-time": "2026-02-02T00:00:00Z",
    },
]


def page(files):
    """The same list as an index in HTML has it."""
    given = {
        "upload-time": "data-upload-time",
        "requires-python": "data-requires-python",
        "yanked": "data-yanked",
    }
    links = [
        " ".join(
            f'{given[key]}="{value.replace(">", "&gt;")}"'
            for key, value in file.items()
            if key in given
        )
        for file in files
    ]
    return "<html><body>" + "".join(
        f'<a href="/f" {link}>{f["filename"]}</a><br/>'
        for f, link in zip(files, links, strict=True)
    )


@pytest.mark.parametrize("form", ["json", "html"])
def test_the_releases_of_a_library(monkeypatch, form):
    if form == "html":
        read = index.Page()
        read.feed(page(FILES))
        monkeypatch.setattr(index, "files", lambda library: read.files)
    else:
        monkeypatch.setattr(index, "files", lambda library: FILES)
    assert index.releases("a-lib") == [
        index.Release("1.0", "2024-01-03", ("3.12", "3.11", "3.10", "3.9", "3.13")),
        index.Release("1.2", "2025-01-02", ("3.12", "3.10")),
        index.Release("1.10", "2026-01-02", ("3.12", "3.13")),
    ]


# --- many workers

DEADLY = """
import os, signal
def work(job):
    number, flag = job
    if number == 1 and not os.path.exists(flag):
        open(flag, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"number": number}
"""


def test_a_worker_that_is_killed_takes_nothing_along(tmp_path, monkeypatch):
    """A Dask cluster without GPUs, of two processes: what one of them held when it dies is done by the other."""
    distributed = pytest.importorskip("distributed")
    (tmp_path / "deadly.py").write_text(DEADLY)
    monkeypatch.syspath_prepend(tmp_path)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        command = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            cluster.scheduler_address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--local-directory",
            str(tmp_path),
        ]
        workers = [
            subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) for _ in range(2)
        ]
        try:
            with team(cluster.scheduler_address) as each:
                results = dict(
                    each(
                        importlib.import_module("deadly").work,
                        [(number, str(tmp_path / "died")) for number in range(5)],
                    )
                )
            ended = [worker.poll() for worker in workers]
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
    assert results == {number: {"number": number} for number in range(5)}
    assert sorted(ended, key=str) == [-signal.SIGKILL, None]


CLUSTER = """
import distributed, time
local = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None)
print(local.scheduler_address, flush=True)
time.sleep(600)
"""
SLOW = """
import time
def perform(job):
    time.sleep(0 if job["closure"] == "tiny-lib==1.0" else 600)
    return {"answers": [{"outcome": "not reproduced", "line": ""}]}
"""


def test_a_scheduler_that_is_lost_takes_nothing_along_that_came(
    book, monkeypatch, tmp_path, capsys
):
    """It dies with its worker as soon as the first result is stored. The run ends, and says what did not come."""
    pytest.importorskip("distributed")
    monkeypatch.setenv("UV_OFFLINE", "1")
    for release in ("1.0", "1.1", "1.2"):
        evidence.store(book, an_entry(release))
    (tmp_path / "slow.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(command, "perform", importlib.import_module("slow").perform)
    store = evidence.store
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as cluster:
        try:
            monkeypatch.setattr(evidence, "store", lambda *entry: (store(*entry), cluster.kill()))
            assert command.versions([], cluster=cluster.stdout.readline().strip()) == 1
        finally:
            cluster.kill()
    assert [row.release for row in evidence.rows(book)] == ["1.0"]
    said = capsys.readouterr().out
    assert re.findall(
        "(?m)^missing: 90-fit, tiny-lib (.*) as of today, cpu: .* scheduler-connection-lost", said
    ) == ["1.1", "1.2"]


def test_the_probes_that_the_book_names_exist():
    """What a sidecar says of versions: known keys, cells that are there, and for a cell that tells no failure how to read its output."""
    for chapter in load():
        for library in probe.libraries(chapter):
            given = chapter.sidecar["versions"][library]
            assert given.keys() <= {"cpu", "gpu", "with", "extra", "cuda-home", "env"}, (
                chapter.name,
                library,
            )
            assert probe.probes(chapter, library), (chapter.name, library)
            for level, found in probe.probes(chapter, library).items():
                header = found.header("3.12", "")
                assert header.gpu == (level == "gpu"), (chapter.name, library, level)
                told = header.raises or header.signal or header.timeout_expected
                assert told or (found.fails and found.works), (chapter.name, library, level)
                re.compile(found.fails or ""), re.compile(found.works or "")


def test_a_failed_build_is_told_without_the_folder_that_it_was_in():
    sentence = "native/ could not be built in mode host\nThe end:\n  error: Failed to build `arrays @ file:///somewhere/native`\n"
    assert meaning(sentence) == (
        evidence.DIFFERENT,
        "native/ could not be built in mode host: Failed to build `arrays`",
    )

"""Rows of releases: their form, and what their probes mean. Nothing is run."""

import errno
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from unittest.mock import Mock

import pytest
import yaml
from example import write_case
from helpers import cell

from casebook.authoring.checks import problems
from casebook.authoring.checks.card import outdated
from casebook.authoring.releases import index, probe
from casebook.authoring.releases.index import Release
from casebook.authoring.releases.worker import meaning
from casebook.cells.header import BLOCK, Header, read
from casebook.cells.outcome import Raised
from casebook.chapters import evidence, load
from casebook.chapters.evidence import Entry, Run
from casebook.errors import CasebookError, EnvironmentFailure
from casebook.execution.script import Outcome

OPTIONS = "raises = 'LibError'", "match = 'takes two'"
SOURCE = cell("import lib", *OPTIONS, dependencies=["lib==1.0", "nvidia-x==12.1", "numpy==2.4.6"])
PROBE = probe.Probe(SOURCE, read(SOURCE))
CPU = Run(outcome="reproduced", line="LibError: takes two", date="2026-11-21", probe=PROBE.key)
GPU = replace(CPU, outcome="not reproduced", line="", driver="580.159.04", gpu="NVIDIA H200")
ROWS = [
    Entry("lib", "1.0", "2026-01-01", as_of, "3.12", "lib==1.0 numpy==2.4.6", CPU, GPU)
    for as_of in evidence.AS_OF
] + [
    Entry(
        "lib",
        "1.1",
        "2026-02-01",
        as_of,
        cannot="Python 3.12: Because",
        date="2026-11-21",
        asked="lib[x]==1.1 six cmake==4.4.4 nvidia-x==12.1",
    )
    for as_of in evidence.AS_OF
]


@pytest.fixture
def book(tmp_path):
    """A chapter with good rows of a library with two releases."""
    given = {"cpu": "probe", "gpu": "probe", "extra": "x", "with": ["six", "cmake==4.4.4"]}
    chapter = write_case(tmp_path / "90-x.ipynb", SOURCE, {"lib": given})
    for row in reversed(ROWS):
        evidence.store(chapter, row)
    listed = [Release("lib", r.release, r.released, ("3.12", "3.11")) for r in ROWS[::2]]
    evidence.write(tmp_path / index.FILE, map(asdict, listed))
    return chapter


def about_rows(book):
    return [text for text in problems(book) if "versions.json" in text or "releases" in text]


def test_good_rows_and_their_order(book):
    assert about_rows(book) == []
    assert list(evidence.entries(book)) == ROWS
    levels = [(row.release, row.level, row.outcome) for row in evidence.rows(book)]
    assert (
        levels[1::2]
        == [("1.0", "gpu", "not reproduced")] * 2 + [("1.1", "gpu", "cannot be installed")] * 2
    )


PLANTS = yaml.safe_load(Path(__file__).with_name("rows.yml").read_text("utf8"))


@pytest.mark.parametrize("plant", PLANTS)
def test_a_row_that_no_run_stored_is_found(book, plant):
    file = evidence.path(book)
    tables = table = json.loads(file.read_text())
    path, _, value = plant.partition("=")
    *keys, last = (int(key) if key.isdecimal() else key for key in path.split("."))
    for key in keys:
        table = table[key]
    table[last] = json.loads(value or "null")
    if not value:
        del table[last]
    file.write_text(json.dumps(tables))
    assert any(PLANTS[plant] in text for text in about_rows(book)), about_rows(book)


def test_a_file_that_is_cut_off_is_one_sentence(book):
    for file in (evidence.path(book), book.path.with_name(index.FILE)):
        file.write_text(file.read_text()[:-40])
    with pytest.raises(CasebookError, match=r"releases.json: not a list of releases \(.* git"):
        index.stored(book.path.parent)
    (said,) = problems(book)
    assert said.startswith("90-x.versions.json: line 5 is not JSON") and "git" in said


def test_a_full_disk_leaves_what_is_stored(book, monkeypatch):
    monkeypatch.setattr(Path, "replace", Mock(side_effect=OSError(errno.ENOSPC, "No space left")))
    with pytest.raises(EnvironmentFailure, match=r"cannot write to .*: No space"):
        evidence.store(book, replace(ROWS[0], python="3.11"))
    assert about_rows(book) == []


def test_the_key_of_a_probe_changes_with_what_is_run_or_read_and_with_nothing_else():
    new_pins = SOURCE.replace("lib==1.0", "lib==1.1").replace(">=3.11", ">=3.12")
    alike = replace(PROBE, source=new_pins, head=read(new_pins), env=(("ONE", "1"),))
    body = BLOCK.sub("", SOURCE)  # the same cell, in an environment by name
    other = [
        replace(PROBE, head=replace(PROBE.head, match="takes three")),
        replace(PROBE, source=SOURCE.replace("import lib", "import lib as l")),
        replace(PROBE, works="x"),
        replace(PROBE, cuda_home=True),
        replace(PROBE, seconds=8),
    ]
    assert alike.key == replace(PROBE, source=body).key == PROBE.key
    assert len({PROBE.key, *(each.key for each in other)}) == 1 + len(other)

    @dataclass(frozen=True)
    class Newer(Header):
        memory: int = 0

    key, fields = PROBE.key, vars(read(SOURCE))
    for memory in (0, 8):  # a key that headers get later: where it is not set, and where it is
        newer = replace(PROBE, head=Newer(**fields, memory=memory))
        assert (newer.key == key) == (memory == 0)


def test_old_releases_get_variables_that_the_header_does_not_set():
    source = cell("", "env = { ONE = 'mine' }")
    given = probe.Probe(source, read(source), env=(("ONE", "theirs"), ("TWO", "{site}/lib")))
    assert given.header("3.12", "").env == {"ONE": "mine", "TWO": "{site}/lib"}


def test_the_toolkit_stays_and_the_rest_is_free(book):
    asked = probe.question(book, "lib", "1.1", ("3.12",), "2026-02-01")
    assert asked.requirements == ("lib[x]==1.1", "six", "cmake==4.4.4", "nvidia-x==12.1")
    assert asked.undated == ("lib", "cmake", "nvidia-x")


ERROR = Raised("lib.LibError", "takes two\n\nmore")
PRINTED = "lib.LibError: takes two\nof them\n\nmore\n"
OTHER = Raised("AssertionError", "")
PATTERNS = {"fails": "second +float32", "works": "first"}
ENDS = {"fails": "exit status 0", "works": "AssertionError"}


@pytest.mark.parametrize(
    ("patterns", "status", "error", "output", "meant"),
    [
        ({}, 1, ERROR, PRINTED, ("reproduced", "lib.LibError: takes two of them")),
        ({}, 1, replace(ERROR, message="three"), "lib.LibError: three\n",
         ("failed differently", "lib.LibError: three")),
        ({}, 0, None, "fine\n", ("not reproduced", "")),
        ({}, -11, ERROR, PRINTED, ("failed differently", "killed by SIGSEGV")),
        ({}, None, None, "", ("failed differently", "still running when its time was up")),
        (PATTERNS, 0, None, "x\na second  float32\n", ("reproduced", "a second float32")),
        (PATTERNS, 0, None, "first\n", ("not reproduced", "")),
        (PATTERNS, 0, None, "third\n", ("failed differently", "third")),
        (ENDS, 0, None, "", ("reproduced", "exit status 0")),
        (ENDS, 1, OTHER, "AssertionError\n", ("not reproduced", "")),
    ],
)  # fmt: skip
def test_what_the_end_of_a_probe_means(patterns, status, error, output, meant):
    asked = replace(PROBE, **patterns)
    assert probe.judge(asked, asked.template, Outcome(status, error, output)) == meant


def test_a_failed_build_is_told_without_the_folder_that_it_was_in():
    end = "\nThe end:\n  error: Failed to build `arrays @ file:///somewhere/native`\n"
    line = "native/ could not be built in mode host"
    assert meaning(line + end) == ("failed differently", f"{line}: Failed to build `arrays`")


def test_each_probe_of_the_book_is_on_its_level_and_can_show_the_fault():
    for chapter in load():
        for library in probe.libraries(chapter):
            for level, one in probe.probes(chapter, library).items():
                header = one.template
                assert header.gpu == (level == "gpu"), chapter.name
                assert header.raises or header.signal or (one.fails and one.works), chapter.name


FILES = {
    "a_lib-1.0-cp39-abi3-manylinux_2_28_x86_64.whl": "2024-01-03",
    "a_lib-1.0-cp38-cp38-manylinux2014_x86_64.whl": "2024-01-01",
    "a_lib-1.0.tar.gz": "2024-01-02",
    "a_lib-1.2-cp310-cp310-linux_x86_64.whl": "2025-01-02",
    "a_lib-1.2-cp311-cp311-musllinux_1_2_x86_64.whl": "2025-01-01",
    "a_lib-1.10-py3-none-any.whl": "2026-01-02",
    "a_lib-1.11-py3-none-any.whl": "2026-02-02",
    "a_lib-1.12rc1-py3-none-any.whl": "2026-02-02",
}
MORE = {"1.10": {"requires-python": ">=3.12"}, "1.11": {"yanked": "broken"}}


def test_the_releases_of_a_library_are_added_to_the_list(monkeypatch, tmp_path):
    files = [
        {"filename": name, "upload-time": f"{day}T00:00:00Z"} | MORE.get(name.split("-")[1], {})
        for name, day in FILES.items()
    ]
    monkeypatch.setattr(index, "files", lambda library: files)
    withdrawn = Release("a-lib", "0.9", "2023-01-01", ("3.9",))
    evidence.write(tmp_path / index.FILE, [asdict(withdrawn)])
    index.update(tmp_path, "a-lib")
    assert list(index.stored(tmp_path).values()) == [
        withdrawn,
        Release("a-lib", "1.0", "2024-01-03", ("3.12", "3.11", "3.10", "3.9", "3.13")),
        Release("a-lib", "1.2", "2025-01-02", ("3.10",)),
        Release("a-lib", "1.10", "2026-01-02", ("3.12", "3.13")),
    ]


def test_a_release_that_came_out_after_the_last_look_is_found(monkeypatch):
    (chapter,) = load(["16"])
    listed = index.stored(chapter.path.parent)
    monkeypatch.setattr(index, "stored", lambda _: listed)
    assert list(outdated(chapter)) == []
    listed["cupy-cuda12x", "99.1"] = Release("cupy-cuda12x", "99.1", "2026-12-01", ("3.12",))
    (said,) = outdated(chapter)
    assert said.startswith("sums-that-vary: cupy was looked at up to ") and "99.1 is out" in said

"""`prepare` creates what this machine can use, and says at its end what failed or was skipped."""

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from helpers import ROOT, gone, process_ids, wait_until

from casebook import chapters
from casebook.authoring import prepare
from casebook.chapters import lessons
from casebook.environments import gpu
from casebook.errors import DownloadFailure, EnvironmentFailure, MissingPython


@pytest.fixture
def made(monkeypatch):
    """What `prepare` creates and builds, with neither uv nor a compiler.

    `errors`: what is raised for a key; of several, one at each try.
    """
    found = SimpleNamespace(environments=set(), builds=set(), errors={})

    def make(head, into):
        if errors := found.errors.get(head.environment_key):
            raise errors.pop(0)
        found.environments.add(head.environment_key)
        return SimpleNamespace(shared=False, notes=())

    def build(head, made, into):
        found.builds.add((head.build, head.gpu))

    monkeypatch.setattr(gpu, "find", lambda: None)
    monkeypatch.setattr(prepare.create, "make", make)
    monkeypatch.setattr(prepare, "build", build)
    return found


def keys(gpu):
    """Those of the cases and of the lessons."""
    books = [*chapters.load(), *lessons.load()]
    return {head.environment_key for book in books for head in book.headers(gpu=gpu)}


T4 = gpu.Gpu("Tesla T4", "7.5", "550.54.15")


@pytest.mark.parametrize(("found", "every"), [(None, False), (None, True), (T4, False)])
def test_environments_of_gpu_cells_are_made_for_a_gpu_or_when_all_are_wanted(
    made, monkeypatch, capsys, found, every
):
    monkeypatch.setattr(gpu, "find", lambda: found)
    assert prepare.prepare([], every) == 0
    with_gpu = bool(found or every)
    assert made.environments == keys(gpu=with_gpu)
    assert made.builds == {("native", False), ("native", bool(found))}
    assert ("(used only by GPU cells; no NVIDIA GPU found)" in capsys.readouterr().out) != with_gpu


@pytest.mark.parametrize(
    ("errors", "status", "line"),
    [
        ([EnvironmentFailure("full")], 1, "1 environment could not be created:\n  {}: full\n"),
        ([DownloadFailure("no answer")], 0, "again: 1 environment could not be downloaded\n[1/1]"),
        ([DownloadFailure("no answer")] * 2, 1, "could not be created:\n  {}: no answer\n"),
        ([MissingPython("no Python 3.12")], 0, "skipped 1 environment (no Python 3.12)\n"),
    ],
    ids=["fails", "second try", "fails twice", "no Python"],
)
def test_one_that_fails_does_not_stop_the_others(made, capsys, errors, status, line):
    first = chapters.load()[0].headers(gpu=False)[0]
    made.errors[first.environment_key] = list(errors)
    assert prepare.prepare([]) == status
    out = capsys.readouterr().out
    assert line.format(prepare.label(first)) in out
    failed = {first.environment_key} if status or "skipped 1 " in out else set()
    assert made.environments == keys(gpu=False) - failed
    assert out.count(": ready, ") == len(made.environments)


INTERRUPTED = """
import sys; sys.path.insert(0, {root!r})
import subprocess
from casebook.authoring import prepare
from casebook.cells.header import Header
from casebook.environments.guard import guarded_group

def create_one(head, into):
    with guarded_group() as group:
        child = subprocess.Popen(["sleep", "600"], process_group=group)
        with open({told!r}, "a") as file:
            print(child.pid, file=file)
        child.wait()

prepare.create_one = create_one
prepare.create_all([Header("", ())] * 100, None)
"""


def test_an_interrupt_ends_it_and_all_that_it_runs_side_by_side(tmp_path):
    told = tmp_path / "told"
    code = INTERRUPTED.format(root=str(ROOT), told=str(told))
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        assert wait_until(lambda: len(process_ids(told)) > 1)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: process.poll() is not None)
        process.kill()
        assert process.wait() == -signal.SIGINT
    assert wait_until(lambda: all(map(gone, process_ids(told))))

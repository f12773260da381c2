"""`prepare` makes what this machine can use; with --all, every environment of the book, and still compiles nothing for a GPU it lacks."""

import threading
import time
from types import SimpleNamespace

import pytest

from casebook.authoring import chapters, prepare
from casebook.environments import gpu
from casebook.errors import EnvironmentFailure


@pytest.fixture
def made(monkeypatch, no_gpu):
    """What `prepare` makes and builds, with neither uv nor a compiler."""
    found = {"environments": set(), "builds": set()}

    def make(head, report, into):
        found["environments"].add(head.environment_key)
        return SimpleNamespace(shared=False)

    monkeypatch.setattr(prepare.create, "make", make)
    monkeypatch.setattr(
        prepare,
        "build",
        lambda head, made, report, into: found["builds"].add((head.build, head.gpu)),
    )
    return found


def keys(gpu):
    return {head.environment_key for book in chapters.load() for head in book.headers(gpu=gpu)}


def test_without_a_gpu_the_environments_of_gpu_cells_alone_are_left_out(made, capsys):
    assert prepare.prepare([]) == 0
    assert made == {"environments": keys(gpu=False), "builds": {("native", False)}}
    assert "more are for GPU cells alone: not made" in capsys.readouterr().out


def test_all_makes_every_environment_and_builds_for_the_host_alone(made, capsys):
    assert prepare.prepare([], every=True) == 0
    assert made == {"environments": keys(gpu=True), "builds": {("native", False)}}
    assert "not made" not in capsys.readouterr().out


def test_with_a_gpu_it_builds_for_it_too(made):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "find", lambda: gpu.Gpu("Tesla T4", "7.5", "550.54.15"))
        assert prepare.prepare([]) == 0
    assert made == {"environments": keys(gpu=True), "builds": {("native", False), ("native", True)}}


def test_one_that_fails_is_a_sentence_and_the_others_are_made(made, monkeypatch, capsys):
    make, (first, *_) = prepare.create.make, chapters.load()[0].headers(gpu=False)

    def all_but_one(head, *rest):
        if head.environment_key == first.environment_key:
            raise EnvironmentFailure("no network, or no answer")
        return make(head, *rest)

    monkeypatch.setattr(prepare.create, "make", all_but_one)
    assert prepare.prepare([]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[")]
    assert made["environments"] == keys(gpu=False) - {first.environment_key}
    assert [line.partition("]")[0] for line in lines] == [
        f"[{number}/{len(lines)}" for number in range(1, len(lines) + 1)
    ]
    assert len([line for line in lines if line.endswith(" …: no network, or no answer")]) == 1
    assert len([line for line in lines if ": ready, " in line]) == len(lines) - 1


def test_they_are_made_side_by_side_those_that_compile_first(monkeypatch):
    both, begun = threading.Barrier(2, timeout=60), []
    monkeypatch.setattr(
        prepare, "prepare_one", lambda head, into: (begun.append(head.build), both.wait())
    )
    heads = [SimpleNamespace(build=build) for build in (None, None, None, "native")]
    assert len(list(prepare.side_by_side(heads, None))) == 4
    assert "native" in begun[:2]


def test_after_an_interrupt_no_more_begins(monkeypatch):
    begun = []

    def interrupted(head, into):
        begun.append(head)
        time.sleep(0.1)
        raise KeyboardInterrupt

    monkeypatch.setattr(prepare, "prepare_one", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(prepare.side_by_side([SimpleNamespace(build=None)] * 1000, None))
    assert len(begun) < 1000

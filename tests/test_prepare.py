"""`prepare` makes what this machine can use; with --all, every environment of the book, and still compiles nothing for a GPU it lacks."""
from types import SimpleNamespace

import pytest

from casebook import chapters, gpu, prepare


@pytest.fixture
def made(monkeypatch, no_gpu):
    """What `prepare` makes and builds, with neither uv nor a compiler."""
    found = {"environments": set(), "builds": set()}

    def make(head, report, into):
        found["environments"].add(head.environment_key)
        return SimpleNamespace(shared=False)

    monkeypatch.setattr(prepare.environment, "make", make)
    monkeypatch.setattr(prepare, "build", lambda head, made, report, into: found["builds"].add((head.build, head.gpu)))
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

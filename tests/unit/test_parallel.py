"""Chapters spread over a Dask cluster of threads in this process, with a stub for the work."""

import sys
from types import SimpleNamespace

import pytest

from casebook.authoring import parallel
from casebook.authoring.releases.executor import team, workers
from casebook.environments import gpu
from casebook.errors import CasebookError

# Runs in place of `python -m casebook execute NAME`: says begin and end, and the GPUs it sees.
WORK = """
import os, sys, time
def say(word):
    with open(os.environ["DIARY"], "a") as diary:
        diary.write(f"{word} {sys.argv[1]} {os.environ['CUDA_VISIBLE_DEVICES']}\\n")
say("begin")
time.sleep(0.1)
say("end")
print("[IPKernelApp] WARNING | Kernel is running over TCP", file=sys.stderr)
if sys.argv[1] == "02":
    sys.exit("casebook: 02, cell [3]: ValueError")
"""


@pytest.fixture
def diary(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "COMMAND", [sys.executable, "-ISc", WORK])
    monkeypatch.setenv("DIARY", str(tmp_path / "diary"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "diary"


@pytest.fixture(scope="module")
def cluster():
    """Address of a worker that does three jobs at a time."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=3, processes=False, dashboard_address=None
    ) as local:
        yield local.scheduler_address


def chapters(monkeypatch, *gpus):
    """Chapters 01, 02, … whose last cell needs so many GPUs."""
    books = [
        SimpleNamespace(name=f"0{number}", cells=[SimpleNamespace(gpus=count)])
        for number, count in enumerate(gpus, 1)
    ]
    monkeypatch.setattr(parallel.chapters, "load", lambda names: books)


def test_chapters_run_one_on_a_gpu_and_those_that_need_two_after_the_others(
    diary, cluster, monkeypatch, capsys
):
    """One that fails stops no other, and is named in the end."""
    chapters(monkeypatch, 2, 1, 1, 1)
    assert parallel.execute([], cluster) == 1
    lines = diary.read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["begin", "end"] * 4
    assert {line.split(" ", 1)[1] for line in lines} == {"01 3,5", "02 3", "03 3", "04 3"}
    assert lines[-1] == "end 01 3,5"
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in said] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"]
    assert sorted(line.partition(" ")[2] for line in said) == [
        "01: stored, 1 cells",
        "02: NOT stored: casebook: 02, cell [3]: ValueError",
        "03: stored, 1 cells",
        "04: stored, 1 cells",
    ]


def test_the_status_is_zero_when_all_are_stored(diary, cluster, monkeypatch):
    chapters(monkeypatch, 1)
    assert parallel.execute([], cluster) == 0


def test_a_scheduler_that_is_not_there_is_said():
    pytest.importorskip("distributed")
    with pytest.raises(CasebookError, match="--cluster gpu: no Dask scheduler there"), team("gpu"):
        pass


def test_gpus_are_asked_for_where_there_are_some(monkeypatch):
    monkeypatch.setattr(gpu, "find", lambda: gpu.Gpu("a GPU", "9.0", "580.159.04"))
    assert workers(1)["threads_per_worker"] == 1
    monkeypatch.setattr(gpu, "find", lambda: None)
    with pytest.raises(CasebookError, match="no NVIDIA GPU"):
        workers(1)

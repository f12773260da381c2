"""The module behind case 41: sizes that no GPU is filled with, and what a launch takes."""

import importlib.util
import sys
from types import ModuleType, SimpleNamespace

import pytest

from casebook.execution.modules import HELPERS

GPUS = {  # bytes of memory, multiprocessors, threads on each
    "H200": (150_109_880_320, 132, 2048),
    "T4": (15_828_320_256, 40, 1024),
    "RTX 3050": (4_294_967_296, 20, 1536),
}


@pytest.fixture
def module(monkeypatch):
    numba = ModuleType("numba")
    numba.cuda = SimpleNamespace(synchronize=lambda: None)
    monkeypatch.setitem(sys.modules, "numba", numba)
    spec = importlib.util.spec_from_file_location(
        "local_memory", HELPERS / "chapter_41" / "local_memory.py"
    )
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def lend(module, total, multiprocessors, threads):
    """A GPU for the module; what it holds of its memory, which a launch may change."""
    held = {"bytes": 0}
    module._cuda.get_current_device = lambda: SimpleNamespace(
        MULTIPROCESSOR_COUNT=multiprocessors, MAX_THREADS_PER_MULTIPROCESSOR=threads
    )
    module._cuda.current_context = lambda: SimpleNamespace(
        get_memory_info=lambda: SimpleNamespace(total=total, free=total - held["bytes"])
    )
    return held


@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_the_largest_size_needs_between_a_sixteenth_and_an_eighth_of_the_gpu(module, gpu):
    lend(module, *gpu)
    sizes = module.sizes()
    assert sizes == [sizes[0] << shift for shift in range(5)]
    assert 1 / 16 < sizes[-1] * module.resident_threads() / gpu[0] <= 1 / 8
    assert sizes[0] >= 1024


def test_what_a_launch_takes_is_what_is_free_before_and_not_after(module):
    held = lend(module, *GPUS["T4"])

    def launch(more):
        held["bytes"] += more

    assert module.taken({(1, 1): launch}, 5000) == 5000
    assert module.taken({(1, 1): launch}, -2000) == -2000

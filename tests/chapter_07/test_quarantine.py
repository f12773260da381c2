"""Chapter 7's test allocator on host memory: CUDA's runtime is a stub, so no GPU is needed."""

import ctypes
import sys
from types import SimpleNamespace

import pytest

from casebook.execution.modules import FOLDERS

cupy = pytest.importorskip("cupy")
BYTES = 4096


class Host:
    """A block of host memory, as an allocator of CuPy returns it."""

    def __init__(self, size):
        self.bytes, self.device_id = (ctypes.c_char * size)(), 0
        self.ptr = ctypes.addressof(self.bytes)


@pytest.fixture
def watch(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, *map(str, FOLDERS)])
    import quarantine

    stubs = {
        "runtime.memsetAsync": lambda to, value, size, stream: ctypes.memset(to, value, size),
        "runtime.memcpy": lambda to, source, size, kind: ctypes.memmove(to, source, size),
        "runtime.deviceSynchronize": lambda: None,
        "get_current_stream": lambda: SimpleNamespace(ptr=0),
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(f"cupy.cuda.{name}", stub)
    watch = quarantine.Quarantine(Host)
    with cupy.cuda.using_allocator(watch.malloc):
        yield watch


def array():
    return cupy.ndarray((BYTES // 4,), "f4")


def floats(address):
    return (ctypes.c_float * (BYTES // 4)).from_address(address)


def test_poison_comes_when_the_last_view_is_gone(watch):
    a = array()
    address, view = a.data.ptr, a[3:]
    floats(address)[5] = 1
    del a
    assert floats(address)[5] == 1
    del view
    assert all(number != number for number in floats(address))
    assert watch.report() == "nothing was written after its free"


def test_no_block_is_used_twice(watch):
    a = array()
    address = a.data.ptr
    del a
    assert array().data.ptr != address


def test_a_late_write_is_reported_with_the_line_of_the_allocation_once(watch):
    early = array()
    late = cupy.ndarray((BYTES // 4,), "f4")
    address = late.data.ptr
    del early, late
    floats(address)[7] = 5
    report = watch.report()
    assert report.startswith("4 of 4096 bytes written after the free; allocated in line ")
    assert ": late = cupy" in report
    assert watch.report() == "nothing was written after its free"

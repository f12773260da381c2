"""The fake driver of chapter 7: which stream it lets reuse a freed block, call by call."""

import pytest
from helpers import beside_a_built_driver

HEAD = """
import ctypes
import stand_in
cuda, address = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint64

def stream(flags=1):                    # 1: non-blocking
    handle = ctypes.c_void_p()
    cuda.cuStreamCreate(ctypes.byref(handle), flags)
    return handle

def allocate(on):
    block = address()
    cuda.cuMemAllocAsync(ctypes.byref(block), ctypes.c_size_t(4096), on)
    return block

def launch(on):
    cuda.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, on, None, None)

def wait(on, other):
    event = ctypes.c_void_p()
    cuda.cuEventCreate(ctypes.byref(event), 0)
    cuda.cuEventRecord(event, other)
    cuda.cuStreamWaitEvent(on, event, 0)

def free(block, on):
    cuda.cuMemFreeAsync(block, on)

none, a, b = None, stream(), stream()
"""
CASES = {
    "the same stream": ("x = allocate(a); launch(a); free(x, a); allocate(a)", 1),
    "another, while it is busy": ("x = allocate(a); launch(a); free(x, a); allocate(b)", 2),
    "another, when the host has waited": (
        "x = allocate(a); launch(a); free(x, a); cuda.cuStreamSynchronize(a); allocate(b)",
        1,
    ),
    "the host has waited for the wrong stream": (
        "x = allocate(a); launch(a); free(x, a); cuda.cuStreamSynchronize(b); allocate(b)",
        2,
    ),
    "freed on the idle default stream": (
        "x = allocate(a); launch(a); free(x, none); allocate(b)",
        1,
    ),
    "busy since the free only": ("x = allocate(a); free(x, a); launch(a); allocate(b)", 1),
    "behind an event": ("x = allocate(a); launch(a); free(x, a); wait(b, a); allocate(b)", 1),
    "behind an event of before": (
        "x = allocate(a); wait(b, a); launch(a); free(x, a); allocate(b)",
        2,
    ),
    "behind two events": (
        "c = stream(); x = allocate(a); launch(a); free(x, a); wait(c, a); wait(b, c); allocate(b)",
        1,
    ),
    "one stream knows, another asks": (
        "c = stream(); x = allocate(a); launch(a); free(x, a); wait(c, a); allocate(b)",
        2,
    ),
    "blocking streams wait for the default stream": (
        "a, b = stream(0), stream(0); x = allocate(a); launch(a); free(x, none); allocate(b)",
        1,
    ),
    "a non-blocking one does not": (
        "a = stream(0); x = allocate(a); launch(a); free(x, none); allocate(b)",
        2,
    ),
    "when the host has waited for all": (
        "x = allocate(a); launch(a); free(x, a); cuda.cuCtxSynchronize(); allocate(b)",
        1,
    ),
    "cuMemFree waits": (
        "x, y = allocate(a), allocate(a); launch(a); free(x, a); cuda.cuMemFree_v2(y); allocate(b)",
        1,
    ),
}


def calls(script):
    said = beside_a_built_driver(HEAD + script)
    assert all(line.startswith("stand-in:") for line in said)
    return said[1:]


@pytest.mark.parametrize(("script", "block"), CASES.values(), ids=CASES)
def test_which_block_is_allocated(script, block):
    assert f": block {block}" in calls(script)[-1]


def test_a_free_says_whether_its_stream_is_busy():
    said = calls("x, y = allocate(a), allocate(a); launch(a); free(x, a); free(y, none)")
    assert said[-2:] == [
        "stand-in: free block 1 on stream 1, which is busy",
        "stand-in: free block 2 on stream 0, which is idle",
    ]


def test_an_unknown_call_is_refused():
    script = """
function = ctypes.c_void_p()
cuda.cuGetProcAddress(b"cuMemAllocPitch", ctypes.byref(function), 12000, ctypes.c_uint64(0))
print("stand-in:", ctypes.CFUNCTYPE(ctypes.c_int)(function.value)())
"""
    assert calls(script) == ["stand-in: 801"]

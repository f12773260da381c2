"""The fake driver of case 38: which block it gives out, and when a launch is recorded."""

from helpers import beside_a_built_driver

SCRIPT = """
import ctypes
import graph_driver
cuda, blocks = ctypes.CDLL("libcuda.so.1"), [ctypes.c_uint64() for _ in range(3)]

def allocate(block):
    cuda.cuMemAllocFromPoolAsync(ctypes.byref(block), ctypes.c_size_t(8), None, None)

def launch(block):
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(block))
    return cuda.cuLaunchKernelEx(None, None, arguments, None)

allocate(blocks[0])
allocate(blocks[1])
print(launch(blocks[1]), flush=True)
cuda.cuStreamBeginCapture_v2(None, 0)
launch(blocks[1])
cuda.cuStreamEndCapture(None, None)
cuda.cuMemFreeAsync(blocks[0], None)
allocate(blocks[2])
"""


def test_a_launch_is_recorded_only_in_a_capture_and_a_freed_block_comes_next():
    assert beside_a_built_driver(SCRIPT) == [
        "driver: block 1 is given out",
        "driver: block 2 is given out",
        "801",
        "driver: recorded: write to block 2",
        "driver: block 1 is free",
        "driver: block 1 is given out",
    ]

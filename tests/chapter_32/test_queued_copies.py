"""The fake driver of case 32: a queued copy reads when the host waits, another one at once."""

from helpers import beside_a_built_driver

SCRIPT = """
import ctypes
import queued_copies
cuda, (frame, first, second, host) = ctypes.CDLL("libcuda.so.1"), (ctypes.c_int64() for _ in "1234")

def copy(call, to, *stream):
    getattr(cuda, call)(ctypes.byref(to), ctypes.byref(frame), ctypes.c_size_t(8), *stream)

frame.value = 1
copy("cuMemcpyHtoDAsync_v2", first, None)
frame.value = 2
print(first.value, flush=True)
cuda.cuStreamSynchronize(None)
print(first.value, flush=True)
copy("cuMemcpyHtoD_v2", second)
frame.value = 3
copy("cuMemcpyHtoDAsync_v2", first, None)
cuda.cuMemcpyDtoH_v2(ctypes.byref(host), ctypes.byref(first), ctypes.c_size_t(8))
print(host.value, second.value)
"""


def test_a_queued_copy_reads_the_buffer_when_the_host_waits():
    assert beside_a_built_driver(SCRIPT) == [
        "driver: copy 1 is put into the queue",
        "0",
        "driver: the host waits: the queue runs to copy 1",
        "2",
        "driver: the host waits for this copy",
        "driver: copy 2 is put into the queue",
        "3 2",
    ]

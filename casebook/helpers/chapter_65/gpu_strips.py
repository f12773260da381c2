"""A GPU as a device for the module `halo`, with CuPy.

It has two streams, the sweep of chapter 2 as a kernel, and copies between GPUs.
"""

import contextlib as _contextlib

import cupy as _cp

_KERNEL = _cp.RawKernel(
    r"""
extern "C" __global__ void sweep(const double *u, double *v, long long rows, long long columns) {
    long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x + 1;
    for (long long i = blockIdx.y + 1; i < rows - 1; i += gridDim.y)
        if (j < columns - 1) {
            const double *at = u + i * columns + j;
            v[i * columns + j] = 0.25 * (at[-columns] + at[columns] + at[-1] + at[1]);
        }
}""",
    "sweep",
)
_REACHED = set()  # pairs (device, peer) with peer access


def sweep(u, v):
    """One sweep from u to v, contiguous arrays of the current device, on its current stream.

    The edge of v does not change.
    """
    rows, columns = u.shape
    _KERNEL((-(-(columns - 2) // 256), min(rows - 2, 65535)), (256,), (u, v, rows, columns))


class Gpu:
    """A device by its number. After each call the device that was current before is current."""

    def __init__(self, number):
        self.device = _cp.cuda.Device(number)
        with self.device:
            self.streams = [_cp.cuda.Stream(non_blocking=True) for _ in range(2)]

    def put(self, array):
        with self.device:
            there = _cp.asarray(array)
            self.device.synchronize()
        return there

    def get(self, array):
        with self.device:
            self.device.synchronize()
            return _cp.asnumpy(array)

    def sweep(self, u, v, stream):
        with self.device, self.streams[stream]:
            sweep(u, v)

    def copy(self, to, source, stream):
        """With peer access where possible: the bytes then take the link, and not the host."""
        runtime, here, there = _cp.cuda.runtime, self.device.id, source.device.id
        new = here != there and (here, there) not in _REACHED
        with self.device:
            if new and runtime.deviceCanAccessPeer(here, there):
                with _contextlib.suppress(runtime.CUDARuntimeError):  # already enabled elsewhere
                    runtime.deviceEnablePeerAccess(there)
                _REACHED.add((here, there))
            runtime.memcpyPeerAsync(
                to.data.ptr, here, source.data.ptr, there, to.nbytes, self.streams[stream].ptr
            )

    def record(self, stream):
        with self.device:
            event = _cp.cuda.Event(disable_timing=True)
            event.record(self.streams[stream])
        return event

    def wait(self, event, stream):
        with self.device:
            self.streams[stream].wait_event(event)

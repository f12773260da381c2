"""A GPU as the module `halo` wants it, by CuPy: two streams, the sweep of chapter 2 as a kernel, copies between GPUs."""
import cupy as _cp

_KERNEL = _cp.RawKernel(r"""
extern "C" __global__ void sweep(const double *u, double *v, long long rows, long long columns) {
    long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x + 1;
    for (long long i = blockIdx.y + 1; i < rows - 1; i += gridDim.y)
        if (j < columns - 1) {
            const double *at = u + i * columns + j;
            v[i * columns + j] = 0.25 * (at[-columns] + at[columns] + at[-1] + at[1]);
        }
}""", "sweep")


class Gpu:
    """A device by its number. What runs on a stream is made with the device current, and the old device is current again afterwards."""

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
        rows, columns = u.shape
        with self.device, self.streams[stream]:
            _KERNEL((-(-(columns - 2) // 256), min(rows - 2, 65535)), (256,), (u, v, rows, columns))

    def copy(self, to, source, stream):
        with self.device:
            to.data.copy_from_device_async(source.data, to.nbytes, self.streams[stream])

    def record(self, stream):
        with self.device:
            return self.streams[stream].record()

    def wait(self, event, stream):
        with self.device:
            self.streams[stream].wait_event(event)

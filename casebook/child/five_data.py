"""Data, launches and NumPy's answers for the kernels of `five_kernels`, on the GPU."""
import numpy as _numpy

LAUNCHES = 10       # at a time, so that the GPU has work while the host prepares the next launch


def checked(five, old, new):
    """For each kernel: name, {package: function that launches it LAUNCHES times}, bytes that it moves, the limit in seconds or 0, wrong.

    `wrong` has the packages whose first result is not NumPy's, bit for bit. "limit", among the functions, is the driver's copy of one array
    onto another of the same size, for the two kernels that read and write as much. The limit in seconds is that of the matrix product:
    what all float32 units of the GPU need for its multiply-adds at the highest clock, if the GPU is one of compute capability 9.0.
    """
    for name, given, empty, grid, want, moved, flops in _problems():
        launches, wrong = {}, []
        for package, cuda in (("numba-cuda", old), ("numba-cuda-mlir", new)):
            arrays = [cuda.to_device(array) for array in (*given, empty)]
            launch = cuda.jit(five(cuda)[name])[grid]
            launch(*arrays)
            if not _numpy.array_equal(arrays[-1].copy_to_host(), want):
                wrong.append(package)
            launches[package] = _often(launch, arrays)
        if empty.nbytes == given[0].nbytes and not flops:
            target, source = (old.to_device(array) for array in (empty, given[0]))
            launches["limit"] = _often(target.copy_to_device, [source])
        yield name, launches, moved, flops and flops / _peak(old), wrong


def _often(function, arguments):
    def launches():
        for _ in range(LAUNCHES):
            function(*arguments)
    return launches


def _peak(cuda):
    """Float32 operations a second of the current GPU, a multiply-add being two; infinite where the units are not known."""
    device = cuda.get_current_device()
    if device.compute_capability != (9, 0):
        return float("inf")
    return 2 * 128 * device.MULTIPROCESSOR_COUNT * device.CLOCK_RATE * 1e3


def _problems():
    random, n, side = _numpy.random.default_rng(6), 2**27, 8192
    wide, square = (n // 256, 256), ((n // side // 16, side // 16), (16, 16))
    some = (132 * 8, 256)
    a = random.random(n, "float32")
    yield "copy", [a], _numpy.zeros_like(a), wide, a, 2 * a.nbytes, 0
    plate = a.reshape(side, n // side)
    right = _numpy.zeros_like(plate)
    right[1:-1, 1:-1] = _numpy.float32(0.25) * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
    yield "stencil", [plate], _numpy.zeros_like(plate), square, right, 2 * plate.nbytes, 0
    whole = random.integers(0, 10, n, "int32")
    yield "reduction", [whole], _numpy.zeros(1, "int32"), some, [whole.sum()], whole.nbytes, 0
    bytes_ = random.integers(0, 256, n, "uint8")
    yield "histogram", [bytes_], _numpy.zeros(256, "int32"), some, _numpy.bincount(bytes_, minlength=256), bytes_.nbytes, 0
    m = 2048
    left, right = (random.integers(-4, 5, (m, m)).astype("float32") for _ in range(2))      # small whole numbers: sums are exact
    yield "matmul", [left, right], _numpy.zeros((m, m), "float32"), ((m // 16, m // 16), (16, 16)), left @ right, 12 * m * m, 2 * m**3

"""Data, launches and NumPy's answers for the kernels of `five_kernels`, on the GPU."""
import numpy as _numpy


def checked(five, old, new):
    """For each kernel: its name, {package: function that launches it}, bytes it has to move, operations, the limit.

    Each package's first result is compared with NumPy's, bit for bit. The limit is the driver's copy that moves as many bytes; None
    for the matrix product, which is bounded by its multiply-adds.
    """
    for name, given, empty, grid, want, moved, flops in _problems():
        launches = {}
        for package, cuda in (("numba-cuda", old), ("numba-cuda-mlir", new)):
            arrays = [cuda.to_device(array) for array in (*given, empty)]
            launch = cuda.jit(five(cuda)[name])[grid]
            launch(*arrays)
            assert _numpy.array_equal(arrays[-1].copy_to_host(), want), (name, package)
            launches[package] = lambda launch=launch, arrays=arrays: launch(*arrays)
        limit = None if flops else _copy(old, moved // 2)
        yield name, launches, moved, flops, limit


def _problems():
    random, n, side = _numpy.random.default_rng(6), 2**26, 8192
    wide, square = (n // 256, 256), ((side // 16, side // 16), (16, 16))
    some = (132 * 8, 256)
    a = random.random(n, "float32")
    yield "copy", [a], _numpy.zeros_like(a), wide, a, 2 * a.nbytes, 0
    plate, right = a.reshape(side, side), _numpy.zeros((side, side), "float32")
    right[1:-1, 1:-1] = _numpy.float32(0.25) * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
    yield "stencil", [plate], _numpy.zeros_like(plate), square, right, 2 * plate.nbytes, 0
    whole = random.integers(0, 10, n, "int32")
    yield "reduction", [whole], _numpy.zeros(1, "int32"), some, [whole.sum()], whole.nbytes, 0
    bytes_ = random.integers(0, 256, n, "uint8")
    yield "histogram", [bytes_], _numpy.zeros(256, "int32"), some, _numpy.bincount(bytes_, minlength=256), bytes_.nbytes, 0
    m = 2048
    left, right = (random.integers(-4, 5, (m, m)).astype("float32") for _ in range(2))      # small whole numbers: sums are exact
    yield "matmul", [left, right], _numpy.zeros((m, m), "float32"), ((m // 16, m // 16), (16, 16)), left @ right, 12 * m * m, 2 * m**3


def _copy(cuda, size):
    source, target = (cuda.to_device(_numpy.zeros(size, "uint8")) for _ in range(2))
    return lambda: target.copy_to_device(source)

"""Data, launches and NumPy's answers for the kernels of `five_kernels`, on the GPU."""

import numpy as _numpy
from five_kernels import five as _five

LAUNCHES = 10  # at a time, so that the GPU has work while the host prepares the next launch


def alternatives(name, ways, old):
    """Ready to be timed: {which: function that launches a kernel LAUNCHES times}, bytes that it moves, limit in seconds, verdict.

    `ways` has a package's `cuda` and a signature for each. The verdict names those whose first result is not NumPy's, bit for bit. What
    moves bytes is measured against "limit", among the functions: the driver's copy, by numba-cuda, `old`, that reads and writes as many.
    For the matrix product the bytes are 0, and the limit in seconds is what all float32 units of the GPU need for its multiply-adds at the
    highest clock, 0 where their number is not known.
    """
    given, empty, grid, want, moved, flops = _problem(name)
    functions, wrong = {}, []
    for which, (cuda, signature) in ways.items():
        arrays = [cuda.to_device(array) for array in (*given, empty)]
        launch = cuda.jit(signature)(_five(cuda)[name])[grid]
        launch(*arrays)
        if not _numpy.array_equal(arrays[-1].copy_to_host(), want):
            wrong.append(which)
        functions[which] = _often(launch, arrays)
    if moved:
        target, source = (old.to_device(_numpy.zeros(moved // 2, "uint8")) for _ in range(2))
        functions["limit"] = _often(target.copy_to_device, [source])
    return (
        functions,
        LAUNCHES * moved,
        LAUNCHES * flops / _peak(old),
        f"WRONG: {', '.join(wrong)}" if wrong else "as NumPy says",
    )


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


def _problem(name):
    """Arrays to read, one to write, grid, the right result, bytes to move at least or else float operations."""
    random, n, side = _numpy.random.default_rng(6), 2**27, 8192
    wide, square, some = (n // 256, 256), ((n // side // 16, side // 16), (16, 16)), (132 * 8, 256)
    if name == "copy":
        a = random.random(n, "float32")
        return [a], _numpy.zeros_like(a), wide, a, 2 * a.nbytes, 0
    if name == "stencil":
        plate = random.random((side, n // side), "float32")
        right = _numpy.zeros_like(plate)
        right[1:-1, 1:-1] = _numpy.float32(0.25) * (
            plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        )
        return [plate], _numpy.zeros_like(plate), square, right, 2 * plate.nbytes, 0
    if name == "reduction":
        whole = random.integers(0, 10, n, "int32")
        return [whole], _numpy.zeros(1, "int32"), some, [whole.sum()], whole.nbytes, 0
    if name == "histogram":
        values = random.integers(0, 256, n, "uint8")
        return (
            [values],
            _numpy.zeros(256, "int32"),
            some,
            _numpy.bincount(values, minlength=256),
            values.nbytes,
            0,
        )
    m = 2048
    left, right = (
        random.integers(-4, 5, (m, m)).astype("float32") for _ in range(2)
    )  # small whole numbers: sums are exact
    return (
        [left, right],
        _numpy.zeros((m, m), "float32"),
        ((m // 16, m // 16), (16, 16)),
        left @ right,
        0,
        2 * m**3,
    )

"""Data, launches and NumPy's answers for the kernels of `five_kernels`, on the GPU."""

import numpy as _numpy
from five_kernels import five as _five

LAUNCHES = 10  # per measured call, so that the GPU works while the host prepares the next launch


def alternatives(name, ways, old):
    """Functions to time, bytes that they move, and verdict, for one kernel.

    `ways` is {name: (a package's `cuda`, signature)}; each function launches that kernel LAUNCHES
    times. The verdict names those whose first result differs from NumPy's in any bit. For kernels
    that move bytes there is one more function, "limit": the driver's copy, called by numba-cuda
    (`old`), that reads and writes as many. For the matrix product the bytes are 0.
    """
    given, empty, grid, want, moved = _problem(name)
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
        copy = old.cudadrv.driver.device_to_device
        functions["limit"] = _often(copy, [target, source, moved // 2])
    return (
        functions,
        LAUNCHES * moved,
        f"WRONG: {', '.join(wrong)}" if wrong else "as NumPy says",
    )


def _often(function, arguments):
    def launches():
        for _ in range(LAUNCHES):
            function(*arguments)

    return launches


def _problem(name):
    """Arrays to read, one to write, grid, right result, and bytes to move."""
    random, side = _numpy.random.default_rng(6), 8192
    # Two float32 arrays for each way: all must fit into 4 GiB
    n = 2**26 if name in ("copy", "stencil") else 2**27
    wide, square, some = (n // 256, 256), ((n // side // 16, side // 16), (16, 16)), (132 * 8, 256)
    if name == "copy":
        a = random.random(n, "float32")
        return [a], _numpy.zeros_like(a), wide, a, 2 * a.nbytes
    if name == "stencil":
        plate = random.random((side, n // side), "float32")
        right = _numpy.zeros_like(plate)
        right[1:-1, 1:-1] = _numpy.float32(0.25) * (
            plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        )
        return [plate], _numpy.zeros_like(plate), square, right, 2 * plate.nbytes
    if name == "reduction":
        whole = random.integers(0, 10, n, "int32")
        return [whole], _numpy.zeros(1, "int32"), some, [whole.sum()], whole.nbytes
    if name == "histogram":
        values = random.integers(0, 256, n, "uint8")
        counts = _numpy.bincount(values, minlength=256)
        return [values], _numpy.zeros(256, "int32"), some, counts, values.nbytes
    m = 2048
    # Small whole numbers, so that sums are exact
    left, right = (random.integers(-4, 5, (m, m)).astype("float32") for _ in range(2))
    grid, product = ((m // 16, m // 16), (16, 16)), _numpy.zeros((m, m), "float32")
    return [left, right], product, grid, left @ right, 0

"""Small kernels that numba-cuda 0.30.4 compiles and numba-cuda-mlir 0.6.0 does not, for either package's `cuda`."""

ARRAYS = {
    "a complex number == another": "complex128",
    "atomic.cas(out, 0, 0, 1), int32": "int32",
}  # int64 else


def kernels(cuda):
    """{what it is: kernel of (array, result)}."""

    def quotient_and_rest(a, out):
        out[0], out[1] = divmod(a[0], a[1])

    def numbered(a, out):
        for k, x in enumerate(a):
            out[k] = k * x

    def in_pairs(a, out):
        for x, y in zip(a, out):  # noqa: B905
            out[0] += x * y

    def smallest(a, out):
        out[0] = min(a[0], a[1], a[2])

    def reshaped(a, out):
        out[0] = a.reshape((8, 8))[1, 2]

    def equal(a, out):
        if a[0] == a[1]:
            out[0] = a[2]

    def swapped(a, out):
        cuda.atomic.cas(out, 0, 0, 1)

    def optional(a, out):
        if a is not None:
            out[0] = a[0]

    return {
        "divmod(a, b)": quotient_and_rest,
        "enumerate(a)": numbered,
        "zip(a, b)": in_pairs,
        "min(a, b, c)": smallest,
        "a.reshape((8, 8))": reshaped,
        "a complex number == another": equal,
        "atomic.cas(out, 0, 0, 1), int32": swapped,
        "a is not None": optional,
    }

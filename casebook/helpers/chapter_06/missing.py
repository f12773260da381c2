"""Small kernels that numba-cuda 0.30.4 compiles and numba-cuda-mlir 0.6.0 does not.

For either package's `cuda`.
"""

ARRAYS = {  # the type of both arrays of each kernel
    "divmod(a, b)": "int64",
    "enumerate(a)": "int64",
    "zip(a, b)": "int64",
    "min(a, b, c)": "int64",
    "a.reshape((8, 8))": "int64",
    "a complex number == another": "complex128",
    "atomic.cas(out, 0, 0, 1), int32": "int32",
    "a is not None": "int64",
}


def kernels(cuda):
    """{what it uses: kernel of (array, result)}."""

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

    every = (
        quotient_and_rest,
        numbered,
        in_pairs,
        smallest,
        reshaped,
        equal,
        swapped,
        optional,
    )
    return dict(zip(ARRAYS, every, strict=True))

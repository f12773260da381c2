"""Kernels of 256 threads that count bytes in a shared array, under one name or another.

For either package's `cuda`. In the first the array keeps its name; "a byte" is an index of type
uint8.
"""

FORMS = (  # what each counts in
    "part",
    "part, index a byte",
    "part[:256]",
    "other = part, no atomic",
    "other = part",
    "part, t = …, …",
    "count(part, …)",
    "part if … else more",
)


def kernels(cuda):
    """{form: kernel of (256 bytes, 256 counts)}."""
    from numpy import int32, int64  # here, as a cell that needs only FORMS starts faster without

    @cuda.jit(device=True)
    def count(where, k):
        cuda.atomic.add(where, k, 1)

    def own(a, out):
        part = cuda.shared.array(256, int32)
        t = cuda.threadIdx.x
        part[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(part, int64(a[t]), 1)
        cuda.syncthreads()
        out[t] = part[t]

    def by_a_byte(a, out):
        part = cuda.shared.array(256, int32)
        t = cuda.threadIdx.x
        part[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(part, a[t], 1)
        cuda.syncthreads()
        out[t] = part[t]

    def of_a_slice(a, out):
        part = cuda.shared.array(256, int32)
        t, other = cuda.threadIdx.x, part[:256]
        part[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(other, int64(a[t]), 1)
        cuda.syncthreads()
        out[t] = part[t]

    def without_an_atomic(a, out):
        part = cuda.shared.array(256, int32)
        t, other = cuda.threadIdx.x, part
        part[t] = 0
        cuda.syncthreads()
        other[int64(a[t])] += 1
        cuda.syncthreads()
        out[t] = part[t]

    def other_name(a, out):
        part = cuda.shared.array(256, int32)
        other = part
        t = cuda.threadIdx.x
        part[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(other, int64(a[t]), 1)
        cuda.syncthreads()
        out[t] = part[t]

    def of_a_line(a, out):
        part, t = cuda.shared.array(256, int32), cuda.threadIdx.x
        part[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(part, t, 1)
        cuda.syncthreads()
        out[t] = part[t]

    def passed(a, out):
        part = cuda.shared.array(256, int32)
        t = cuda.threadIdx.x
        part[t] = 0
        cuda.syncthreads()
        count(part, int64(a[t]))
        cuda.syncthreads()
        out[t] = part[t]

    def chosen(a, out):
        part = cuda.shared.array(256, int32)
        more = cuda.shared.array(256, int32)
        t = cuda.threadIdx.x
        part[t] = 0
        cuda.syncthreads()
        where = part if a[0] == 0 else more
        cuda.atomic.add(where, int64(a[t]), 1)
        cuda.syncthreads()
        out[t] = part[t]

    every = own, by_a_byte, of_a_slice, without_an_atomic, other_name, of_a_line, passed, chosen
    return dict(zip(FORMS, every, strict=True))

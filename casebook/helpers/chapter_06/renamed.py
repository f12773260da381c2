"""Kernels of 256 threads that count bytes in a shared array, which they call by one name or another, for either package's `cuda`."""

import numpy as _numpy


def kernels(cuda):
    """{what it counts in: kernel of (256 bytes, 256 counts)}. In the first the array keeps its name; "a byte" is an index of type uint8."""
    int32, int64 = _numpy.int32, _numpy.int64

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

    return {
        "part": own,
        "part, index a byte": by_a_byte,
        "part[:256]": of_a_slice,
        "other = part, no atomic": without_an_atomic,
        "other = part": other_name,
        "part, t = …, …": of_a_line,
        "count(part, …)": passed,
        "part if … else more": chosen,
    }

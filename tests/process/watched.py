"""Sixty small Numba CUDA kernels, thirty of them faulty, to judge a kernel checker by.

A faulty kernel holds one fault. `where` names the lines (or the array) of which a finding must
name at least one; a text that occurs twice is at fault at both places. A right kernel's `launch()`
returns what the kernel computed and what NumPy expects. A barrier after an early return is right
because a GPU since Volta waits only for the threads that have not ended. For the same reason the
threads that miss a barrier here go on to wait at another one.
"""

# The formatter would break every entry into ten lines.
# fmt: off
from dataclasses import dataclass

HEAD = "import numpy as np\nfrom numba import cuda, float32, float64, int32, int64\n\n\n"


@dataclass(frozen=True)
class Watched:
    """One kernel, its launch, and its known fault (None for a right kernel)."""

    name: str
    fault: str | None
    where: tuple[str, ...]
    kernel: str
    arrays: str
    call: str
    result: str = "None, None"

    @property
    def source(self) -> str:
        """Python text that defines `kernel` and `launch()`."""
        kernel = self.kernel.strip().replace("def kernel", "@cuda.jit\ndef kernel")
        lines = (*self.arrays.split("; "), self.call, f"return {self.result}")
        return HEAD + kernel + "\n\n\ndef launch():\n" + "".join(f"    {x}\n" for x in lines)


X32 = "x = np.arange(1.0, 33.0); y = np.zeros(32)"
X64 = "x = np.arange(1.0, 65.0); y = np.zeros(64)"

RACES = [
    Watched("no barrier after write", "race", ("s[i] = x[i]", "y[i] = s[63 - i]"), """
def kernel(x, y):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    y[i] = s[63 - i]
""", X64, "kernel[1, 64](x, y)"),
    Watched("no barrier before reuse", "race", ("s[i] = x[start + i]", "total += s[k] * i"), """
def kernel(x, y):
    s = cuda.shared.array(32, float64)
    i = cuda.threadIdx.x
    total = 0.0
    for start in range(0, x.size, 32):
        s[i] = x[start + i]
        cuda.syncthreads()
        for k in range(32):
            total += s[k] * i
    y[i] = total
""", "x = np.arange(64.0); y = np.zeros(32)", "kernel[1, 32](x, y)"),
    Watched("neighbours in place", "race", ("x[i] += x[i + 1]",), """
def kernel(x):
    i = cuda.grid(1)
    if i < x.size - 1:
        x[i] += x[i + 1]
""", "x = np.arange(64.0)", "kernel[1, 64](x)"),
    Watched("plain histogram", "race", ("counts[x[i]] += 1",), """
def kernel(x, counts):
    i = cuda.grid(1)
    if i < x.size:
        counts[x[i]] += 1
""", "x = np.arange(60) % 7; counts = np.zeros(7, np.int64)", "kernel[2, 32](x, counts)"),
    Watched("maximum by compare and write", "race", ("if x[i] > top[0]:", "top[0] = x[i]"), """
def kernel(x, top):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] > top[0]:
            top[0] = x[i]
""", "x = np.sin(np.arange(50.0)); top = np.full(1, -2.0)", "kernel[2, 32](x, top)"),
    Watched("last one writes its place", "race", ("found[0] = i",), """
def kernel(x, found):
    i = cuda.grid(1)
    if i < x.size and x[i] < 0:
        found[0] = i
""", "x = np.cos(np.arange(40.0)); found = np.full(1, -1)", "kernel[2, 32](x, found)"),
    Watched("reduction without a barrier inside", "race", ("s[i] += s[i + step]",), """
def kernel(x, y):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if i < step:
            s[i] += s[i + step]
        step //= 2
    if i == 0:
        y[0] = s[0]
""", X64, "kernel[1, 64](x, y)"),
    Watched("sections overlap by one", "race", ("x[k] *= 2.0",), """
def kernel(x):
    i = cuda.grid(1)
    for k in range(4 * i, min(4 * i + 5, x.size)):
        x[k] *= 2.0
""", "x = np.ones(30)", "kernel[1, 8](x)"),
    Watched("two blocks write the border", "race", ("y[i] = x[i]", "y[i - 1] = 0.0"), """
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x > 0:
        y[i - 1] = 0.0
""", X64, "kernel[2, 32](x, y)"),
    Watched("atomic sum read by another block", "race",
            ("cuda.atomic.add(total, 0, x[i])", "y[i] = x[i] / total[0]"), """
def kernel(x, total, y):
    i = cuda.grid(1)
    cuda.atomic.add(total, 0, x[i])
    cuda.syncthreads()
    y[i] = x[i] / total[0]
""", X64 + "; total = np.zeros(1)", "kernel[2, 32](x, total, y)"),
    Watched("shared counter", "race", ("s[0] += 1",), """
def kernel(x, n):
    s = cuda.shared.array(1, int32)
    i = cuda.threadIdx.x
    if i == 0:
        s[0] = 0
    cuda.syncthreads()
    if x[i] > 5:
        s[0] += 1
    cuda.syncthreads()
    if i == 0:
        n[0] = s[0]
""", "x = np.arange(32.0); n = np.zeros(1, np.int32)", "kernel[1, 32](x, n)"),
    Watched("last tile only", "race", ("s[i] = x[start + i]", "y[start + i] = s[15 - i]"), """
def kernel(x, y):
    s = cuda.shared.array(16, float64)
    i = cuda.threadIdx.x
    for start in range(0, x.size, 16):
        s[i] = x[start + i]
        if start + 16 < x.size:
            cuda.syncthreads()
        y[start + i] = s[15 - i]
        cuda.syncthreads()
""", X64, "kernel[1, 16](x, y)"),
]

BARRIERS = [
    Watched("barrier under the guard", "barrier", ("cuda.syncthreads()",), """
def kernel(x, y):
    s = cuda.shared.array(32, float64)
    i = cuda.threadIdx.x
    if i < x.size:
        s[i] = x[i]
        cuda.syncthreads()
    else:
        s[i] = 0.0
    cuda.syncthreads()
    y[i] = s[31 - i]
""", "x = np.arange(20.0); y = np.zeros(32)", "kernel[1, 32](x, y)"),
    Watched("barriers as many as the thread says", "barrier", ("cuda.syncthreads()",), """
def kernel(x, y):
    i = cuda.threadIdx.x
    for k in range(i % 3 + 1):
        y[i] += x[k]
        cuda.syncthreads()
    cuda.syncthreads()
    y[i] *= 2.0
""", X32, "kernel[1, 32](x, y)"),
    Watched("a barrier in each branch", "barrier", ("cuda.syncthreads()",), """
def kernel(x, y):
    i = cuda.threadIdx.x
    if x[i] > 9.0:
        y[i] = x[i] - 9.0
        cuda.syncthreads()
    else:
        y[i] = x[i] + 9.0
        cuda.syncthreads()
""", X32, "kernel[1, 32](x, y)"),
    Watched("break before the barrier", "barrier", ("cuda.syncthreads()",), """
def kernel(x, y):
    i = cuda.threadIdx.x
    value = x[i]
    while True:
        value = value / 2.0
        if value < 1.0:
            break
        cuda.syncthreads()
    cuda.syncthreads()
    y[i] = value
""", X32, "kernel[1, 32](x, y)"),
]

UNSET = [
    Watched("sum onto unset memory", "unset", ("s[i] += x[k]",), """
def kernel(x, y):
    s = cuda.shared.array(16, float64)
    i = cuda.threadIdx.x
    for k in range(i, x.size, 16):
        s[i] += x[k]
    y[i] = s[i]
""", "x = np.ones(50); y = np.zeros(16)", "kernel[1, 16](x, y)"),
    Watched("tail of the tile", "unset", ("total += s[k]",), """
def kernel(x, y):
    s = cuda.shared.array(32, float64)
    i = cuda.grid(1)
    if i < x.size:
        s[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total = 0.0
        for k in range(32):
            total += s[k]
        y[cuda.blockIdx.x] = total
""", "x = np.ones(50); y = np.zeros(2)", "kernel[2, 32](x, y)"),
    Watched("counter never zeroed", "unset", ("cuda.atomic.add(s, x[i], 1)",), """
def kernel(x, counts):
    s = cuda.shared.array(4, int32)
    i = cuda.threadIdx.x
    cuda.atomic.add(s, x[i], 1)
    cuda.syncthreads()
    if i < 4:
        counts[i] = s[i]
""", "x = np.arange(32) % 4; counts = np.zeros(4, np.int32)", "kernel[1, 32](x, counts)"),
    Watched("halo never filled", "unset", ("y[i] = s[i] + s[i + 1] + s[i + 2]",), """
def kernel(x, y):
    s = cuda.shared.array(34, float64)
    i = cuda.threadIdx.x
    s[i + 1] = x[i]
    cuda.syncthreads()
    y[i] = s[i] + s[i + 1] + s[i + 2]
""", X32, "kernel[1, 32](x, y)"),
]

OUTSIDE = [
    Watched("no guard", "outside", ("y[i] = 2.0 * x[i]",), """
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = 2.0 * x[i]
""", "x = np.ones(50); y = np.zeros(50)", "kernel[2, 32](x, y)"),
    Watched("guard lets one more in", "outside", ("x[i] = i",), """
def kernel(x):
    i = cuda.grid(1)
    if i <= x.size:
        x[i] = i
""", "x = np.zeros(45)", "kernel[2, 32](x)"),
    Watched("far below zero", "outside", ("y[i] = x[i] - x[i - lag]",), """
def kernel(x, y, lag):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i] - x[i - lag]
""", X32, "kernel[1, 32](x, y, 40)"),
    Watched("axes swapped in the guard", "outside", ("a[i, j] += 1.0",), """
def kernel(a):
    i, j = cuda.grid(2)
    if i < a.shape[1] and j < a.shape[0]:
        a[i, j] += 1.0
""", "a = np.zeros((3, 8))", "kernel[1, (8, 8)](a)"),
    Watched("shared tile without room for the halo", "outside", ("s[i + 1] = x[i]",), """
def kernel(x, y):
    s = cuda.shared.array(32, float64)
    i = cuda.threadIdx.x
    s[i + 1] = x[i]
    if i == 0:
        s[0] = x[0]
    cuda.syncthreads()
    y[i] = s[i]
""", X32, "kernel[1, 32](x, y)"),
    Watched("stride runs past the end", "outside", ("y[i] = x[3 * i]",), """
def kernel(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[3 * i]
""", "x = np.ones(60); y = np.zeros(24)", "kernel[1, 32](x, y)"),
]

LAUNCHES = [
    Watched("no block for no data", "launch", ("kernel[(x.size + 31) // 32, 32](x)",), """
def kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 0.0
""", "x = np.ones(0)", "kernel[(x.size + 31) // 32, 32](x)"),
    Watched("1056 threads in a block", "launch", ("kernel[1, (33, 32)](a)",), """
def kernel(a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] = i - j
""", "a = np.zeros((33, 32))", "kernel[1, (33, 32)](a)"),
    Watched("shared array as long as the input", "shared size",
            ("s = cuda.shared.array(x.size, float64)",), """
def kernel(x, y):
    s = cuda.shared.array(x.size, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    y[i] = s[x.size - 1 - i]
""", X32, "kernel[1, 32](x, y)"),
    Watched("shared array above 48 KiB", "shared size",
            ("s = cuda.shared.array((80, 80), float64)",), """
def kernel(x, y):
    s = cuda.shared.array((80, 80), float64)
    i = cuda.threadIdx.x
    s[i, i] = x[i]
    y[i] = s[i, i]
""", X32, "kernel[1, 32](x, y)"),
]

RIGHT = [
    Watched("guard", None, (), """
def kernel(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2.0 * x[i]
""", "x = np.arange(50.0); y = np.zeros(50)", "kernel[2, 32](x, y)", "y, 2 * x"),
    Watched("grid stride", None, (), """
def kernel(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = x[i] * x[i]
""", "x = np.arange(101.0); y = np.zeros(101)", "kernel[2, 16](x, y)", "y, x * x"),
    Watched("two axes", None, (), """
def kernel(a, b):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        b[i, j] = a[i, j] + 10 * i + j
""", "a = np.ones((5, 7)); b = np.zeros((5, 7))", "kernel[(2, 2), (4, 4)](a, b)",
            "b, a + 10 * np.arange(5)[:, None] + np.arange(7)"),
    Watched("reduction in each block", None, (), """
def kernel(x, sums):
    s = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    step = 16
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = s[0]
""", "x = np.arange(45.0); sums = np.zeros(2)", "kernel[2, 32](x, sums)",
            "sums, np.array([x[:32].sum(), x[32:].sum()])"),
    Watched("tiled product", None, (), """
def kernel(a, b, c):
    p = cuda.shared.array((4, 4), float64)
    q = cuda.shared.array((4, 4), float64)
    i, j = cuda.grid(2)
    u, v = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for start in range(0, 8, 4):
        p[u, v] = a[i, start + v]
        q[u, v] = b[start + u, j]
        cuda.syncthreads()
        for k in range(4):
            total += p[u, k] * q[k, v]
        cuda.syncthreads()
    c[i, j] = total
""", "a = np.arange(64.0).reshape(8, 8); b = np.sin(a); c = np.zeros((8, 8))",
            "kernel[(2, 2), (4, 4)](a, b, c)", "c, a @ b"),
    Watched("smooth with a halo", None, (), """
def kernel(x, y):
    s = cuda.shared.array(34, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t + 1] = x[i]
    if t == 0:
        s[0] = x[max(i - 1, 0)]
    if t == 31:
        s[33] = x[min(i + 1, x.size - 1)]
    cuda.syncthreads()
    y[i] = s[t] + s[t + 1] + s[t + 2]
""", X64, "kernel[2, 32](x, y)",
            "y, np.convolve(np.pad(x, 1, 'edge'), np.ones(3), 'valid')"),
    Watched("atomic sum", None, (), """
def kernel(x, total):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(total, 0, x[i])
""", "x = np.arange(50.0); total = np.zeros(1)", "kernel[2, 32](x, total)", "total, x.sum()"),
    Watched("atomic maximum by column", None, (), """
def kernel(a, top):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        cuda.atomic.max(top, j, a[i, j])
""", "a = np.sin(np.arange(35.0)).reshape(7, 5); top = np.full(5, -2.0)",
            "kernel[1, (8, 8)](a, top)", "top, a.max(0)"),
    Watched("places taken by an atomic counter", None, (), """
def kernel(x, kept, n):
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        kept[cuda.atomic.add(n, 0, 1)] = x[i]
""", "x = np.cos(np.arange(40.0)); kept = np.zeros(40); n = np.zeros(1, np.int32)",
            "kernel[2, 32](x, kept, n)", "np.sort(kept[:n[0]]), np.sort(x[x > 0])"),
    Watched("shared histogram", None, (), """
def kernel(x, counts):
    s = cuda.shared.array(5, int32)
    t = cuda.threadIdx.x
    if t < 5:
        s[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(s, x[i], 1)
    cuda.syncthreads()
    if t < 5:
        cuda.atomic.add(counts, t, s[t])
""", "x = np.arange(57) ** 2 % 5; counts = np.zeros(5, np.int32)", "kernel[2, 32](x, counts)",
            "counts, np.bincount(x, minlength=5)"),
    Watched("transpose through a tile", None, (), """
def kernel(a, b):
    s = cuda.shared.array((4, 5), float64)
    u, v = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.blockIdx.x * 4, cuda.blockIdx.y * 4
    s[u, v] = a[i + u, j + v]
    cuda.syncthreads()
    b[j + u, i + v] = s[v, u]
""", "a = np.arange(64.0).reshape(8, 8); b = np.zeros((8, 8))",
            "kernel[(2, 2), (4, 4)](a, b)", "b, a.T"),
    Watched("transpose in place", None, (), """
def kernel(a):
    i, j = cuda.grid(2)
    if i < j and j < a.shape[1]:
        a[i, j], a[j, i] = a[j, i], a[i, j]
""", "a = np.arange(49.0).reshape(7, 7); before = a.copy()", "kernel[1, (8, 8)](a)", "a, before.T"),
    Watched("two buffers in turn", None, (), """
def kernel(x, y):
    s = cuda.shared.array((2, 32), float64)
    i = cuda.threadIdx.x
    s[0, i] = x[i]
    cuda.syncthreads()
    for k in range(5):
        s[(k + 1) % 2, i] = s[k % 2, i] - s[k % 2, (i + 1) % 32]
        cuda.syncthreads()
    y[i] = s[1, i]
""", "x = np.sin(np.arange(32.0)); y = np.zeros(32)", "kernel[1, 32](x, y)",
            "y, np.linalg.matrix_power(np.eye(32) - np.roll(np.eye(32), 1, 1), 5) @ x"),
    Watched("prefix sum", None, (), """
def kernel(x, y):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    step = 1
    while step < 64:
        left = s[i - step] if i >= step else 0.0
        cuda.syncthreads()
        s[i] += left
        cuda.syncthreads()
        step *= 2
    y[i] = s[i]
""", X64, "kernel[1, 64](x, y)", "y, np.cumsum(x)"),
    Watched("barrier in every round", None, (), """
def kernel(x, y, rounds):
    i = cuda.threadIdx.x
    for k in range(rounds):
        y[i] = x[(i + 1) % x.size]
        cuda.syncthreads()
        x[i] = y[i]
        cuda.syncthreads()
""", X32 + "; before = x.copy()", "kernel[1, 32](x, y, 3)", "x, np.roll(before, -3)"),
    Watched("one block takes the branch", None, (), """
def kernel(x, y):
    s = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    y[i] = x[i]
    if cuda.blockIdx.x == 1:
        s[t] = x[i]
        cuda.syncthreads()
        y[i] = s[31 - t]
""", X64, "kernel[2, 32](x, y)", "y, np.concatenate((x[:32], x[:31:-1]))"),
    Watched("device function", None, (), """
@cuda.jit(device=True)
def swap(a, i, j):
    a[i], a[j] = a[j], a[i]


def kernel(x):
    i = cuda.grid(1)
    if 2 * i + 1 < x.size:
        swap(x, 2 * i, 2 * i + 1)
""", "x = np.arange(24.0); before = x.copy()", "kernel[1, 16](x)",
            "x, before.reshape(-1, 2)[:, ::-1].ravel()"),
    Watched("local array", None, (), """
def kernel(x, y):
    i = cuda.grid(1)
    last = cuda.local.array(3, float64)
    for k in range(3):
        last[k] = x[i] ** k
    y[i] = last[0] + last[1] + last[2]
""", X32, "kernel[2, 16](x, y)", "y, 1 + x + x * x"),
    Watched("nothing to do", None, (), """
def kernel(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
""", "x = np.ones(0); y = np.zeros(0)", "kernel[1, 32](x, y)", "y, x"),
    Watched("own element on several lines", None, (), """
def kernel(x):
    i = cuda.grid(1)
    x[i] += 1.0
    x[i] = x[i] * x[i]
    if x[i] > 100.0:
        x[i] = 100.0
    x[i] -= 1.0
""", "x = np.arange(32.0); before = x.copy()", "kernel[2, 16](x)",
            "x, np.minimum((before + 1) ** 2, 100) - 1"),
    Watched("all read one element", None, (), """
def kernel(x, scale, y):
    s = cuda.shared.array(1, float64)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        s[0] = x[0]
    cuda.syncthreads()
    y[i] = x[i] * scale[0] + s[0]
""", X64 + "; scale = np.full(1, 3.0)", "kernel[2, 32](x, scale, y)", "y, 3 * x + 1"),
    Watched("dynamic shared memory", None, (), """
def kernel(x, y):
    s = cuda.shared.array(0, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    y[i] = s[x.size - 1 - i]
""", X32, "kernel[1, 32, 0, 8 * x.size](x, y)", "y, x[::-1]"),
    Watched("early return", None, (), """
def kernel(x, y):
    i = cuda.grid(1)
    if i >= x.size:
        return
    if x[i] < 9:
        y[i] = -x[i]
        return
    y[i] = x[i]
""", "x = np.arange(40); y = np.zeros(40, np.int64)", "kernel[2, 32](x, y)",
            "y, np.where(x < 9, -x, x)"),
    Watched("early return before a barrier", None, (), """
def kernel(x, y):
    s = cuda.shared.array(32, float64)
    i = cuda.threadIdx.x
    if i >= x.size:
        return
    s[i] = x[i]
    cuda.syncthreads()
    y[i] = s[x.size - 1 - i]
""", "x = np.arange(20.0); y = np.zeros(20)", "kernel[1, 32](x, y)", "y, x[::-1]"),
    Watched("barrier that counts", None, (), """
def kernel(x, n):
    i = cuda.grid(1)
    above = cuda.syncthreads_count(int32(i < x.size and x[i] > 7))
    if cuda.threadIdx.x == 0:
        n[cuda.blockIdx.x] = above
""", "x = np.arange(40) % 11; n = np.zeros(2, np.int32)", "kernel[2, 32](x, n)",
            "n, np.array([(x[:32] > 7).sum(), (x[32:] > 7).sum()])"),
    Watched("barriers that ask any and all", None, (), """
def kernel(x, y):
    i = cuda.threadIdx.x
    y[i] = x[i]
    while cuda.syncthreads_or(int32(y[i] > 4.0)):
        y[i] = y[i] / 2.0
    if cuda.syncthreads_and(int32(y[i] <= 4.0)):
        y[i] = -y[i]
""", X32, "kernel[1, 32](x, y)", "y, -x / 8"),
    Watched("reversed view", None, (), """
def kernel(x, y):
    back = x[::-1]
    i = cuda.grid(1)
    if i < x.size:
        y[i] = back[i] - x[i]
""", "x = np.arange(41.0) ** 2; y = np.zeros(41)", "kernel[2, 32](x, y)", "y, x[::-1] - x"),
    Watched("strided views of one array", None, (), """
def kernel(a):
    even, odd = a[:, ::2], a[:, 1::2]
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < odd.shape[1]:
        odd[i, j] = 10.0 * even[i, j]
""", "a = np.arange(35.0).reshape(7, 5).T.copy('F'); e = a.copy(); e[:, 1::2] = 10 * a[:, :6:2]",
            "kernel[1, (8, 4)](a)", "a, e"),
    Watched("several dtypes", None, (), """
def kernel(a, b, mask, out):
    s = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    s[i] = a[i] * b[i]
    cuda.syncthreads()
    if mask[i]:
        out[i] = int64(s[(i + 5) % 32]) + 1
""", "a = np.arange(32, dtype=np.float32); b = np.arange(32, dtype=np.uint8); mask = a % 3 == 0; "
            "out = np.zeros(32, np.int64)",
            "kernel[1, 32](a, b, mask, out)", "out, np.where(mask, np.roll(a * a, -5) + 1, 0)"),
    Watched("index below zero counts from the end", None, (), """
def kernel(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] - x[i - 1]
""", "x = np.arange(40.0) ** 2; y = np.zeros(40)", "kernel[2, 32](x, y)", "y, x - np.roll(x, 1)"),
]

WATCHED = [*RACES, *BARRIERS, *UNSET, *OUTSIDE, *LAUNCHES, *RIGHT]

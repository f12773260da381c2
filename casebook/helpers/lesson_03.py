"""The checks of lesson 3: host functions, on stopwatch's pretended GPU."""

# mypy: allow-untyped-defs

from time import perf_counter

import numpy as np
from lesson import GPU, REPLY, NotYet, report, second_process, verdict
from numba import cuda

if not REPLY:
    from stopwatch import KERNEL, clock, restart
elif not GPU:  # a launch compiles, and that is all
    cuda.device_array = lambda *arguments, **options: cuda.to_device(
        np.empty(*arguments, **options)
    )
    cuda.device_array_like = lambda array, *more, **options: cuda.to_device(np.empty_like(array))


def check_normalise(normalise):
    if REPLY:
        report(lambda: on_gpu(normalise))
    verdict(lambda: judge_normalise(normalise))


def normalised(normalise, n):
    """Call it with n numbers, and compare unless nothing but the compilation is asked for."""
    x = np.random.default_rng(n).integers(-50, 50, n).astype(float)
    before = x.copy()
    out = normalise(x, -50.0, 75.0)
    if REPLY and not GPU:
        return
    if not isinstance(out, np.ndarray):
        kind = "None" if out is None else f"an object of type {type(out).__name__}"
        raise NotYet(f"normalise returns {kind}, and a NumPy array is wanted")
    if not np.array_equal(x, before):
        raise NotYet(f"with {n} numbers, normalise changes its argument x")
    if out.shape != x.shape:
        raise NotYet(f"with {n} numbers, the result has the shape {out.shape}")
    right = (x + 50) / 125
    for at in np.flatnonzero(~np.isclose(out, right, 1e-12)):
        raise NotYet(f"element [{at}] of the result is {out[at]:g} and should be {right[at]:g}")


def judge_normalise(normalise):
    for n in 6, 65, 0:
        gpu = restart()
        normalised(normalise, n)
        if not gpu.kernels:
            raise NotYet("no kernel was launched")
        if (count := len(gpu.copies)) > 2:
            several = f"{', '.join(gpu.copies[:6])}{', …' * (count > 6)}"
            raise NotYet(f"the result is right, with {count} copies: {several}. 2 would do")
    with second_process() as found:
        return f"two copies, and {clock():,g} microseconds on the pretended GPU{found()}"


def on_gpu(normalise):
    for n in (6, 65, 0) if GPU else (65,):
        normalised(normalise, n)
    return named()


def named():
    return str(cuda.get_current_device().name) if GPU else ""


def check_seconds(seconds, kernel):
    there = cuda.to_device(np.ones(64))

    def call(read):
        return seconds(lambda: kernel[1, 64](there), read)

    if REPLY:
        report(lambda: (call(perf_counter), named())[1])
    verdict(lambda: judge_seconds(call))


def judge_seconds(call):
    for times in {}, {"queued": 10**5}, {"compiles": 10**5}:
        gpu, reads = restart(wait=20, **times), []

        def read(gpu=gpu, reads=reads):
            reads.append((gpu.now, gpu.ends[-1], len(gpu.kernels)))
            return clock()

        found = call(read)
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise NotYet(f"seconds returns {found!r}, and a time is wanted")
        if 0.9 * KERNEL <= found <= 1.1 * KERNEL:
            continue
        (start, earlier, before), *_, (end, finish, after) = reads * 2 or [(0, 0, 0)] * 2
        if not reads:
            why = "you never read the clock"
        elif finish > end:
            why = "you read the clock before the kernel had ended"
        elif not before and "compiles" in times:
            why = "that includes the compilation, in the first call"
        elif earlier > start:
            why = "earlier work had not ended when you read the clock first"
        elif after - before > 1:
            why = f"that includes {after - before} calls"
        else:
            why = "return the difference of two readings, in the unit of the clock"
        raise NotYet(f"the kernel takes 1,000 microseconds, and you say {found:,g}: {why}")
    with second_process() as words:
        return f"one call, from an idle GPU to the end of the kernel{words()}"

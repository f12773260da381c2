"""The exercise of case 60: a loss in Warp, and a judge of the gradient over several batches.

from epoch import judge, loss
"""

import numpy as _np
import warp as _wp


@_wp.kernel
def loss(
    w: _wp.array(dtype=float),
    x: _wp.array(dtype=float),
    t: _wp.array(dtype=float),
    total: _wp.array(dtype=float),
):
    """Adds (w * x - t)**2 for each sample to the total."""
    i = _wp.tid()
    e = w[0] * x[i] - t[i]
    _wp.atomic_add(total, 0, e * e)


def _loader(epoch):
    """The batches, each in the same two NumPy arrays."""
    x, t = (_np.zeros(len(epoch[0][0]), _np.float32) for _ in range(2))
    for new_x, new_t in epoch:
        x[:], t[:] = new_x, new_t
        yield x, t


def _differences(epoch, w, step=1e-3):
    """The gradient by finite differences, in float64."""
    x, t = (_np.array(values, float) for values in zip(*epoch, strict=True))
    up, down = (((at * x - t) ** 2).sum() for at in (w + step, w - step))
    return (up - down) / (2 * step)


def judge(gradient):
    """What to say of `gradient(batches, n, weight)`."""
    random = _np.random.default_rng(60)
    for batches, length in (1, 4), (3, 1), (3, 7), (2, 1000):
        epoch = random.integers(-3, 4, (batches, 2, length)).tolist()
        asked = f"{batches} {'batch' if batches == 1 else 'batches'} of {length}"
        for weight in (0.5, 2.0):
            try:
                found = float(gradient(_loader(epoch), length, weight))
            except Exception as error:
                return f"Not yet: {asked}: {type(error).__name__}: {error}"
            right = _differences(epoch, weight)
            if not _np.isclose(found, right, rtol=1e-3, atol=1e-2):
                last = _differences(epoch[-1:] * batches, weight)
                why = " Every step used the last batch." if _np.isclose(found, last) else ""
                return (
                    f"Not yet: {asked}: {found:.0f}, but finite differences say {right:.0f}.{why}"
                )
    return "Correct: agrees with finite differences for each number and length of batches."

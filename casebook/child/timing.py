"""Times that stand a shared GPU: alternatives are called in turn, round by round, and judged by their rounds.

    r = compare({"fused": f, "apart": g})
    r.claim("fused takes less than half the time", lambda r: r.ratio("fused", "apart") < 0.5)
    print(r.table())

Somebody else on the GPU slows one call and not the next: that shows as a spread of the rounds, and then nothing is claimed. Why not
cupyx.profiler.benchmark or cuda-bench: both measure one alternative after the other, so a change between them looks like a difference,
and both need packages that the pinned environments do not have.
"""
import ctypes as _ctypes
import statistics as _statistics
import time as _time

_QUIET = 0.25       # a spread above this is not a quiet machine's
_ATTEMPTS = 3       # measurements of a claim before it fails


class Rounds:
    """Seconds of each alternative, round by round: {name: [seconds, …]}, equally many for each name, three or more.

    `measure`, where there is one, returns such a table anew.
    """

    def __init__(self, seconds, measure=None):
        self.seconds, self._measure = {name: list(rounds) for name, rounds in seconds.items()}, measure
        lengths = set(map(len, self.seconds.values()))
        if len(lengths) != 1 or min(lengths) < 3:
            raise ValueError(f"every alternative needs the same number of rounds, three or more, not {sorted(lengths)}")

    def median(self, name):
        """Median of the rounds, in seconds."""
        return _statistics.median(self.seconds[name])

    def spread(self, name):
        """Interquartile range of the rounds, as a part of their median."""
        low, _, high = _statistics.quantiles(self.seconds[name], n=4, method="inclusive")
        return (high - low) / self.median(name)

    def ratio(self, a, b):
        """Median over the rounds of the time of `a` over the time of `b` in the same round."""
        return _statistics.median(x / y for x, y in zip(self.seconds[a], self.seconds[b], strict=True))

    @property
    def widest(self):
        """The largest spread of the alternatives."""
        return max(map(self.spread, self.seconds))

    @property
    def alone(self):
        """False where a quarter of the rounds is so far from the others that somebody else must be on the machine."""
        return self.widest <= _QUIET

    def claim(self, text, condition):
        """Print the conclusion `text` if its condition holds; raise AssertionError if it does not, though the machine is quiet.

        `condition` is a function of the rounds, or a bool. A function that says no, or a spread, makes `compare` measure again before
        this decides; the rounds are then the last ones.
        """
        for _ in range(_ATTEMPTS - 1):
            if self._measure is None or not callable(condition) or (self.alone and condition(self)):
                break
            self.seconds = self._measure()
        if not self.alone:
            print(f"not alone on this machine (spread {self.widest:.0%}): nothing is asserted about time")
            return
        assert condition(self) if callable(condition) else condition, f"does not hold: {text}\n{self.table()}"
        print(text)

    def table(self, bytes=None):
        """Lines of name, median, spread and, with the bytes that a call moves (one number or {name: number}), GB/s."""
        width = max(map(len, self.seconds))
        lines = []
        for name in self.seconds:
            line = f"{name:{width}}  {_in_units(self.median(name))}  spread {self.spread(name):4.0%}"
            if moved := bytes.get(name) if isinstance(bytes, dict) else bytes:
                line += f"  {moved / self.median(name) / 1e9:8,.1f} GB/s"
            lines.append(line)
        return "\n".join(lines)


def compare(alternatives, rounds=30, warmup=3, clock="gpu", stream=0):
    """Rounds of the functions {name: function}, called without arguments and in turn.

    clock "gpu": between two CUDA events on `stream` (its address; 0 is the legacy default stream) of the current context; where the GPU
    waits for the host to launch, that is part of it. clock "host": from the call until the current context, if there is one, is idle.
    """
    one = {"gpu": _between_events, "host": _until_idle}[clock]

    def measure():
        for _ in range(warmup):
            for function in alternatives.values():
                function()
        seconds = {name: [] for name in alternatives}
        with_clock = one(stream)
        for _ in range(rounds):
            for name, function in alternatives.items():
                seconds[name].append(with_clock(function))
        return seconds

    return Rounds(measure(), measure)


def _between_events(stream):
    cuda, stream = _ctypes.CDLL("libcuda.so.1"), _ctypes.c_void_p(stream)
    start, end, milliseconds = _ctypes.c_void_p(), _ctypes.c_void_p(), _ctypes.c_float()
    for event in start, end:
        _check(cuda.cuEventCreate(_ctypes.byref(event), 0))

    def seconds_of(function):
        _check(cuda.cuEventRecord(start, stream))
        function()
        _check(cuda.cuEventRecord(end, stream))
        _check(cuda.cuEventSynchronize(end))
        _check(cuda.cuEventElapsedTime(_ctypes.byref(milliseconds), start, end))
        return milliseconds.value / 1000

    return seconds_of


def _until_idle(stream):
    wait = _waiting()

    def seconds_of(function):
        wait()
        start = _time.perf_counter()
        function()
        wait()
        return _time.perf_counter() - start

    return seconds_of


def _waiting():
    """Function that waits for the current context; it returns at once where there is none."""
    try:
        cuda, context = _ctypes.CDLL("libcuda.so.1"), _ctypes.c_void_p()
    except OSError:
        return lambda: None

    def wait():
        if cuda.cuCtxGetCurrent(_ctypes.byref(context)) == 0 and context:
            _check(cuda.cuCtxSynchronize())

    return wait


def _check(status):
    if status:
        raise RuntimeError(f"the CUDA driver answers with error {status}; 201 means that no context is current")


def _in_units(seconds):
    for unit, factor in (("s ", 1), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:7.2f} {unit}"
    return f"{seconds * 1e6:7.2f} µs"

"""Times that stand a shared GPU: in each round every alternative is called once, in an order by lot; the rounds are judged.

    r = compare({"fused": f, "apart": g})
    r.claim("fused takes less than half the time", lambda r: r.ratio("fused", "apart") < 0.5)
    print(r.table())

Somebody else on the GPU shows in two ways: an idle GPU answers late, when the other's turn is over, and the rounds have a spread. Then
nothing is claimed. On an H200 a copy of 4 KB, waited for, took 0.014 ms alone, and 0.4 to 8 ms beside one to four busy processes. Why not
cupyx.profiler.benchmark or cuda-bench: both measure one alternative after the other, so a change between them looks like a difference,
and both need packages that the pinned environments do not have.
"""

import ctypes as _ctypes
import random as _random
import statistics as _statistics
import time as _time

_QUIET = 0.25  # a spread above this is not a quiet machine's
_ANSWER = 3e-4  # nor is it when a quarter of the answers takes more seconds than this
_AGAIN = 2  # so many more measurements before a claim of some rounds fails, or is not made


class Rounds:
    """Seconds of each alternative, round by round: {name: [seconds, …]}, equally many for each name, three or more.

    `measure`, where there is one, returns such a table anew. `answers`, if any, are the seconds in which an idle GPU answered. `quiet` is
    the spread above which somebody else must be there.
    """

    _patience = (
        _AGAIN  # so many more measurements in company, of all rounds together, until one is quiet
    )

    def __init__(self, seconds, measure=None, answers=(), quiet=_QUIET):
        self.seconds, self.answers, self._quiet = (
            {name: list(rounds) for name, rounds in seconds.items()},
            answers,
            quiet,
        )
        self._measure, self._again = measure, _AGAIN if measure else 0
        lengths = set(map(len, self.seconds.values()))
        if len(lengths) != 1 or min(lengths) < 3:
            raise ValueError(
                f"every alternative needs the same number of rounds, three or more, not {sorted(lengths)}"
            )

    def median(self, name):
        """Median of the rounds, in seconds."""
        return _statistics.median(self.seconds[name])

    def spread(self, name):
        """Interquartile range of the rounds, as a part of their median."""
        low, _, high = _quartiles(self.seconds[name])
        return (high - low) / self.median(name)

    def ratio(self, a, b):
        """Median over the rounds of the time of `a` over the time of `b` in the same round."""
        return _statistics.median(
            x / y for x, y in zip(self.seconds[a], self.seconds[b], strict=True)
        )

    @property
    def alone(self):
        """False where somebody else must be on the machine."""
        return not self._company()

    def _company(self):
        """What shows that somebody else is on the machine, or nothing."""
        late = _quartiles(self.answers)[2] if self.answers else 0
        if late > _ANSWER:
            return f"the GPU answers after {late * 1e3:.1f} ms"
        widest = max(map(self.spread, self.seconds))
        return f"spread {widest:.0%}" if widest > self._quiet else ""

    def claim(self, text, condition):
        """Print the conclusion `text` if its condition holds; raise AssertionError if it does not, though the machine is quiet.

        `condition` is a function of the rounds, or a bool. A function that says no, or company, makes `compare` measure again before
        this decides; the rounds are then the last ones. Company that stayed is not waited for by the next claim.
        """
        while self._again and callable(condition) and self._worth_measuring_again(condition):
            self._again -= 1
            self.seconds = self._measure()
        if company := self._company():
            print(f"not alone on this machine ({company}): nothing is asserted about time")
            return
        Rounds._patience = _AGAIN
        assert condition(self) if callable(condition) else condition, (
            f"does not hold: {text}\n{self.table()}"
        )
        print(text)

    def _worth_measuring_again(self, condition):
        """The condition does not hold on a quiet machine, or there is company that has not yet been found to stay."""
        if self.alone:
            return not condition(self)
        waits, Rounds._patience = Rounds._patience > 0, max(0, Rounds._patience - 1)
        return waits

    def table(self, bytes=None):
        """Lines of name, median, spread and, with the bytes that a call moves (one number or {name: number}), GB/s."""
        width = max(map(len, self.seconds))
        lines = []
        for name in self.seconds:
            line = (
                f"{name:{width}}  {_in_units(self.median(name))}  spread {self.spread(name):4.0%}"
            )
            if moved := bytes.get(name) if isinstance(bytes, dict) else bytes:
                line += f"  {moved / self.median(name) / 1e9:8,.1f} GB/s"
            lines.append(line)
        return "\n".join(lines)


def compare(alternatives, rounds=30, warmup=3, clock="gpu", stream=0):
    """Rounds of the functions {name: function}, called without arguments.

    Each round has an order of its own, drawn with a fixed seed: in one that is always the same, each alternative would always bear what
    the same neighbour left behind. The warm-up keeps the order given.
    clock "gpu": between two CUDA events on `stream` (its address; 0 is the legacy default stream) of the current context; where the GPU
    waits for the host to launch, that is part of it. clock "host": from the call until the current context, if there is one, is idle.
    """
    clock, answers, lot = (
        {"gpu": _between_events, "host": _until_idle}[clock],
        [],
        _random.Random(0),
    )

    def measure():
        for _ in range(warmup):
            for function in alternatives.values():
                function()
        answers.clear()
        seconds, seconds_of = {name: [] for name in alternatives}, clock(stream, answers)
        for _ in range(rounds):
            for name in lot.sample(list(alternatives), len(alternatives)):
                seconds[name].append(seconds_of(alternatives[name]))
        return seconds

    return Rounds(measure(), measure, answers)


class _Events:
    """Two CUDA events on a stream of the current context."""

    def __init__(self, stream):
        self.cuda, self.stream = _ctypes.CDLL("libcuda.so.1"), _ctypes.c_void_p(stream)
        self.start, self.end = _ctypes.c_void_p(), _ctypes.c_void_p()
        for event in self.start, self.end:
            _check(self.cuda.cuEventCreate(_ctypes.byref(event), 0))

    def answer(self):
        """Seconds until the GPU has taken note of an event, after all that was before it."""
        before = _time.perf_counter()
        _check(self.cuda.cuEventRecord(self.start, self.stream))
        _check(self.cuda.cuEventSynchronize(self.start))
        return _time.perf_counter() - before

    def seconds_of(self, function):
        """Seconds on the GPU between the events around a call."""
        milliseconds = _ctypes.c_float()
        _check(self.cuda.cuEventRecord(self.start, self.stream))
        function()
        _check(self.cuda.cuEventRecord(self.end, self.stream))
        _check(self.cuda.cuEventSynchronize(self.end))
        _check(self.cuda.cuEventElapsedTime(_ctypes.byref(milliseconds), self.start, self.end))
        return milliseconds.value / 1000


def _between_events(stream, answers):
    events = _Events(stream)

    def seconds_of(function):
        answers.append(events.answer())
        return events.seconds_of(function)

    return seconds_of


def _until_idle(stream, answers):
    wait, in_context = _waiting()
    events = _Events(stream) if in_context() else None

    def seconds_of(function):
        wait()
        if events:
            answers.append(events.answer())
        start = _time.perf_counter()
        function()
        wait()
        return _time.perf_counter() - start

    return seconds_of


def _waiting():
    """Two functions: one waits for the current context, where there is one; one says whether there is."""
    try:
        cuda, context = _ctypes.CDLL("libcuda.so.1"), _ctypes.c_void_p()
    except OSError:
        return lambda: None, lambda: False

    def in_context():
        return cuda.cuCtxGetCurrent(_ctypes.byref(context)) == 0 and bool(context)

    return lambda: in_context() and _check(cuda.cuCtxSynchronize()), in_context


def _quartiles(values):
    return _statistics.quantiles(values, n=4, method="inclusive")


def _check(status):
    if status:
        raise RuntimeError(
            f"the CUDA driver answers with error {status}; 201 means that no context is current"
        )


def _in_units(seconds):
    for unit, factor in (("s ", 1), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:7.2f} {unit}"
    return f"{seconds * 1e6:7.2f} µs"

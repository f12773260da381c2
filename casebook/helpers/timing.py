"""Times that hold on a shared GPU: each round calls every alternative once, in random order.

    r = compare({"fused": f, "apart": g})
    r.claim("fused takes less than half the time", lambda r: r.ratio("fused", "apart") < 0.5)
    print(r.table())

Another process on the GPU shows in two ways: an idle GPU answers late, because the other process
has its turn first, and the times of the rounds spread. Then no claim is checked. On an H200 a
copy of 4 KB, waited for, took 0.014 ms without other processes, and 0.4 to 8 ms beside one to
four of them. cupyx.profiler.benchmark and cuda-bench measure one alternative after the other, so
a change between them looks like a difference; and the pinned environments lack their packages.
"""

from __future__ import annotations

import ctypes as _ctypes
import random as _random
import statistics as _statistics
import time as _time
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping

_QUIET = 0.25  # spread up to which a machine counts as quiet
_ANSWER = 3e-4  # seconds; on a quiet machine three quarters of the answers take less
_AGAIN = 2  # further measurements before a claim fails or is given up

_Function = _Callable[[], object]  # an alternative; its result is not used
_Clock = _Callable[[_Function], float]  # seconds of a call
_Seconds = dict[str, list[float]]


class Rounds:
    """Seconds of each alternative, round by round: {name: [seconds, ...]}.

    Every name has the same number of rounds, three or more. `measure`, if given, returns a new
    table of that form. `answers` are the seconds in which an idle GPU answered. `quiet` is the
    spread above which the machine counts as busy.
    """

    _patience = _AGAIN  # measurements on a busy machine, shared by all rounds until one is quiet

    def __init__(
        self,
        seconds: _Seconds,
        measure: _Callable[[], _Seconds] | None = None,
        answers: _Iterable[float] = (),
        quiet: float = _QUIET,
    ) -> None:
        self.seconds = {name: list(rounds) for name, rounds in seconds.items()}
        self.answers, self._quiet = answers, quiet
        self._measure = measure or (lambda: self.seconds)
        self._again = _AGAIN if measure else 0
        lengths = set(map(len, self.seconds.values()))
        if len(lengths) != 1 or min(lengths) < 3:
            raise ValueError(
                "every alternative needs the same number of rounds, three or more, "
                f"not {sorted(lengths)}"
            )

    def median(self, name: str) -> float:
        """Median of the rounds, in seconds."""
        return _statistics.median(self.seconds[name])

    def spread(self, name: str) -> float:
        """Interquartile range of the rounds, as a fraction of their median."""
        low, _, high = _quartiles(self.seconds[name])
        return (high - low) / self.median(name)

    def ratio(self, a: str, b: str) -> float:
        """Median over the rounds of the time of `a` divided by the time of `b` in that round."""
        return _statistics.median(
            x / y for x, y in zip(self.seconds[a], self.seconds[b], strict=True)
        )

    @property
    def alone(self) -> bool:
        """False where another process must be using the machine."""
        return not self._busy()

    def _busy(self) -> str:
        """The sign that the machine is busy, or an empty string."""
        late = _quartiles(self.answers)[2] if self.answers else 0
        if late > _ANSWER:
            return f"the GPU answers after {late * 1e3:.1f} ms"
        widest = max(map(self.spread, self.seconds))
        return f"spread {widest:.0%}" if widest > self._quiet else ""

    def claim(self, text: str, condition: bool | _Callable[[Rounds], bool]) -> None:
        """Print the conclusion `text` if its condition holds; else raise AssertionError.

        On a busy machine it prints that nothing is checked. `condition` is a function of the
        rounds, or a bool. Where a function returns False, or the machine is busy, `compare`
        measures again before the decision, and keeps the last rounds. If the machine stays busy,
        the next claim does not wait for it.
        """
        while self._again and callable(condition) and self._worth_measuring_again(condition):
            self._again -= 1
            self.seconds = self._measure()
        if busy := self._busy():
            print(f"GPU or host is busy ({busy}): timing claims are not checked")
            return
        Rounds._patience = _AGAIN
        assert condition(self) if callable(condition) else condition, (
            f"does not hold: {text}\n{self.table()}"
        )
        print(text)

    def _worth_measuring_again(self, condition: _Callable[[Rounds], bool]) -> bool:
        """True where a quiet machine contradicts, or a busy one is not yet known to stay busy."""
        if self.alone:
            return not condition(self)
        waits, Rounds._patience = Rounds._patience > 0, max(0, Rounds._patience - 1)
        return waits

    def table(self, bytes: float | _Mapping[str, float] | None = None) -> str:
        """Lines of name, median and spread; with `bytes` moved by a call (or by name), GB/s."""
        width = max(map(len, self.seconds))
        lines = []
        for name in self.seconds:
            line = (
                f"{name:{width}}  {_in_units(self.median(name))}  spread {self.spread(name):4.0%}"
            )
            if moved := bytes.get(name) if isinstance(bytes, _Mapping) else bytes:
                line += f"  {moved / self.median(name) / 1e9:8,.1f} GB/s"
            lines.append(line)
        return "\n".join(lines)


def compare(
    alternatives: _Mapping[str, _Function],
    rounds: int = 30,
    warmup: int = 3,
    clock: str = "gpu",
    stream: int = 0,
) -> Rounds:
    """Rounds of the functions {name: function}, which are called without arguments.

    Each round has its own random order, with a fixed seed: in a fixed order each alternative
    would always run after the same one. The warm-up keeps the order given.
    clock "gpu": between two CUDA events on `stream` (its address; 0 is the legacy default stream)
    of the current context, including the time for which the GPU waits for the host to launch.
    clock "host": from the call until the current context, if there is one, is idle.
    """
    start = {"gpu": _between_events, "host": _until_idle}[clock]
    generator = _random.Random(0)
    answers: list[float] = []

    def measure() -> _Seconds:
        for _ in range(warmup):
            for function in alternatives.values():
                function()
        answers.clear()
        seconds: _Seconds = {name: [] for name in alternatives}
        seconds_of = start(stream, answers)
        for _ in range(rounds):
            for name in generator.sample(list(alternatives), len(alternatives)):
                seconds[name].append(seconds_of(alternatives[name]))
        return seconds

    return Rounds(measure(), measure, answers)


class _Events:
    """Two CUDA events on a stream of the current context."""

    def __init__(self, stream: int) -> None:
        self.cuda, self.stream = _ctypes.CDLL("libcuda.so.1"), _ctypes.c_void_p(stream)
        self.start, self.end = _ctypes.c_void_p(), _ctypes.c_void_p()
        for event in self.start, self.end:
            _check(self.cuda.cuEventCreate(_ctypes.byref(event), 0))

    def answer(self) -> float:
        """Seconds until the GPU has reached a new event, after all earlier work."""
        before = _time.perf_counter()
        _check(self.cuda.cuEventRecord(self.start, self.stream))
        _check(self.cuda.cuEventSynchronize(self.start))
        return _time.perf_counter() - before

    def seconds_of(self, function: _Function) -> float:
        """Seconds on the GPU between the events around a call."""
        milliseconds = _ctypes.c_float()
        _check(self.cuda.cuEventRecord(self.start, self.stream))
        function()
        _check(self.cuda.cuEventRecord(self.end, self.stream))
        _check(self.cuda.cuEventSynchronize(self.end))
        _check(self.cuda.cuEventElapsedTime(_ctypes.byref(milliseconds), self.start, self.end))
        return milliseconds.value / 1000


def _between_events(stream: int, answers: list[float]) -> _Clock:
    events = _Events(stream)

    def seconds_of(function: _Function) -> float:
        answers.append(events.answer())
        return events.seconds_of(function)

    return seconds_of


def _until_idle(stream: int, answers: list[float]) -> _Clock:
    wait, in_context = _waiting()
    events = _Events(stream) if in_context() else None

    def seconds_of(function: _Function) -> float:
        wait()
        if events:
            answers.append(events.answer())
        start = _time.perf_counter()
        function()
        wait()
        return _time.perf_counter() - start

    return seconds_of


def _waiting() -> tuple[_Function, _Callable[[], bool]]:
    """Two functions: one waits for the current context, if any; one tells whether there is one."""
    try:
        cuda, context = _ctypes.CDLL("libcuda.so.1"), _ctypes.c_void_p()
    except OSError:
        return lambda: None, lambda: False

    def in_context() -> bool:
        return cuda.cuCtxGetCurrent(_ctypes.byref(context)) == 0 and bool(context)

    def wait() -> None:
        if in_context():
            _check(cuda.cuCtxSynchronize())

    return wait, in_context


def _quartiles(values: _Iterable[float]) -> list[float]:
    return _statistics.quantiles(values, n=4, method="inclusive")


def _check(status: int) -> None:
    if status:
        raise RuntimeError(
            f"the CUDA driver answers with error {status}; 201 means that no context is current"
        )


def _in_units(seconds: float) -> str:
    for unit, factor in (("s ", 1), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:7.2f} {unit}"
    return f"{seconds * 1e6:7.2f} µs"

"""Times in rounds: the order of calls, statistics, and when a claim is made, withheld or refused.

Clocks and the CUDA driver are stubs; the host's clock also runs once for real.
"""

import ctypes
import sys

import pytest

from casebook.execution.modules import FOLDERS

sys.path += map(str, FOLDERS)
import timing
from timing import Rounds, compare

QUIET = [1.0, 1.01, 0.99, 1.0]
NOISY = [1.0, 1.0, 2.0, 2.0]
UNEVEN = [1.0, 1.0, 9.0]
BUSY = "GPU or host is busy ({}): timing claims are not checked\n"


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(Rounds, "_patience", timing._AGAIN)


@pytest.fixture
def clock(monkeypatch):
    """A clock on which each call takes what the list `clock.takes[name]` has next."""

    def calls(stream, answers):
        answers += clock.answers
        return lambda function: clock.takes[function()].pop(0)

    clock = type("Clock", (), {"takes": {}, "answers": []})
    monkeypatch.setattr(timing, "_between_events", calls)
    return clock


def measured(clock, warmup=0, **takes):
    """Rounds of alternatives, three per measurement; the rest is for further measurements."""
    clock.takes = {name: list(seconds) for name, seconds in takes.items()}
    return compare({name: lambda name=name: name for name in takes}, rounds=3, warmup=warmup)


def claim(rounds):
    rounds.claim("b is slower", lambda r: r.ratio("b", "a") > 3)


def test_each_round_calls_every_alternative_in_random_order():
    def orders():
        called = []
        functions = {name: lambda name=name: called.append(name) for name in "abc"}
        compare(functions, rounds=30, warmup=2, clock="host")
        assert called[:6] == [*"abcabc"]  # the warm-up
        return list(zip(*[iter(called[6:])] * 3, strict=True))

    found = orders()
    assert len(found) == 30 and {*map(frozenset, found)} == {frozenset("abc")}
    assert {order[order.index("b") - 1] for order in found if order[0] != "b"} == {"a", "c"}
    assert orders() == found


def test_the_ratio_is_taken_round_by_round():
    """The machine slows down threefold; in each round b takes twice as long as a."""
    rounds = Rounds({"a": [1, 1, 3], "b": [2, 6, 6]})
    assert rounds.median("b") / rounds.median("a") == 6
    assert (rounds.ratio("b", "a"), rounds.ratio("a", "b")) == (2, 0.5)


def test_the_spread_is_the_interquartile_range_by_the_median():
    assert Rounds({"a": [10, 11, 12, 13, 99]}).spread("a") == 2 / 12


@pytest.mark.parametrize("seconds", [{"a": [1, 1]}, {"a": [1, 1, 1], "b": [1, 1, 1, 1]}, {}])
def test_too_few_rounds_are_refused(seconds):
    with pytest.raises(ValueError, match="the same number of rounds, three or more"):
        Rounds(seconds)


def test_one_slow_round_in_many_does_not_make_a_machine_busy():
    assert Rounds({"a": [*QUIET, 50.0], "b": QUIET + QUIET[:1]}).alone
    assert Rounds({"a": NOISY}, quiet=0.7).alone
    assert not Rounds({"a": NOISY, "b": QUIET}).alone
    assert not Rounds({"a": QUIET, "b": NOISY}).alone


def test_on_a_quiet_machine_a_claim_is_printed_or_an_error(capsys):
    rounds = Rounds({"a": QUIET, "b": [4.0] * 4})
    rounds.claim("b is slower", True)
    with pytest.raises(AssertionError, match=r"does not hold: b is slower(?s:.*)spread"):
        rounds.claim("b is slower", False)
    assert capsys.readouterr().out == "b is slower\n"


@pytest.mark.parametrize("condition", [True, False, lambda r: True, lambda r: False])
def test_on_a_busy_machine_nothing_is_claimed(capsys, condition):
    Rounds({"a": QUIET, "b": NOISY}).claim("b is slower", condition)
    assert capsys.readouterr().out == BUSY.format("spread 67%")


LATE, IN_TIME = [1e-5] * 5 + [24e-4] * 3, [1e-5] * 7 + [24e-4]


@pytest.mark.parametrize("later, said", [(LATE, BUSY), (IN_TIME, "b is slower\n")])
def test_a_gpu_that_answers_late_is_busy_until_it_answers_in_time(clock, capsys, later, said):
    clock.answers = LATE
    rounds = measured(clock, a=[1.0] * 9, b=[4.0] * 9)
    clock.answers = later
    claim(rounds)
    assert capsys.readouterr().out == said.format("the GPU answers after 2.4 ms")
    assert rounds.answers == later


MEASUREMENTS = {  # seconds of a and b; measurements that are not needed; does the claim hold
    "holds at once": ([1.0] * 9, [4.0] * 9, 2, True),
    "holds the second time": ([1.0] * 9, [1.0] * 3 + [4.0] * 6, 1, True),
    "holds the fourth time": ([1.0] * 12, [1.0] * 9 + [4.0] * 3, 1, False),
    "quiet the third time": ([1.0, 1.0, 9.0, 9.0, 1.0, 9.0, 1.0, 1.0, 1.0], [4.0] * 9, 0, True),
}


@pytest.mark.parametrize("what", MEASUREMENTS)
def test_a_claim_is_measured_three_times_at_most(clock, capsys, what):
    a, b, spare, holds = MEASUREMENTS[what]
    rounds = measured(clock, a=a, b=b)
    try:
        claim(rounds)
        said = capsys.readouterr().out
    except AssertionError as error:
        said = str(error)
    assert said.startswith("b is slower\n" if holds else "does not hold: b is slower\n")
    assert len(clock.takes["b"]) == 3 * spare


def test_a_machine_that_stays_busy_is_waited_for_once_and_not_by_every_claim(clock, capsys):
    """Ten tables in one process, as in chapter 1: ten measurements and two more, not twenty."""
    tables = [(measured(clock, a=UNEVEN * 3, b=[1.0] * 9), clock.takes) for _ in range(10)]
    for rounds, clock.takes in 2 * tables:
        claim(rounds)
    assert [3 - len(takes["a"]) // 3 for _, takes in tables] == [3] + [1] * 9
    assert capsys.readouterr().out == 20 * BUSY.format("spread 400%")


def test_the_table_has_units_and_bandwidth():
    rounds = Rounds({"short": [2e-6] * 3, "long one": [0.5e-3] * 3, "s": [3] * 3})
    lines = rounds.table(bytes={"long one": 10**9, "s": 3 * 10**9}).splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "short 2.00 µs spread 0%",
        "long one 500.00 µs spread 0% 2,000.0 GB/s",
        "s 3.00 s spread 0% 1.0 GB/s",
    ]
    assert rounds.table(10**9).count("GB/s") == 3


class Driver:
    """A libcuda that records its calls; two events are always 2 ms apart."""

    def __init__(self, context=0xC0DE):
        self.calls, self.context = [], context

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append(name)
            if name == "cuCtxGetCurrent":
                arguments[0]._obj.value = self.context
            if name == "cuEventElapsedTime":
                arguments[0]._obj.value = 2.0
            if name == "cuEventRecord":
                self.calls[-1] += f" on {arguments[1].value}"
            return 201 if name == "cuEventCreate" and not self.context else 0

        return call


@pytest.fixture
def driver(monkeypatch):
    driver = Driver()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    return driver


RECORD = "cuEventRecord on 7"
ASKED = [RECORD, "cuEventSynchronize"]
ROUND = {
    "gpu": [*ASKED, RECORD, "call", *ASKED, "cuEventElapsedTime"],
    "host": ["cuCtxSynchronize", *ASKED, "call", "cuCtxSynchronize"],
}


@pytest.mark.parametrize("clock", ROUND)
def test_what_the_clocks_ask_of_the_driver(driver, clock):
    rounds = compare(
        {"a": lambda: driver.calls.append("call")}, rounds=3, warmup=1, clock=clock, stream=7
    )
    calls = [name for name in driver.calls if name != "cuCtxGetCurrent"]
    assert calls == ["call", *2 * ["cuEventCreate"], *3 * ROUND[clock]]
    assert len(rounds.answers) == 3
    assert clock == "host" or rounds.seconds == {"a": [0.002] * 3}


def test_the_host_s_clock_times_the_call_and_apart_from_it_the_answer(driver, monkeypatch):
    now = iter(range(100))
    monkeypatch.setattr(timing._time, "perf_counter", lambda: next(now))
    rounds = compare({"a": lambda: next(now)}, rounds=3, warmup=0, clock="host")
    assert (rounds.answers, rounds.seconds) == ([1, 1, 1], {"a": [2, 2, 2]})


def test_without_a_context_the_gpu_s_clock_says_so_and_the_host_s_waits_for_nothing(driver):
    driver.context = None
    with pytest.raises(RuntimeError, match="201 means that no context is current"):
        compare({"a": lambda: None}, rounds=3)
    compare({"a": lambda: None}, rounds=3, clock="host")
    assert "cuCtxSynchronize" not in driver.calls

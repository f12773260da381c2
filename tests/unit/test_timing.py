"""Times in rounds: the order of the calls, what is made of the rounds, and when a claim is made, withheld or refused.

The clocks and the CUDA driver are stand-ins; the host's clock runs once for real.
"""

import ctypes
import sys
import time
from pathlib import Path

import nbformat
import numpy as np
import pytest

from casebook.execution.modules import FOLDERS

sys.path += map(str, FOLDERS)
import timing
from timing import Rounds, compare

QUIET = [1.0, 1.01, 0.99, 1.0]
NOISY = [1.0, 1.0, 2.0, 2.0]


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(Rounds, "_patience", timing._AGAIN)


@pytest.fixture
def clock(monkeypatch):
    """A clock on which each call takes what the list `clock.takes[name]` has next."""

    def calls(stream, answers):
        clock.streams.append(stream)
        answers += clock.answers
        return lambda function: clock.takes[function()].pop(0)

    clock = type("Clock", (), {"takes": {}, "streams": [], "answers": []})
    monkeypatch.setattr(timing, "_between_events", calls)
    return clock


def measured(clock, **takes):
    """Rounds of two alternatives, three a measurement; those that are left are for further measurements."""
    clock.takes = {name: list(seconds) for name, seconds in takes.items()}
    return compare({name: lambda name=name: name for name in takes}, rounds=3, warmup=0)


def test_each_alternative_is_called_once_a_round_in_an_order_by_lot():
    def orders():
        called = []
        compare(
            {name: lambda name=name: called.append(name) for name in "abc"},
            rounds=30,
            warmup=2,
            clock="host",
        )
        assert called[:6] == [*"abcabc"]  # the warm-up
        return list(zip(*[iter(called[6:])] * 3, strict=True))

    found = orders()
    assert len(found) == 30 and {*map(frozenset, found)} == {frozenset("abc")}
    assert {order.index(name) for order in found for name in "abc"} == {0, 1, 2}
    assert {order[order.index("b") - 1] for order in found if order[0] != "b"} == {"a", "c"}
    assert orders() == found


def test_the_warm_up_is_not_measured(clock):
    calls = []

    def slow_at_first():
        calls.append(1)
        return "first" if len(calls) < 3 else "later"

    clock.takes = {"first": [9.0] * 9, "later": [1.0] * 9}
    assert compare({"a": slow_at_first}, rounds=4, warmup=2).seconds == {"a": [1.0] * 4}


def test_the_stream_is_handed_to_the_clock(clock):
    clock.takes = {"a": QUIET[:]}
    compare({"a": lambda: "a"}, rounds=3, warmup=0, stream=77)
    assert clock.streams[-1] == 77


def test_the_ratio_is_taken_round_by_round():
    """The machine slows down threefold; in each round b takes twice as long as a. The medians alone would say 3."""
    rounds = Rounds({"a": [1, 1, 3], "b": [2, 6, 6]})
    assert rounds.median("b") / rounds.median("a") == 6
    assert rounds.ratio("b", "a") == 2
    assert rounds.ratio("a", "b") == 0.5


def test_the_spread_is_the_interquartile_range_by_the_median():
    rounds = Rounds({"a": [10, 11, 12, 13, 99], "b": [1, 1, 1, 1, 1]})
    assert (rounds.median("a"), rounds.spread("a"), rounds.spread("b")) == (12, 2 / 12, 0)


@pytest.mark.parametrize("seconds", [{"a": [1, 1]}, {"a": [1, 1, 1], "b": [1, 1, 1, 1]}, {}])
def test_rounds_that_say_nothing_are_refused(seconds):
    with pytest.raises(
        ValueError, match="every alternative needs the same number of rounds, three or more"
    ):
        Rounds(seconds)


def test_one_slow_round_in_many_is_no_company():
    assert Rounds({"a": [*QUIET, 50.0], "b": QUIET + QUIET[:1]}).alone
    assert not Rounds({"a": NOISY, "b": QUIET}).alone
    assert not Rounds({"a": QUIET, "b": NOISY}).alone


def test_alone_a_claim_is_made_or_refused(capsys):
    rounds = Rounds({"a": QUIET, "b": [4.0] * 4})
    rounds.claim("a is faster", rounds.ratio("b", "a") > 3)
    rounds.claim("a is faster, asked later", lambda r: r.ratio("b", "a") > 3)
    assert capsys.readouterr().out == "a is faster\na is faster, asked later\n"
    for condition in (rounds.ratio("b", "a") > 5, lambda r: r.ratio("b", "a") > 5):
        with pytest.raises(AssertionError, match=r"does not hold: b is slower(?s:.*)spread"):
            rounds.claim("b is slower", condition)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("condition", [True, False, lambda r: True, lambda r: False])
def test_in_company_nothing_is_claimed(capsys, condition):
    Rounds({"a": QUIET, "b": NOISY}).claim("b is slower", condition)
    assert (
        capsys.readouterr().out
        == "not alone on this machine (spread 67%): nothing is asserted about time\n"
    )


def test_a_gpu_that_answers_late_is_company_though_the_times_are_even(clock, capsys):
    clock.answers = [1e-5] * 5 + [24e-4] * 3
    rounds = measured(clock, a=[1.0] * 9, b=[1.0] * 9)
    assert not rounds.alone
    rounds.claim("b is slower", lambda r: r.ratio("b", "a") > 3)
    assert (
        capsys.readouterr().out
        == "not alone on this machine (the GPU answers after 2.4 ms): nothing is asserted about time\n"
    )
    assert Rounds({"a": QUIET}, answers=[1e-5] * 7 + [24e-4]).alone


def test_company_that_leaves_the_gpu_is_waited_for(clock, capsys):
    clock.answers = [24e-4] * 4
    rounds = measured(clock, a=[1.0] * 9, b=[4.0] * 9)
    clock.answers = [1e-5] * 4
    rounds.claim("b is slower", lambda r: r.ratio("b", "a") > 3)
    assert capsys.readouterr().out == "b is slower\n"
    assert (len(clock.takes["a"]), rounds.answers) == (3, [1e-5] * 4)


def test_a_claim_that_fails_is_measured_again(clock, capsys):
    rounds = measured(clock, a=[1.0] * 6, b=[1.0] * 3 + [4.0] * 3)
    rounds.claim("b is slower", lambda r: r.ratio("b", "a") > 3)
    assert capsys.readouterr().out == "b is slower\n"
    assert rounds.seconds["b"] == [4.0] * 3


def test_three_measurements_and_no_more(clock):
    rounds = measured(clock, a=[1.0] * 12, b=[1.0] * 9 + [4.0] * 3)
    with pytest.raises(AssertionError, match="b is slower"):
        rounds.claim("b is slower", lambda r: r.ratio("b", "a") > 3)
    assert clock.takes["b"] == [4.0] * 3


def test_two_more_measurements_are_for_all_claims_of_some_rounds(clock, capsys):
    rounds = measured(clock, a=[1.0] * 12, b=[1.0, 1.0, 9.0] * 4)
    for text in "first", "second":
        rounds.claim(text, lambda r: True)
    assert len(clock.takes["b"]) == 3
    assert capsys.readouterr().out.count("not alone on this machine (spread 400%)") == 2


def test_company_that_leaves_is_waited_for(clock, capsys):
    rounds = measured(clock, a=[1.0, 1.0, 9.0, 9.0, 1.0, 9.0, 1.0, 1.0, 1.0], b=[4.0] * 9)
    rounds.claim("b is slower", lambda r: r.ratio("b", "a") > 3)
    assert capsys.readouterr().out == "b is slower\n"


UNEVEN = [1.0, 1.0, 9.0]


def test_company_that_stays_is_waited_for_once_and_not_by_every_claim(clock, capsys):
    """Ten tables in one process, as in chapter 1: ten measurements and two more, where it was two more for each."""
    tables, left = [], []
    for _ in range(10):
        tables.append(measured(clock, a=UNEVEN * 3, b=[1.0] * 9))
        left.append(clock.takes)
    for rounds, takes in zip(tables, left, strict=True):
        clock.takes = takes
        rounds.claim("b is fast", lambda r: True)
    assert [3 - len(takes["a"]) // 3 for takes in left] == [3] + [1] * 9
    assert capsys.readouterr().out.count("not alone on this machine (spread 400%)") == 10


def test_after_company_has_left_new_company_is_waited_for(clock, capsys):
    measured(clock, a=UNEVEN * 3, b=[1.0] * 9).claim("first", lambda r: True)
    measured(clock, a=[1.0] * 3, b=[1.0] * 3).claim("second", lambda r: True)
    measured(clock, a=UNEVEN * 2 + [1.0] * 3, b=[1.0] * 9).claim("third", lambda r: True)
    assert capsys.readouterr().out.splitlines()[1:] == ["second", "third"]


def test_a_claim_that_fails_alone_is_measured_again_though_company_was_there_before(clock, capsys):
    measured(clock, a=UNEVEN * 3, b=[1.0] * 9).claim("first", lambda r: True)
    rounds = measured(clock, a=[1.0] * 9, b=[1.0] * 6 + [4.0] * 3)
    rounds.claim("b is slower", lambda r: r.ratio("b", "a") > 3)
    assert capsys.readouterr().out.splitlines()[1:] == ["b is slower"]


def test_what_counts_as_a_wide_spread_can_be_said(capsys):
    Rounds({"a": NOISY}, quiet=0.7).claim("made", True)
    Rounds({"a": NOISY}, quiet=0.6).claim("withheld", True)
    assert (
        capsys.readouterr().out
        == "made\nnot alone on this machine (spread 67%): nothing is asserted about time\n"
    )


def test_a_quiet_machine_s_claim_is_made_at_once(clock):
    rounds = measured(clock, a=[1.0] * 6, b=[4.0] * 6)
    rounds.claim("b is slower", lambda r: r.ratio("b", "a") > 3)
    assert len(clock.takes["a"]) == 3


def test_the_table_has_units_and_bandwidth():
    table = Rounds(
        {"short": [2e-6] * 3, "long one": [0.5e-3, 0.5e-3, 0.5e-3], "s": [3, 3, 3]}
    ).table(bytes={"long one": 10**9})
    assert [" ".join(line.split()) for line in table.splitlines()] == [
        "short 2.00 µs spread 0%",
        "long one 500.00 µs spread 0% 2,000.0 GB/s",
        "s 3.00 s spread 0%",
    ]
    assert Rounds({"a": [2e-3] * 3}).table(2 * 10**6).split() == [
        "a",
        "2.00",
        "ms",
        "spread",
        "0%",
        "1.0",
        "GB/s",
    ]


def test_the_host_s_clock_measures_the_call():
    start = time.perf_counter()
    rounds = compare(
        {"nothing": lambda: None, "sleeps": lambda: time.sleep(0.02)},
        rounds=5,
        warmup=1,
        clock="host",
    )
    assert min(rounds.seconds["sleeps"]) >= 0.02 > rounds.median("nothing")
    assert sum(map(sum, rounds.seconds.values())) < time.perf_counter() - start


class Driver:
    """A libcuda that writes down what is called; two events are always 2 ms apart."""

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


ASKED = ["cuEventRecord on 7", "cuEventSynchronize"]


def test_the_gpu_s_clock_stands_around_the_call(driver):
    rounds = compare({"a": lambda: driver.calls.append("call")}, rounds=3, warmup=1, stream=7)
    assert rounds.seconds == {"a": [0.002] * 3}
    assert driver.calls == [
        "call",
        "cuEventCreate",
        "cuEventCreate",
        *[
            *ASKED,
            "cuEventRecord on 7",
            "call",
            "cuEventRecord on 7",
            "cuEventSynchronize",
            "cuEventElapsedTime",
        ]
        * 3,
    ]
    assert len(rounds.answers) == 3


def test_the_host_s_clock_waits_for_the_gpu_before_and_after_the_call(driver):
    rounds = compare(
        {"a": lambda: driver.calls.append("call")}, rounds=3, warmup=0, clock="host", stream=7
    )
    wanted = [
        "cuEventCreate",
        "cuEventCreate",
        *["cuCtxSynchronize", *ASKED, "call", "cuCtxSynchronize"] * 3,
    ]
    assert [name for name in driver.calls if name != "cuCtxGetCurrent"] == wanted
    assert len(rounds.answers) == 3


def test_the_answer_is_timed_and_is_no_part_of_the_call(driver, monkeypatch):
    now = iter(range(100))
    monkeypatch.setattr(timing._time, "perf_counter", lambda: next(now))
    rounds = compare({"a": lambda: None}, rounds=3, warmup=0, clock="host")
    assert (rounds.answers, rounds.seconds) == ([1, 1, 1], {"a": [1, 1, 1]})


def test_without_a_context_the_gpu_s_clock_says_so_and_the_host_s_waits_for_nothing(driver):
    driver.context = None
    with pytest.raises(RuntimeError, match="201 means that no context is current"):
        compare({"a": lambda: None}, rounds=3)
    compare({"a": lambda: None}, rounds=3, clock="host")
    assert "cuCtxSynchronize" not in driver.calls


def test_an_unknown_clock_is_refused():
    with pytest.raises(KeyError, match="cpu"):
        compare({"a": lambda: None}, clock="cpu")


LAPS = Path(__file__).parents[2] / "notebooks" / "02-grid-sync-cache.ipynb"
MADE, WITHHELD, REFUSED = (
    "less than half of its time without\n",
    "not alone on this machine (",
    "does not hold",
)
SECOND_KERNEL = {  # its milliseconds in eight pairs of starts, without the cache and from it; what the cell of chapter 2 makes of them
    "an H200 alone": (
        [54.8, 88.0, 65.5, 71.8, 55.9, 41.9, 42.3, 41.1],
        [4.8, 5.1, 3.8, 8.2, 5.0, 5.0, 3.8, 4.5],
        MADE,
    ),
    "an H200 alone, later": (
        [55.0, 77.3, 67.8, 44.4, 63.9, 64.3, 59.5, 42.7],
        [4.9, 4.0, 5.3, 3.6, 3.7, 4.6, 3.8, 3.7],
        MADE,
    ),
    "a cache of no use": (
        [54.8, 88.0, 65.5, 71.8, 55.9, 41.9, 42.3, 41.1],
        [55.0, 77.3, 67.8, 44.4, 63.9, 64.3, 59.5, 42.7],
        REFUSED,
    ),
    "company for some starts": (
        [54.8, 188, 65.5, 71.8, 255.9, 41.9, 42.3, 141.1],
        [4.8, 135, 13.8, 8.2, 95, 5, 83.8, 4.5],
        WITHHELD,
    ),
    "company for all": (
        [105, 113, 98, 121, 109, 99, 117, 102],
        [52, 61, 44, 49, 57, 40, 55, 66],
        WITHHELD,
    ),
}


@pytest.mark.parametrize("series", SECOND_KERNEL)
@pytest.mark.parametrize("answer", [1.4e-5, 2e-3])
def test_chapter_2_s_start_up_times(series, answer, capsys):
    """The cell itself, on times of six steps of which the last one is the second kernel's."""
    cell = next(cell for cell in nbformat.read(LAPS, 4).cells if cell.id == "0ac3d8bf")
    cold, cached, wanted = SECOND_KERNEL[series]
    steps = {
        state: np.array([[0.5, 0.15, 0.2, 0.0001, 0.04, last / 1e3] for last in times])
        for state, times in (("from the cache", cached), ("cold", cold))
    }
    asked = Rounds({"nothing": [1e-6] * 3}, answers=[answer] * 3)
    names = {
        "np": np,
        "steps": steps,
        "STEPS": "ABCDEF",
        "Rounds": Rounds,
        "compare": lambda _: asked,
    }
    try:
        exec(cell.source.removeprefix("%%gpu\n"), names)
        said = capsys.readouterr().out
    except AssertionError as error:
        said = str(error)
    assert (wanted if answer < 1e-3 else WITHHELD) in said

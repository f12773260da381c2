"""What watch finds in kernels, run in an environment with numba-cuda's simulator."""

import json
import re
import subprocess
from xml.etree import ElementTree

import pytest
from helpers import cell

from casebook.cells.header import read
from casebook.environments import create
from casebook.errors import EnvironmentFailure
from casebook.execution.modules import HELPERS

pytestmark = pytest.mark.timeout(120)  # seconds: a kernel that hangs must not hold the suite
PINS = ("numba-cuda==0.30.4", "numba==0.65.1", "llvmlite==0.47.0", "numpy==2.4.6")
PINS += ("packaging==26.3", "cuda-core==1.2.2", "cuda-bindings==12.9.10", "cuda-pathfinder==1.9.0")
KERNELS = """
import json, sys, time
import numpy as np
from numba import cuda, float32
from watch import watch, show

N, M = 8, 2**14
f = np.float32
eight = np.arange(1, 9, dtype=f)
def zeros(shape=8, kind=f):
    return np.zeros(shape, kind)

@cuda.jit
def add(out, a, b):
    i = cuda.grid(1)
    out[i] = a[i] + b[i]  # bad: add

@cuda.jit
def add_guard(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]

@cuda.jit
def total(out, x):
    i = cuda.grid(1)
    if i < x.size:
        out[0] += x[i]

@cuda.jit
def total_atomic(out, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])

@cuda.jit
def reduce(out, x):
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 4
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] = s[0]

@cuda.jit
def reduce_none(out, x):
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    step = 4
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        step //= 2
    if t == 0:
        out[0] = s[0]

@cuda.jit
def smooth(x):
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3

@cuda.jit
def early(out, x):
    s = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    if t >= x.size:
        return
    s[t] = x[t]
    cuda.syncthreads()
    out[t] = s[7 - t]

@cuda.jit
def two_barriers(out, x):
    t = cuda.threadIdx.x
    if t < 4:
        out[t] = x[t]
        cuda.syncthreads()
    else:
        cuda.syncthreads()
        out[t] = x[t]

@cuda.jit
def columns(out, a):
    i, j = cuda.grid(2)
    out[i, j] = 2 * a[i, j]

@cuda.jit
def histogram(counts, x):
    i = cuda.grid(1)
    if i < x.size:
        counts[x[i]] += 1

@cuda.jit
def spin(flag):
    while flag[0] == 0:
        pass

@cuda.jit
def busy(flag):
    flag[0] = 1
    while True:
        pass

@cuda.jit
def last(x):
    x[cuda.grid(1) - 1] = 5

@cuda.jit
def before(x):
    x[cuda.grid(1) - 9] = 5

@cuda.jit
def found(flag, x):
    if x[cuda.grid(1)] > 2:
        flag[0] = 1

@cuda.jit
def across(x):
    if cuda.threadIdx.x == 0:
        x[0] = cuda.blockIdx.x
    cuda.syncthreads()

@cuda.jit
def mixed(x):
    cuda.atomic.add(x, 0, 1)
    x[1 + cuda.grid(1)] = x[0]

@cuda.jit
def sized(x):
    n = x.size
    s = cuda.shared.array(n, float32)
    s[cuda.grid(1)] = 1

@cuda.jit
def constant(x):
    n = 4
    s = cuda.shared.array((n, 2), dtype=float32)
    s[cuda.grid(1), 0] = 1

@cuda.jit
def large(x):
    s = cuda.shared.array(M, float32)
    s[cuda.grid(1)] = 1

@cuda.jit
def dynamic(x):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    x[t] = s[7 - t]

@cuda.jit
def raises(x):
    x[0] = 1 // (cuda.grid(1) - 1)

@cuda.jit(device=True)
def one_more(x, i):
    x[i] += 1

@cuda.jit
def calls(x):
    one_more(x, cuda.grid(1))

@cuda.jit
def views(a):
    row = a.T.T[cuda.grid(1)]
    row[1] = row[0]
    a[cuda.grid(1), 1:3] = np.sum(np.sin(row))

@cuda.jit
def case_20(count):
    t = cuda.threadIdx.x
    again = True
    while cuda.syncthreads_or(int(again)):
        again = False
        if t == 0:
            count[0] += 1
            continue
        count[t] += 1

@cuda.jit
def case_20_else(count):
    t = cuda.threadIdx.x
    again = True
    while cuda.syncthreads_or(int(again)):
        again = False
        if t == 0:
            count[0] += 1
        else:
            count[t] += 1

@cuda.jit
def double(out, x):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]
"""
GOOD = "No race and no other problem in this launch"
RACE = r"Race on {}\[\d\]: thread \d of block \d (reads|writes|atomically changes).* no barrier"
BINS = "np.array([0, 2, 1, 2, 2, 0, 3, 2])"
FINDINGS = {  # launch: the pattern of the only problem, or none
    "add[2, 8](zeros(10), np.arange(10.), np.arange(10.))": (
        r"Thread \d of block 1 reads a\[1\d\] in line \d+, .* a has 10 elements\. .* 5 more times"
    ),
    "add_guard[2, 8](zeros(10), np.arange(10.), np.arange(10.))": "",
    "total[1, 8](zeros(1), eight)": RACE.format("out"),
    "total_atomic[1, 8](zeros(1), eight)": "",
    "reduce[1, 8](zeros(1), eight)": "",
    "smooth[1, 8](eight**2)": RACE.format("x") + ".* 5 more elements of x",
    "two_barriers[1, 8](zeros(), eight)": (
        r"Threads of block 0 wait at different barriers: threads 0 to 3 in line \d+, threads 4 to 7"
    ),
    "columns[(1, 1), (8, 1)](zeros((8, 8)), zeros((8, 8)))": "",
    f"histogram[1, 8](zeros(4, int), {BINS})": RACE.format("counts") + ".* 1 more element of",
    "last[1, 8](zeros())": r"Thread 0 of block 0 writes x\[-1\] .* with a negative index",
    "before[1, 1](zeros())": r"Thread 0 of block 0 writes x\[-9\] .* but x has 8 elements",
    "found[1, 8](zeros(1), eight)": "",
    "across[2, 8](zeros(1))": r"Race on x\[0\]: thread 0 of block \d writes and thread 0 of",
    "mixed[1, 2](zeros(3))": RACE.format("x"),
    "sized[1, 8](zeros())": r"The shared array s in line .* has a variable size, n: Numba wants",
    "constant[1, 4](zeros())": "",
    "large[1, 8](zeros())": "A block asks for 65,536 bytes of shared memory, .* can have 49,152",
    "dynamic[1, 8, 0, 32](zeros())": "",
    "raises[1, 2](zeros(1))": r"Thread 1 of block 0 raises ZeroDivisionError in line \d+, `x",
    "calls[1, 8](zeros())": "",
    "views[1, 2](zeros((4, 4)))": "",
    "case_20[1, 8](zeros())": (
        r"Threads of block 0 wait at different barriers: thread 0 in line (\d+), threads 1 to 7 in "
        r"line \1, which is there twice in the bytecode"
    ),
    "case_20_else[1, 8](zeros())": "",
    "double[0, 8](zeros(), eight)": "The launch has 0 blocks, so a GPU refuses it",
    "double[1, 0](zeros(), eight)": "The launch has 0 threads, so a GPU refuses it",
    "double[1, 2048](zeros(), eight)": r"The launch has 2,048 threads in a block, .* at most 1,024",
}


@pytest.fixture(scope="module")
def python():
    """Interpreter of an environment with numba-cuda and without a CUDA toolkit."""
    try:
        return create.make(read(cell("", dependencies=PINS))).python
    except EnvironmentFailure as error:
        pytest.skip(f"needs {', '.join(PINS)}: {error}")


@pytest.fixture
def script(python, tmp_path):
    """Run a script after KERNELS; returns what it prints, and checks that it ends well."""

    def run(body, *before, kernels=KERNELS, status=0, **more):
        path = tmp_path / "script.py"
        path.write_text(kernels + body)
        env = {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(HELPERS), "PYTHONHASHSEED": "0"}
        env = {key: value for key, value in (env | more).items() if value}
        done = subprocess.run(
            [python, *before, path], env=env, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr.splitlines()[-1]

    return run


def test_every_schedule_names_what_is_wrong(script):
    body = f"""
for launch in {list(FINDINGS)!r}:
    for schedule, seed in ("lockstep", 0), ("in_order", 0), ("random", 1), ("random", 2):
        with watch(schedule, seed) as seen:
            exec(launch)
        print(json.dumps([launch, schedule, seen.problems, len(seen.races), str(seen)]))
"""
    lines = [json.loads(line) for line in script(body).splitlines()]
    assert len(lines) == 4 * len(FINDINGS)
    for launch, schedule, problems, races, text in lines:
        pattern = FINDINGS[launch]
        assert len(problems) == bool(pattern), (launch, schedule, problems)
        assert races == pattern.startswith("Race"), (launch, schedule)
        assert re.match(pattern or f"{GOOD} \\({schedule}, [\\d,]+ threads?\\)", text), text


def test_what_depends_on_the_schedule(script):
    body = """
for schedule in "lockstep", "in_order":
    for kernel, x in (total, eight), (reduce_none, eight), (early, eight[:6]):
        out = zeros()
        with watch(schedule) as seen:
            kernel[1, 8](out, x)
        print(json.dumps([float(out[0]), *seen.problems]))
"""
    lost, unset, missed = (
        "7 updates got lost",
        "before any thread has set",
        "Threads 6 to 7 of",
    )
    expected = [
        (8, [lost]),
        (36, ["Race on s", "Race on s"]),
        (0, [unset, missed]),
        (36, ["Race on out"]),
        (1, [unset, "Race on s", "Race on s"]),
        (0, [unset, missed]),
    ]
    for line, (first, words) in zip(script(body).splitlines(), expected, strict=True):
        got, *problems = json.loads(line)
        assert got == first
        assert len(problems) == len(words)
        assert all(word in problem for word, problem in zip(words, problems, strict=True)), problems


def test_the_marks_of_lost_updates_agree_with_the_sum(script):
    body = """
for seed in range(100):
    out, x = np.zeros(1), 2.0 ** np.arange(8)
    with watch("random", seed) as seen:
        total[1, 8](out, x)
    lost = {one.thread for one in seen.accesses if one.note == "lost"}
    assert lost == {i for i in range(8) if not int(out[0]) >> i & 1}, seed
    out, seen = zeros(1), watch("random", seed)
    with seen:
        reduce[1, 8](out, eight)
    assert out[0] == 36 and not seen.problems
"""
    script(body)


def test_a_launch_that_does_not_end_is_stopped(script):
    body = """
with watch(events=400) as seen:
    spin[1, 2](zeros(1))
print(seen)
start = time.monotonic()
with watch(seconds=0.5) as seen:
    busy[1, 2](zeros(1))
print(seen)
assert 0.5 < time.monotonic() - start < 3
import threading
assert threading.active_count() == 1
for tried in range(40):  # the limit may come between any two steps
    with watch(seconds=0.02 + tried / 1000) as seen:
        spin[1, 8](zeros(8))
    assert "was stopped after" in str(seen)
"""
    stopped = (
        r"The launch was stopped after {} in thread 0 of block 0, whose last access was in line "
    )
    pattern = (
        stopped.format("400 accesses") + r"\d+, `while flag\[0\] == 0:`. Does a loop never end\?\n"
    )
    pattern += stopped.format("0.5 seconds") + r"\d+, `flag\[0\] = 1`. Does a loop never end\?\n"
    assert re.fullmatch(pattern, script(body))


def test_accesses_and_counts(script):
    body = """
out = zeros((2, 2))
with watch() as seen:
    total_atomic[1, 8](out[0], eight[:3])
assert seen.reads == {"out": 3, "x": 3} and seen.writes == {"out": 3}, (seen.reads, seen.writes)
with watch("in_order") as seen:
    columns[(1, 1), (2, 2)](out, np.ones((2, 2)))
one = seen.accesses[2]
assert (one.block, one.thread, one.kind) == (0, (1, 0), "reads"), one
assert (one.array, one.index, one.value, one.element) == ("a", (1, 0), 1.0, "a[1, 0]"), one
with watch() as seen:
    views[1, 2](zeros((4, 4)))
assert seen.reads == {"a": 10} and seen.writes == {"a": 6}, (seen.reads, seen.writes)
with watch() as seen:
    total[1, 8](zeros(1), eight)
race, = seen.races
assert race.element == "out[0]" and {race.first.kind, race.second.kind} == {"reads", "writes"}
assert race.first.thread != race.second.thread and race.first.line == race.second.line
with watch() as seen:
    double[1, 8](zeros(), eight)
    double[1, 8](zeros(), eight)
assert len(seen.accesses) == 32 and "in these 2 launches (" in str(seen), str(seen)
assert str(watch()) == "No kernel was launched."
"""
    script(body)


def test_the_simulator_is_as_before_also_after_an_error(script):
    body = """
import inspect
from numba.cuda.simulator import kernel, kernelapi
def now():
    shared = inspect.getattr_static(kernelapi.FakeCUDAShared, "array")
    return kernel.FakeCUDAKernel.__call__, kernel.BlockManager, shared, kernelapi.FakeCUDAAtomic
before = now()
for launch in (lambda: raises[1, 2](zeros(1)), lambda: double[1, 8](zeros()), lambda: total(1, 2)):
    try:
        with watch():
            assert now()[1] is not before[1]
            launch()
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
    assert now() == before and kernel._kernel_context is None
out = zeros()
double[1, 8](out, eight)
assert out[7] == 16
"""
    first, second = script(body).splitlines()[:2]
    assert first == "TypeError missing a required argument: 'x'"
    assert second.startswith("ValueError")


def test_a_device_function_of_another_module(script, tmp_path):
    (tmp_path / "other.py").write_text(
        "from numba import cuda\n\n@cuda.jit(device=True)\ndef one(x):\n"
        "    x[cuda.grid(1)] += 1\n    cuda.syncthreads()\n    x[cuda.grid(1)] += 1\n"
    )
    body = """
import other
@cuda.jit
def kernel(x):
    other.one(x)
with watch() as seen:
    kernel[1, 8](x := zeros())
assert x.tolist() == [2.0] * 8 and not seen.problems, seen
assert other.cuda is cuda
"""
    script(body)


def test_the_same_bytes_in_two_processes(script):
    body = """
for schedule in "lockstep", "in_order", "random":
    for kernel in total, reduce, reduce_none, early, two_barriers, double:
        with watch(schedule, seed=3) as seen:
            kernel[1, 8](zeros(), eight)
        print(seen.svg(), seen, seen.accesses)
"""
    assert script(body, PYTHONHASHSEED="1") == script(body, PYTHONHASHSEED="2")


def test_the_drawing(script, tmp_path):
    body = """
with watch() as seen:
    total[2, 8](zeros(1), eight)
show(seen)
"""
    assert script(body).strip() == str(tmp_path / "picture.svg")
    drawing = (tmp_path / "picture.svg").read_text()
    (tmp_path / "kept").mkdir()
    assert script(body, CASEBOOK_FOLDER=str(tmp_path / "kept")) == ""
    assert (tmp_path / "kept" / "picture.svg").read_text() == drawing
    root = ElementTree.fromstring(drawing)
    space = "{http://www.w3.org/2000/svg}"
    assert root.get("width") == "480" and float(root.get("height")) > 300
    assert root.get("role") == "img" and "Race on out[0]" in root.get("aria-label")
    assert root[0].tag == space + "title" and root[0].text == "total, lockstep"
    texts = list(root.iter(space + "text"))
    assert all(one.get("fill") and 13 <= float(one.get("font-size")) <= 15 for one in texts)
    words = [one.text for one in texts]
    assert "This is the simulator's order. A GPU chooses its own." in words
    assert sum(one.get("text-decoration") == "line-through" for one in texts) == 7
    assert "8 of 16 threads are shown." in " ".join(words)


def test_a_script_is_watched_as_a_whole(script):
    body = "\nout = zeros(1)\ntotal[1, 8](out, eight)\nprint(out)\n"
    lines = script(body, HELPERS / "watch.py", NUMBA_ENABLE_CUDASIM="").splitlines()
    assert lines[0] == "total[(1, 1, 1), (8, 1, 1)], lockstep:" and "7 updates got lost" in lines[1]
    assert lines[3] == "total[(1, 1, 1), (8, 1, 1)], in_order:" and "Race on out[0]" in lines[4]
    assert lines[6:] == ["[36.]"]


def test_what_is_missing_is_said(script):
    assert "NUMBA_ENABLE_CUDASIM=1" in script("", status=1, NUMBA_ENABLE_CUDASIM="")
    other = "import importlib.metadata as m\nm.version = lambda name: '0.31.0'\nimport watch"
    text = script(other, kernels="", status=1)
    assert text == "ImportError: watch was tried with numba-cuda 0.30.4 only, and this is 0.31.0"
    text = script("watch('orderly')", status=1)
    assert text.startswith(
        "ValueError: no schedule 'orderly': choose from lockstep, in_order, rand"
    )


def test_it_is_fast_enough(script):
    body = """
for threads, blocks in (8, 1), (256, 4):
    n, times = threads * blocks, []
    for _ in range(3):
        start = time.perf_counter()
        with watch() as seen:
            double[blocks, threads](zeros(n), np.ones(n, f))
        times.append(time.perf_counter() - start)
    print(min(times))
"""
    few, many = map(float, script(body).split())
    assert few < 0.05 and many < 2

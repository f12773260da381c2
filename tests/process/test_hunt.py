"""The search for new faults: what differs is found and made small, a crash and a hang included."""

import dataclasses
import json
import re
import struct
import subprocess
import sys

import pytest
import yaml
from helpers import ROOT
from hypothesis import strategies as st

from casebook.hunt import child, command, report, search, targets
from casebook.hunt.targets import Target
from casebook.reports import Entry

SIDE = """
import os, time
RIGHT = {"double": lambda n: 2 * n}
UNABLE = ("LookupError",)
REPAIRED = {}

def wrong(n):
    if n == 77: os.abort()
    if n == 88: time.sleep(60)
    if n == 99: raise ArithmeticError("no ninety-nine")
    if n == 55: raise LookupError
    return 2 * n + (n > 200)

ASKED = {"double": wrong}
seen = lambda value, names: value
difference = lambda right, got: "" if right == got else "numbers"
"""
FRAME = "def double(n):\n    return n + n + (n > 200)\n\ndef program():\n{program}\n\n"
FRAME += "assert program() % 2 == 0\n"
FLOAT = "x = np.array([1.5, 2.5], 'float32')\nf = fuse(lambda x, s: x * s)\n"
BOOL = "x = np.array([True, False])\nf = fuse(lambda x, s: x + s)\n"
EDGES = st.sampled_from([55, 77, 88, 99]) | st.integers(0, 400)


@pytest.fixture
def target(tmp_path, monkeypatch):
    """Programs whose library fails in each way. Its environment is an empty one."""
    (tmp_path / "doubled.py").write_text(SIDE)
    monkeypatch.setattr(child, "FOLDERS", (tmp_path,))
    monkeypatch.setattr(search, "documented", lambda *_: "")
    return Target("doubles", (), EDGES.map("double({})".format), FRAME, seconds=0.5)


def test_each_kind_of_difference_is_found_and_made_small(target, tmp_path):
    done = search.search("doubled", target, 1, 200, [], tmp_path / "store")
    found = {each.verdict.kind: each for each in done.found}
    assert {kind: each.program for kind, each in found.items()} == {
        "numbers": "double(201)",
        "crash": "double(77)",
        "hang": "double(88)",
        "raises ArithmeticError": "double(99)",
    }
    assert (found["numbers"].verdict.right, found["numbers"].verdict.got) == ("402", "403")
    assert found["crash"].verdict.got == "SIGABRT" and done.outcomes["unable"]
    again = search.search("doubled", target, 2, 200, done.found, tmp_path / "store")
    assert not again.found and again.outcomes["known"]


def test_a_report_is_a_draft_of_an_entry_whose_program_shows_the_fault(target, tmp_path):
    verdict = child.Verdict("numbers", "402", "403")
    target = dataclasses.replace(target, dependencies=("cupy-cuda12x==14.2.0", "numpy==2.2.6"))
    for _ in range(2):  # the second run takes the place of the first
        report.write(target, [search.Difference("n = 201\ndouble(n)", verdict)], tmp_path / "out")
    (file,) = (tmp_path / "out").iterdir()
    entry = yaml.safe_load(file.read_text())
    assert entry["title"] == "double(n): numbers"
    assert (entry["prints"], entry["right"]) == ("403\n", "402\n")
    assert Entry("01", **entry).header().dependencies == target.dependencies
    empty = [key for key, value in entry.items() if not value]
    assert empty == ["about", "expected", "known"]  # for a person
    ended = subprocess.run(
        [sys.executable, "-"], input=entry["program"], capture_output=True, text=True
    )
    assert ended.returncode == 1 and "AssertionError" in ended.stderr


def test_a_hunt_goes_on_where_it_was_interrupted(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(command, "ROUND", 20)
    monkeypatch.setattr(command, "HUNTS", tmp_path / "hunts.json")
    command.HUNTS.write_text('[{"target": "fuse"}]')
    for examples, rounds in ((40, ["1/2", "2/2"]), (60, ["3/3"]), (60, [])):
        command.hunt(["views"], examples, [], tmp_path / "out")
        assert re.findall(r"(?m)^\[(.*?)\]", capsys.readouterr().out) == rounds
    fuse, views = json.loads(command.HUNTS.read_text())
    assert fuse == {"target": "fuse"} and sum(views["outcomes"].values()) >= 60


@pytest.mark.parametrize("name, kind", [("fuse", "case 25"), ("views", "shape")])
def test_what_the_book_knows_is_found_again(name, kind, tmp_path, monkeypatch):
    """In CuPy 14.2.0, without a GPU: numbers in narrow types, and a piece before the array."""
    rules = search.documented
    told = re.compile("tells it")
    monkeypatch.setattr(
        search, "documented", lambda *a: "" if told.search(rules(*a)) else rules(*a)
    )
    rounds = (
        search.search(name, targets.load(name), n, 250, [], tmp_path).found for n in range(1, 9)
    )
    found = next(found for found in rounds if kind in {each.verdict.kind for each in found})
    assert all(len(each.program) < 250 for each in found)


def test_what_is_reported_is_so():
    """What Found here says of two faults, and that they are not found anew."""
    for name, program, kind, got in (
        ("fuse", FLOAT + "f(x, True)\nf(x, 1000)", "numbers", "[1.5 2.5]"),
        ("fuse", FLOAT + "f(x, 1000)\nf(x, True)", "", "[1.5 2.5]"),
        ("fuse", BOOL + "f(x, 3)\nf(x, True)", "dtype", "[2 1]"),
        ("views", "a = xp.empty(3)\nxp.split(a, [-5])[1]", "shape", "'shape': [5]"),
        ("views", "a = xp.empty(3)\nxp.split(a, [-3])[1]", "", "'shape': [3]"),
    ):
        with child.Child(name, targets.load(name)) as judge:
            verdict = judge.judge(program)
        assert verdict.kind == kind and got in verdict.got
        assert not kind or "tells it" in search.documented(name, program, verdict)


@pytest.mark.parametrize("nanobind, kind", [("2.1.0", "raises TypeError"), ("3.1.0", "")])
def test_the_label_of_chapter_5_is_found_again(nanobind, kind):
    """With nanobind 2.1.0 an array on the GPU says that it is on the CPU, and to_host refuses."""
    target = targets.load("native").pinned([f"nanobind=={nanobind}"])
    program = "a = b = c = da.ramp(3, 'float32')\nda.add_template_only(a, b)"
    with child.Child("native", target) as judge:
        assert judge.judge(program).kind == kind


PTX = """
.visible .entry k(
	.param .u64 k_0,
	.param .u64 k_1
)
{
	.reg .pred 	%p<2>;
	ld.param.u64 	%rd1, [k_0];
	ld.param.u64 	%rd2, [k_1];
	ld.global.s32 	%r1, [%rd1+4];
	setp.lt.s32 	%p1, %r1, 0;
	@%p1 bra 	$L_1;
	shl.b32 	%r1, %r1, 4;
$L_1:
	{.reg .b32 %t; mov.b64 {%t, %r2}, %rd9;}
	rem.s32 	%r3, %r1, 5;
	cvt.rn.f64.s32 	%fd1, %r3;
	fma.rn.f64 	%fd2, %fd1, 0d4000000000000000, 0d3FF0000000000000;
	st.global.f64 	[%rd2], %fd2;
	ret;
}
"""


@pytest.mark.parametrize("number, right", [(-7, -3.0), (3, 7.0)])
def test_ptx_runs_on_the_cpu(number, right, monkeypatch):
    monkeypatch.syspath_prepend(child.INSIDE)
    import ptx

    memory = bytearray(struct.pack("<iid", 0, number, 0.0))
    ptx.Kernel(PTX, memory).run([ptx.BASE, ptx.BASE + 8], {"%rd9": 0})
    assert struct.unpack("<d", memory[8:]) == (right,)


def test_a_fault_of_chapter_6_is_found_again_without_a_gpu():
    """With the numbers of the H200, in chapter 6's catalogue."""
    with child.Child("kernels-by-ptx", targets.load("kernels-by-ptx")) as judge:
        verdict = judge.judge("op('max(a, b)', 'int32 uint8 -> int64')")
        assert judge.judge("op('a % b', 'int32 int32 -> int32', 'b != 0')").kind == ""
    assert verdict.got.startswith("WRONG for a = 0, b = 128: 0, not 128")


def test_every_target_can_be_loaded_and_has_its_side():
    rules = (ROOT / "casebook/hunt/documented.yml").read_text()
    for name in targets.NAMES:
        target = targets.load(name)
        side = (target.side or name).replace("-", "_")
        assert (child.INSIDE / f"{side}.py").exists() and f"\n{name}:" in rules
        assert target.header.script_block() and target.pinned(["numpy==2.0.0"]).dependencies

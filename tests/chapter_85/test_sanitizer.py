"""What is kept of a report of compute-sanitizer."""

import sys

import pytest
from helpers import ROOT

TYPES = "[abi:v1,cw51cXT](Array<float, (int)1, C, mutable, aligned>)"
MEMCHECK = f"""========= COMPUTE-SANITIZER
sum: 2
========= Invalid __global__ read of size 4 bytes
=========     at wrong::double{TYPES}+0x250 in wrong.py:7
=========     by thread (100,0,0) in block (0,0,0)
=========     Address 0x7f7767200660 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernel [0x8a600a] in libcuda.so.1
========= ERROR SUMMARY: 1 error
"""
RACE = f"""========= Error: Race reported between Write access at a::total{TYPES}+0x90 in race.py:7
=========     and Read access at race::total{TYPES}+0x100 in race.py:12 [508 hazards]
=========     and Read access at race::total{TYPES}+0x110 in race.py:12 [512 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
READ = "Invalid __global__ read of size 4 bytes"


@pytest.fixture(scope="module")
def read():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "casebook/helpers/chapter_85")
        import sanitizer
    yield sanitizer.read
    del sys.modules["sanitizer"]


def test_an_invalid_access_keeps_its_place_and_thread(read):
    lines, locations, errors = read(MEMCHECK)
    assert lines == [
        READ,
        "at double in wrong.py, line 7",
        "by thread (100,0,0) in block (0,0,0)",
        "Address 0x… is out of bounds",
    ]
    assert (locations, errors) == ([(READ, "double", "wrong.py", 7)], 1)


def test_a_kernel_without_line_table_has_line_0(read):
    lines, locations, _ = read(MEMCHECK.replace(" in wrong.py:7", ""))
    assert lines[1] == "at double" and locations == [(READ, "double", "", 0)]


def test_the_file_name_that_cupy_makes_is_hidden(read):
    text = f"========= {READ}\n=========     at twice+0x90 in {'4a5b' * 10}.cubin.cu:3"
    assert read(text)[1] == [(READ, "twice", "(source)", 3)]


def test_a_race_names_each_line_once(read):
    lines, locations, errors = read(RACE)
    assert lines == ["Write access at total in race.py, line 7",
                     "Read access at total in race.py, line 12"]  # fmt: skip
    assert {line for *_, line in locations} == {7, 12} and errors == 1


def test_no_error_and_no_start(read):
    assert read("========= ERROR SUMMARY: 0 errors") == ([], [], 0)
    assert read("========= Error: couldn't find exit code.") == ([], [], None)

"""What cubins.facts reads from machine code, compared with the assembler's own report."""

import importlib
import re

import pytest

from casebook.execution.modules import HELPERS

module = importlib.import_module
ARRAY = r"""extern "C" __global__ void kernel(float* a, const int* k, int n) {
    float t[400], r = 0;
    for (int i = 0; i < 400; ++i) t[i] = a[i];
    for (int i = 0; i < n; ++i) r += t[k[i] % 400];
    a[0] = r; }"""


@pytest.fixture(scope="module", autouse=True)
def compiler():
    """cuda.core's names, on a machine with or without a driver."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HELPERS))
        module("no_driver")
        yield module("cuda.core")


def assemble(core, source, arch="sm_90", **options):
    """The cubin of a C++ source, through PTX, and the report of ptxas."""
    target = core.ProgramOptions(arch="compute_80", no_cache=True)
    ptx = core.Program(source, "c++", target).compile("ptx")
    options = core.LinkerOptions(arch=arch, no_cache=True, ptxas_options=["-v"], **options)
    linker = core.Linker(ptx, options=options)
    return bytes(linker.link("cubin").code), linker.get_info_log()


@pytest.mark.parametrize("limit", [None, 24, 32, 40, 64, 128])
def test_registers_and_spills_are_what_ptxas_says(compiler, limit):
    cubin, report = assemble(compiler, module("heavy").HEAVY, max_register_count=limit)
    found = module("cubins").facts(cubin)
    assert found.registers == int(re.search(r"Used (\d+) registers", report)[1])
    spilled = [int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", report)]
    words = sum(spilled) / 4  # a pair of words may be one instruction
    assert len(spilled) == 2 and 0.9 * words <= found.local <= words
    assert (found.local > found.in_loops > 0) == (limit in (24, 32, 40, 64))


def test_an_indexed_array_is_local_memory_and_no_spill(compiler):
    cubin, report = assemble(compiler, ARRAY)
    assert "1600 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in report
    assert module("cubins").facts(cubin).in_loops > 0


def test_a_loop_is_read_from_its_first_to_its_last_instruction(compiler):
    """For each of 48 values the loop multiplies, multiplies and adds, and adds."""
    cubins = module("cubins")
    cubin, _ = assemble(compiler, module("heavy").HEAVY)
    code = cubins.section(cubin, ".text.heavy")
    ((start, end),) = cubins._accesses_and_loops(code)[1]
    inside = [
        int.from_bytes(code[at : at + 2], "little") & 0xFFF for at in range(start, end + 16, 16)
    ]
    assert [inside.count(operation) for operation in (0x820, 0x223, 0x421)] == [48, 48, 48]
    names = cubins.functions(cubin)
    assert "heavy" in names and any("div" in name for name in names)


TWO = ARRAY + ARRAY.replace("kernel", "other")


@pytest.mark.parametrize(
    ("source", "arch", "words"),
    [
        (None, None, "not a cubin"),
        (ARRAY, "sm_80", r"compute capability 9\.0"),
        (ARRAY, "sm_100", r"compute capability 9\.0"),
        (TWO, "sm_90", "one kernel is needed, not 2"),
    ],
)
def test_other_cubins_are_refused(compiler, source, arch, words):
    data = assemble(compiler, source, arch)[0] if source else b"// PTX"
    with pytest.raises(ValueError, match=words):
        module("cubins").facts(data)


def test_without_a_driver_its_version_is_that_of_the_bindings(compiler):
    version = module("cuda.bindings.driver").cuDriverGetVersion()[1]
    assert version // 1000 >= int(module("cuda.bindings").__version__.split(".")[0])

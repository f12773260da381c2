"""What cubins.facts reads from machine code, against what the assembler itself says of it."""

import importlib
import re

import pytest

from casebook.execution.modules import HELPERS

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
        importlib.import_module("no_driver")
        yield importlib.import_module("cuda.core")


def module(name):
    return importlib.import_module(name)


def assemble(core, source, arch="sm_90", **options):
    """The cubin of a C++ source, by way of PTX, and ptxas's own report."""
    ptx = core.Program(
        source, "c++", core.ProgramOptions(arch="compute_80", no_cache=True)
    ).compile("ptx")
    options = core.LinkerOptions(arch=arch, no_cache=True, ptxas_options=["-v"], **options)
    linker = core.Linker(ptx, options=options)
    return bytes(linker.link("cubin").code), linker.get_info_log()


@pytest.mark.parametrize("limit", [None, 24, 32, 40, 64, 128])
def test_registers_and_spills_are_what_ptxas_says(compiler, limit):
    cubin, report = assemble(compiler, module("heavy").HEAVY, max_register_count=limit)
    found = module("cubins").facts(cubin)
    assert found.registers == int(re.search(r"Used (\d+) registers", report)[1])
    spilled = [int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", report)]
    words = sum(spilled) / 4
    assert (
        len(spilled) == 2 and 0.9 * words <= found.local <= words
    )  # a pair of words may be one instruction
    assert (found.local > found.in_loops > 0) == (limit in (24, 32, 40, 64))


def test_an_indexed_array_is_local_memory_and_no_spill(compiler):
    cubin, report = assemble(compiler, ARRAY)
    assert "1600 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in report
    assert module("cubins").facts(cubin).in_loops > 0


def test_a_loop_is_read_from_its_first_to_its_last_instruction(compiler):
    """A round of the kernel's loop multiplies, multiplies and adds, and adds, for each of its 48 values."""
    cubins = module("cubins")
    code = cubins.section(assemble(compiler, module("heavy").HEAVY)[0], ".text.heavy")
    ((start, end),) = cubins._accesses_and_loops(code)[1]
    inside = [
        int.from_bytes(code[at : at + 2], "little") & 0xFFF for at in range(start, end + 16, 16)
    ]
    assert [inside.count(operation) for operation in (0x820, 0x223, 0x421)] == [48, 48, 48]


def test_functions_of_a_cubin(compiler):
    names = module("cubins").functions(assemble(compiler, module("heavy").HEAVY)[0])
    assert "heavy" in names and any("div" in name for name in names)


@pytest.mark.parametrize(("data", "words"), [(b"// PTX", "not a cubin"), (b"", "not a cubin")])
def test_what_is_no_cubin_is_refused(data, words):
    with pytest.raises(ValueError, match=words):
        module("cubins").facts(data)


@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
def test_code_for_another_gpu_is_refused(compiler, arch):
    with pytest.raises(ValueError, match=r"compute capability 9\.0"):
        module("cubins").facts(assemble(compiler, ARRAY, arch)[0])


def test_several_kernels_are_refused(compiler):
    with pytest.raises(ValueError, match="one kernel is needed, not 2"):
        module("cubins").facts(assemble(compiler, ARRAY + ARRAY.replace("kernel", "other"))[0])


def test_without_a_driver_its_version_is_that_of_the_bindings(compiler):
    version = module("cuda.bindings.driver").cuDriverGetVersion()[1]
    assert version // 1000 >= int(module("cuda.bindings").__version__.split(".")[0])

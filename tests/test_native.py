"""native/: how it is built for a header, and what it does, with the nanobind that labels wrongly and the one of today."""
import os
import shutil
import subprocess
import threading

import pytest
from helpers import ROOT, cell, play

from casebook import build, environment, gpu
from casebook.environment import uv, uv_variables
from casebook.errors import EnvironmentFailure
from casebook.header import read

TOOLS = ["scikit-build-core==1.1.2", "cmake==4.4.4", "ninja==1.13.2", "packaging==26.3", "pathspec==1.1.1", "numpy==2.4.6"]
# The same sets as in chapter 5, so that tests and chapter share their environments and builds.
GPU_LIBRARIES = ["cupy-cuda12x==14.2.0", "cuda-core==1.2.2", "cuda-bindings==12.9.10", "cuda-pathfinder==1.9.0"]
PYTHON = ">=3.11,<3.13"
PRELUDE = """
import gc, numpy as np, device_arrays as da
from dlpeek import Wrap, device_of, tensor, name
a, b = da.full(8, 1.0), da.full(8, 2.0)
"""


def pins(nanobind):
    return [f"nanobind=={nanobind}", *TOOLS, *GPU_LIBRARIES]


@pytest.fixture(params=["2.1.0", "3.1.0"])
def nanobind(request):
    return request.param


@pytest.fixture(params=["host", "cuda"])
def native(request, nanobind):
    """Runs a script with native/ on its path: native(body, *options). Once on forbidden host memory, once on the GPU."""
    if request.param == "cuda" and not gpu.find():
        pytest.skip("needs an NVIDIA GPU")
    mode = ["gpu = true"] if request.param == "cuda" else []

    def run(body, *options):
        return play(PRELUDE + body, 'build = "native"', *mode, *options, dependencies=pins(nanobind), python=PYTHON).output

    return run


# --- the label

TAGS = "print(*(device_of(f(a, b))[0] for f in (da.add_template_only, da.add_explicit, da.add_untagged)))"


def test_labels(native, nanobind):
    assert native(TAGS) == ("1 2 1\n" if nanobind == "2.1.0" else "2 2 1\n")


def test_the_docstring_claims_a_gpu_in_every_release(native):
    native("assert \"device='cuda'\" in da.add_template_only.__doc__.rpartition('->')[2]")


def test_a_wrong_label_is_deadly(native):
    native("x = np.from_dlpack(Wrap(da.add_untagged(a, b)))\nassert x.__dlpack_device__() == (1, 0)\nprint(x)", "signal = 'SIGSEGV'")


def test_a_right_label_is_refused_by_numpy(native):
    native("np.from_dlpack(Wrap(da.add_explicit(a, b)))", "raises = 'RuntimeError'", "match = 'Unsupported device'")


def test_the_module_says_which_mode_it_is(native, request):
    mode = request.node.callspec.params["native"]
    output = native("print(da.mode, hasattr(a, '__cuda_array_interface__'), 'no GPU' in repr(a))")
    assert output == f"{mode} {mode == 'cuda'} {mode == 'host'}\n"


# --- the numbers

def test_add(native):
    native("x = np.arange(1003, dtype='f4')\nwhole = da.full(1003, 2.0)\n"
           "assert np.array_equal(da.to_host(da.add(whole, da.full(1003, 5.0))), np.full(1003, 7, 'f4'))\n"
           "assert da.to_host(da.add(da.full(0, 1.0), da.full(0, 1.0))).size == 0")


def test_rms_norm(native):
    native("""
class Matrix:
    def __init__(self, vector, rows): self.vector, self.rows = vector, rows
    def __dlpack__(self, **wishes):
        import ctypes
        capsule = self.vector.__dlpack__()
        t = tensor(capsule)
        columns, pair = t.shape[0] // self.rows, ctypes.c_int64 * 2
        self.lengths, self.steps = pair(self.rows, columns), pair(columns, 1)
        t.ndim, t.shape, t.strides = 2, self.lengths, self.steps
        return capsule
    def __dlpack_device__(self): return self.vector.__dlpack_device__()
x, weight, out = da.full(6006, 3.0), da.full(1001, 0.5), da.full(6006, 0.0)
da.rms_norm(Matrix(x, 6), weight, Matrix(out, 6))
assert np.allclose(da.to_host(out), 0.5, rtol=1e-5), da.to_host(out)
""")


def test_a_data_type_that_is_passed_overrides_the_template(native):
    assert native("print(da.wrong_dtype(4).tolist(), da.right_dtype(4).tolist())") == "[0.0, 1.875, 0.0, 1.875] [1.0, 1.0, 1.0, 1.0]\n"


# --- errors

ERRORS = {
    "out of memory": ("da.full(10**13, 1.0)", "device_arrays.DeviceError", "out of memory"),
    "more than can be addressed": ("da.full(2**62, 1.0)", "device_arrays.DeviceError", "out of memory"),
    "bad device id": ("da.full(8, 1.0, device=99)", "device_arrays.DeviceError", "device"),
    "length mismatch": ("da.add(a, da.full(9, 1.0))", "ValueError", "differ in length"),
    "host array": ("da.add(np.ones(8, 'f4'), b)", "TypeError", "incompatible function arguments"),
    "freed twice": ("a.free(); a.free()", "ValueError", "freed already"),
    "exported after free": ("a.free(); a.__dlpack__()", "ValueError", "freed already"),
    "used after free": ("a.free(); da.add(a, b)", "TypeError", "incompatible function arguments"),
    "stream=0": ("a.__dlpack__(stream=0)", "ValueError", "ambiguous"),
    "stream=-2": ("a.__dlpack__(stream=-2)", "ValueError", "None, -1 or a stream"),
    "copy": ("a.__dlpack__(copy=True)", "BufferError", "never copied"),
    "other device": ("a.__dlpack__(dl_device=(1, 0))", "BufferError", "another device"),
    "no owner": ("da.no_owner(8)", "RuntimeError", "copy"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(native, name):
    body, error, message = ERRORS[name]
    native(body, f"raises = '{error}'", f"match = '{message}'")


def test_after_an_error_everything_works(native):
    native("try: da.full(10**13, 1.0)\nexcept da.DeviceError: pass\nassert da.to_host(da.add(a, b)).tolist() == [3] * 8")


def test_the_wrong_deleter_is_deadly(native):
    native("c = da.wrong_deleter(8)\ndel c", "signal = 'SIGSEGV'")


# --- ownership

def test_no_leak_over_ten_thousand_calls(native):
    native("before = da.live()\nfor _ in range(10_000): da.add_explicit(a, b)\nassert da.live() == before == 2")


def test_no_leak_of_exports(native):
    native("for _ in range(10_000): a.__dlpack__(); a.__dlpack__(max_version=(1, 0))\nassert da.live() == 2")


def test_an_export_outlives_its_array(native):
    native("kept = da.add(a, b).__dlpack__()\nassert da.live() == 3\nassert da.to_host(kept).tolist() == [3] * 8\n"
           "del kept; gc.collect()\nassert da.live() == 2")


def test_free_gives_up_the_memory_at_once_but_not_that_of_views(native):
    native("view = a.__dlpack__()\na.free(); b.free()\nassert da.live() == 1\nassert da.to_host(view).tolist() == [1] * 8")


# --- the protocol

@pytest.mark.parametrize("wish, kind", [("", "dltensor"), ("max_version=(0, 8)", "dltensor"), ("max_version=(1, 0)", "dltensor_versioned"),
                                        ("max_version=(7, 0), stream=-1, dl_device=(2, 0), copy=False", "dltensor_versioned")])
def test_versions_of_the_capsule(native, wish, kind):
    assert native(f"c = a.__dlpack__({wish})\nprint(name(c).decode(), device_of(c), tensor(c).shape[0])") == f"{kind} (2, 0) 8\n"


def test_the_device_number_is_lost_unless_it_is_passed(nanobind):
    body = ("import device_arrays as da\nfrom dlpeek import device_of\na = da.full(8, 1.0, device=1)\n"
            "print(device_of(da.add_explicit(a, a)), device_of(da.add_template_only(a, a)))")
    output = play(body, 'build = "native"', dependencies=pins(nanobind), python=PYTHON).output
    assert output == ("(2, 1) (1, 0)\n" if nanobind == "2.1.0" else "(2, 1) (2, 0)\n")


MEMCHECK = """
import device_arrays as da
from cupy import asarray, empty
from numpy import ones
a, b = da.full(100_003, 1.0), da.full(100_003, 2.0)
for make in da.add, da.add_template_only, da.add_explicit, da.add_untagged:
    kept = make(a, b)
assert da.to_host(da.add(a, b, late=1)).sum() == 300_009
x, weight, out = asarray(ones((100, 1001), "f4")), asarray(ones(1001, "f4")), empty((100, 1001), "f4")
da.rms_norm(x, weight, out)
da.add_into(x[0], weight, out[0])
assert da.to_host(out).max() == 2
a.__dlpack__(); a.__dlpack__(max_version=(1, 0)); a.__cuda_array_interface__
del a, b, kept
assert da.live() == 0
"""


def test_memcheck_is_clean(nanobind):
    """`compute-sanitizer` finds no bad access and no CUDA call that failed."""
    sanitizer = shutil.which("compute-sanitizer", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if not gpu.find() or not sanitizer:
        pytest.skip("needs an NVIDIA GPU and compute-sanitizer")
    header = read(cell("", 'build = "native"', "gpu = true", dependencies=pins(nanobind), python=PYTHON))
    made = environment.make(header)
    checked = subprocess.run([sanitizer, "--tool", "memcheck", "--error-exitcode", "9", made.python, "-c", MEMCHECK],
                             env=os.environ | {"PYTHONPATH": str(build.build(header, made))}, capture_output=True, text=True)
    assert "ERROR SUMMARY: 0 errors" in checked.stdout and checked.returncode == 0, checked.stdout + checked.stderr


# --- building

@pytest.fixture
def header():
    return read(cell("", 'build = "native"', dependencies=pins("3.1.0"), python=PYTHON))


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A repository of its own, with a native/ that may be broken."""
    (tmp_path / "native").mkdir()
    for source in [p for p in (ROOT / "native").rglob("*") if p.is_file()]:
        target = tmp_path / source.relative_to(ROOT)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(source.read_bytes())
    monkeypatch.setattr(build, "ROOT", tmp_path)
    return tmp_path / "native"


def test_without_a_clone(header, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    with pytest.raises(EnvironmentFailure, match="open the notebook from a clone"):
        build.build(header, environment.make(header))


def test_a_build_is_made_once(header):
    made, lines = environment.make(header), []
    first = build.build(header, made)
    assert build.build(header, made, lines.append) == first
    assert not lines


def test_the_key_knows_mode_and_sources(header, copy):
    made = environment.make(header)
    keys = {build.key(header, made, copy, "host"), build.key(header, made, copy, "cuda")}
    (copy / "src" / "device.h").write_text("// changed\n" + (copy / "src" / "device.h").read_text())
    assert len(keys | {build.key(header, made, copy, "host")}) == 3


def test_a_failing_build_shows_what_the_compiler_said(header, copy):
    (copy / "src" / "device_host.cpp").write_text('#include "device.h"\nint broken = "text";\n')
    with pytest.raises(EnvironmentFailure, match=r"(?s)^native/ could not be built in mode host.*device_host\.cpp:2.*invalid conversion"):
        build.build(header, environment.make(header))


def test_cuda_without_nvcc(header, copy, tmp_path):
    text = (copy / "CMakeLists.txt").read_text()
    (copy / "CMakeLists.txt").write_text(text.replace("find_program(NVCC nvcc", "find_program(NVCC no-such-compiler"))
    with pytest.raises(EnvironmentFailure, match=r"could not be built in mode cuda: it needs nvcc of a CUDA toolkit"):
        build.install(copy, "cuda", environment.make(header), tmp_path / "out", lambda line: None)


def test_two_notebooks_build_once(header, copy, tmp_path):
    (copy / "src" / "device.h").write_text(f"// {tmp_path}\n" + (copy / "src" / "device.h").read_text())
    made, lines = environment.make(header), []
    threads = [threading.Thread(target=build.build, args=(header, made, lines.append)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(line.startswith("compiling") for line in lines) == 1
    assert (build.build(header, made) / "dlpeek.py").exists()


def test_a_plain_install_chooses_its_mode(header, tmp_path):
    """`pip install ./native` says nothing about the mode: CUDA where a GPU and nvcc are found, else host."""
    made = environment.make(header)
    subprocess.run([uv(), "pip", "install", "--quiet", "--python", made.python, "--target", tmp_path, "--no-build-isolation", "--no-deps",
                    "--offline", "--no-cache", ROOT / "native"], env=uv_variables(), check=True)
    mode = subprocess.run([made.python, "-c", "import device_arrays as da; print(da.mode)"], env={"PYTHONPATH": str(tmp_path)},
                          capture_output=True, text=True, check=True).stdout.strip()
    assert mode == "host" if not gpu.find() else mode in ("cuda", "host")

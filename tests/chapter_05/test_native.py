"""native/: what it does, with the nanobind that labels wrongly and with today's, and its builds."""

import glob
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers import ROOT, cell, play

from casebook import chapters
from casebook.cells.header import read
from casebook.environments import build, create, gpu, uv
from casebook.errors import EnvironmentFailure

OLD, NEW = "nanobind==2.1.0", "nanobind==3.1.0"
PYTHON = ">=3.11,<3.14"
# The headers of chapter 5, so that tests and chapter share their environments and builds.
PINS = {h.dependencies[0]: h.dependencies for h in chapters.load(["05"])[0].headers(gpu=False)}
PRELUDE = """
import gc, numpy as np, device_arrays as da
from device_arrays.dlpeek import Wrap, device_of, tensor, name
a, b = da.full(8, 1.0), da.full(8, 2.0)
"""
# Producers that do what CuPy's arrays do when nanobind asks them, on the extension's own memory.
PRODUCERS = """
import ctypes, enum

class Kind(enum.IntEnum): cuda = 2

class Recorder:
    "Keeps what it was asked; a producer of before DLPack 1.0 on request."
    def __init__(self, array, old=False): self.array, self.old, self.asked = array, old, []
    def __dlpack_device__(self): return Kind.cuda, self.array.__dlpack_device__()[1]
    def __dlpack__(self, *, stream=None, **wishes):
        self.asked.append((stream, *wishes))
        if self.old and wishes: raise TypeError("unexpected keyword")
        return self.array.__dlpack__(stream=stream, **wishes)

class Odd:
    "Four elements of another type or order in the memory of eight floats; astype copies them."
    def __init__(self, bits=32, step=1):
        self.bits, self.step, self.memory, self.copies = bits, step, da.full(8, 0.0), []
    def __dlpack_device__(self): return self.memory.__dlpack_device__()
    def __dlpack__(self, *, stream=None, **wishes):
        capsule = self.memory.__dlpack__(stream=stream)
        t = tensor(capsule)
        t.bits, t.shape[0], t.strides[0] = self.bits, 4, self.step
        return capsule
    def astype(self, dtype, order):
        self.copies.append(da.full(4, 0.0))
        return self.copies[-1]
Odd.__module__ = "cupy"

four = [da.full(4, 1.0), da.full(4, 2.0)]
odds = Odd(bits=64), Odd(step=2)

def refused(*outputs):
    for more in (), (1,):
        try: da.add_into(*outputs, *more)
        except TypeError: continue
        raise AssertionError("accepted")
"""


def outcome(body, nanobind, *options):
    """The output of a script with native/ on its path."""
    header = {"dependencies": PINS[nanobind], "python": PYTHON}
    return play(PRELUDE + body, 'build = "native"', *options, **header).output


@pytest.fixture(params=["host", "cuda"])
def native(request):
    """native(body, *options, nanobind=NEW): a script on protected host memory, and on the GPU."""
    if request.param == "cuda" and not gpu.find():
        pytest.skip("needs an NVIDIA GPU")
    mode = ["gpu = true"] if request.param == "cuda" else []

    def run(body, *options, nanobind=NEW):
        return outcome(f"assert da.mode == {request.param!r}\n{body}", nanobind, *mode, *options)

    return run


# --- many small scripts in one process

ERRORS = {
    ("DeviceError", "out of memory"): ["da.full(10**13, 1.0)", "da.full(2**62, 1.0)"],
    ("DeviceError", "device"): ["da.full(8, 1.0, device=99)"],
    ("ValueError", "differ in length"): ["da.add(a, da.full(9, 1.0))"],
    ("ValueError", "freed already"): [
        "a.free(); a.free()",
        "a.free(); a.__dlpack__()",
        "a.free(); da.add(a, b)",
    ],
    ("TypeError", "incompatible function arguments"): [
        "da.add(np.ones(8, 'f4'), b)",
        "da.add(3, b)",
        "da.add(None, b)",
        "c = a.__dlpack__(); da.add(c, b); da.add(c, b)",
        "da.add(a, b, stream=-1)",
    ],
    ("ValueError", "ambiguous"): ["a.__dlpack__(stream=0)"],
    ("ValueError", "None, -1 or a stream"): ["a.__dlpack__(stream=-2)"],
    ("BufferError", "never copied"): ["a.__dlpack__(copy=True)"],
    ("BufferError", "another device"): ["a.__dlpack__(dl_device=(1, 0))"],
    ("RuntimeError", "copy"): ["da.no_owner(8)"],
    ("RuntimeError", "Unsupported device"): ["np.from_dlpack(Wrap(da.add_explicit(a, b)))"],
}
WORKS = {
    "labels": """
add = da.add_template_only, da.add_explicit, da.add_labelled, da.add_untagged
assert [device_of(f(a, b))[0] for f in add] == [1 if OLD else 2, 2, 2, 1]""",
    "the device number is lost unless it is passed": """
if da.mode == "host":
    other = da.full(8, 1.0, device=1)
    add = da.add_explicit, da.add_labelled, da.add_template_only
    found = [device_of(f(other, other)) for f in add]
    assert found == [(2, 1), (2, 1), (1 if OLD else 2, 0)], found""",
    "what an array says of its mode": """
assert hasattr(a, "__cuda_array_interface__") == (da.mode == "cuda")
assert ("no GPU" in repr(a)) == (da.mode == "host")""",
    # Stubs and py.typed are installed, and the stubs name all that the extension offers.
    "the package is typed": """
import ast, pathlib, device_arrays._ext as ext
folder = pathlib.Path(ext.__file__).parent
stub = ast.parse((folder / "_ext.pyi").read_text()).body
named = {n.name for n in stub if hasattr(n, "name")}
named |= {n.target.id for n in stub if hasattr(n, "target")}
assert (folder / "py.typed").exists()
assert {n for n in dir(ext) if not n.startswith("_")} <= named""",
    "every release's docstring claims a GPU": """
assert "device='cuda'" in da.add_template_only.__doc__.rpartition('->')[2]""",
    "add": """
x = np.arange(1003, dtype="f4")
whole, out = da.full(1003, 2.0), da.full(1003, 0.0)
assert np.array_equal(da.to_host(da.add(whole, da.full(1003, 5.0))), np.full(1003, 7, "f4"))
da.add_into(whole, whole, out)
assert da.to_host(out).tolist() == [4] * 1003
da.add_into(whole, out, out, 1)
assert da.to_host(out).tolist() == [6] * 1003""",
    # DLPack's header: for size 0 the pointer is null; the CUDA Array Interface says the same.
    "an array without elements has no address": """
empty = da.full(0, 1.0)
total = da.add(empty, empty)
assert da.to_host(total).size == 0 and tensor(total.__dlpack__()).data is None
if da.mode == "cuda":
    assert total.__cuda_array_interface__["data"] == (0, False)
    import cupy
    assert cupy.asarray(total).size == cupy.from_dlpack(total).size == 0
del total, empty
assert live() == 2""",
    "rms_norm": """
import ctypes
from device_arrays.dlpeek import DLTensor
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

class Matrix:
    "The memory of a vector in rows; outlives the capsules that it makes."
    def __init__(self, vector, rows): self.vector, self.rows, self.managed = vector, rows, Managed()
    def __dlpack_device__(self): return self.vector.__dlpack_device__()
    def __dlpack__(self, *, stream=None, **wishes):
        t, flat = self.managed.tensor, tensor(self.vector.__dlpack__(stream=stream))
        columns, pair = flat.shape[0] // self.rows, ctypes.c_int64 * 2
        self.lengths, self.steps = pair(self.rows, columns), pair(columns, 1)
        t.data, t.device_type, t.device_id, t.code = flat.data, 2, flat.device_id, 2
        t.bits, t.lanes, t.ndim, t.shape, t.strides = 32, 1, 2, self.lengths, self.steps
        return new(ctypes.addressof(self.managed), b"dltensor", None)

x, weight, out = da.full(6006, 3.0), da.full(1001, 0.5), da.full(6006, 0.0)
da.rms_norm(Matrix(x, 6), weight, Matrix(out, 6))
assert np.allclose(da.to_host(out), 0.5, rtol=1e-5), da.to_host(out)""",
    "a data type that is passed overrides the template": """
assert da.wrong_dtype(4).tolist() == [0.0, 1.875, 0.0, 1.875]
assert da.right_dtype(4).tolist() == [1.0] * 4""",
    "host arrays are refused and stay as they were": PRODUCERS
    + """
for out in np.zeros(8), np.zeros(16, "f4")[::2], np.zeros((8, 8), "f4").T[0]:
    refused(a, b, out)
    assert not out.any()""",
    # Without noconvert, nanobind writes into a converted copy: the caller's array stays as it was.
    "an output is never converted": PRODUCERS
    + """
for odd in odds:
    da.add_into_converting(*four, odd)
    assert da.to_host(odd.copies[0]).tolist() == [3] * 4
    refused(*four, odd)
    assert len(odd.copies) == 1 and not da.to_host(odd.memory).any()""",
    "an input may be converted on the legacy stream": PRODUCERS
    + """
for odd in odds:
    out = da.full(4, 0.0)
    da.add_into(odd, four[1], out)
    assert len(odd.copies) == 1 and da.to_host(out).tolist() == [2] * 4""",
    # DLPack of before 1.0 cannot say that an array is constant.
    "a constant array is no output": PRODUCERS
    + """
if not OLD:
    constant = da.constant(8)
    refused(a, b, constant)
    assert da.to_host(da.add(constant, b)).tolist() == [2] * 8""",
    # Each argument's __dlpack__ gets the stream that the function works on; nanobind's own
    # conversion names none.
    "the producer is told the stream": PRODUCERS
    + """
wishes = () if OLD else ("max_version",)
p, out = Recorder(a), Recorder(da.full(8, 0.0), old=True)
def asked(producer):
    asked, producer.asked = producer.asked, []
    return asked
for stream in 0, 1, 2:
    assert da.to_host(da.add(p, b, stream=stream)).tolist() == [3] * 8
assert asked(p) == [(1,), (1,), (2,)], p.asked
da.add_unordered(p, b, 2)
da.add_into(p, b, out)
assert asked(p) == [(None,), (None,)]
asked(out)
da.add_into(p, b, out, 2)
assert asked(p) == [(2,)]
assert asked(out) == ([(2, *wishes), (2,)] if wishes else [(2,)])
assert da.to_host(out.array).tolist() == [3] * 8""",
    "after an error everything works": """
try: da.full(10**13, 1.0)
except da.DeviceError: pass
assert da.to_host(da.add(a, b)).tolist() == [3] * 8""",
    "no leak over ten thousand calls": """
for _ in range(10_000):
    da.add_explicit(a, b)
    a.__dlpack__(); a.__dlpack__(max_version=(1, 0))
assert live() == 2""",
    "an export outlives its array": """
kept = da.add(a, b).__dlpack__()
assert live() == 3 and da.to_host(kept).tolist() == [3] * 8
del kept; gc.collect()
assert live() == 2""",
    "free gives up the memory at once, but not that of views": """
view = a.__dlpack__()
a.free(); b.free()
assert live() == 1 and da.to_host(view).tolist() == [1] * 8""",
    # The capsule is one of before DLPack 1.0, which consumers have to accept whatever they ask.
    "wishes that are granted": """
one = {"max_version": (7, 0), "stream": -1, "dl_device": (2, 0), "copy": False}
for wishes in {}, {"max_version": None}, {"max_version": (0, 8)}, one:
    c = a.__dlpack__(**wishes)
    assert (name(c), device_of(c), tensor(c).shape[0]) == (b"dltensor", (2, 0), 8), wishes""",
}
# Prints each script's first line before it runs, so that the last one is that of a crash.
RUN_ALL = """
import re
def run(body):
    before = da.live()
    try: exec(body, {"OLD": OLD, "live": lambda: da.live() - before})
    except Exception as error: return type(error).__name__, str(error)
    return "", ""
for body, error, message in SCRIPTS:
    print(body.strip().splitlines()[0])
    ended = run(PRELUDE + body)
    gc.collect()
    if ended[0] != error or not re.search(message, ended[1]): print("FAILED", ended)
"""


@pytest.mark.parametrize("nanobind", [OLD, NEW])
def test_scripts(native, nanobind):
    scripts = [(body, *ending) for ending, bodies in ERRORS.items() for body in bodies]
    scripts += [(f"# {title}{body}", "", "") for title, body in WORKS.items()]
    given = f"OLD = {nanobind == OLD}\nPRELUDE = {PRELUDE!r}\nSCRIPTS = {scripts!r}\n"
    output = native(given + RUN_ALL, nanobind=nanobind)
    assert output.splitlines() == [body.splitlines()[0] for body, *_ in scripts]


@pytest.mark.parametrize(
    "body",
    [
        "x = np.from_dlpack(Wrap(da.add_untagged(a, b)))\n"
        "assert x.__dlpack_device__() == (1, 0)\nprint(x)",
        "c = da.wrong_deleter(8)\ndel c",
    ],
    ids=["a wrong label", "the wrong deleter"],
)
def test_what_is_deadly(native, body):
    native(body, "signal = 'SIGSEGV'")


# --- what protected host memory cannot show: the order of streams

ON_GPU = {
    "an input that is not ready": """
a = da.full(1 << 20, 1.0)
da.add(a, a)
s, t = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
for add, right in (da.add_unordered, False), (da.add_explicit, True):
    late = da.add(a, a, stream=s.ptr, late=200)
    total = da.to_host(add(late, late, t.ptr))
    assert (total == 4).all() == right, (add, total)
    s.synchronize()""",
    # __cuda_array_interface__ names the legacy default stream, which waits, not the producer's.
    "a stream may be gone when its array is used": """
a = da.full(1 << 20, 1.0)
da.add(a, a)
s = cp.cuda.Stream(non_blocking=True)
c = da.add(a, a, stream=s.ptr, late=200)
del s
assert c.__cuda_array_interface__["stream"] == 1
assert (cp.asnumpy(cp.asarray(c)) == 2).all()""",
    # cudaFree waits for the work that is under way; the interpreter does not.
    "other threads run while memory is freed": """
import threading, time
da.add(a, b)
s = cp.cuda.Stream(non_blocking=True)
def add(): return da.add(a, b, stream=s.ptr, late=500)
for make in add, (lambda: da.add_explicit(a, b, s.ptr, False, 500)):
    late, stop, counted = make(), threading.Event(), []
    def count():
        while not stop.is_set(): counted.append(time.sleep(0.01))
    thread = threading.Thread(target=count)
    thread.start()
    start, before = time.perf_counter(), len(counted)
    late = None
    waited, meanwhile = time.perf_counter() - start, len(counted) - before
    stop.set(); thread.join()
    assert waited > 0.2 and meanwhile >= 5, (waited, meanwhile)""",
}


@pytest.mark.parametrize("title", ON_GPU)
def test_on_the_gpu(title):
    if not gpu.find():
        pytest.skip("needs an NVIDIA GPU")
    outcome("import cupy as cp" + ON_GPU[title], NEW, "gpu = true")


SANITIZED = """
import device_arrays as da
from cupy import asarray, cuda, empty, from_dlpack
from numpy import ones
s = cuda.Stream(non_blocking=True)
a, b, none = da.full(100_003, 1.0), da.full(100_003, 2.0), da.full(0, 1.0)
for make in da.add, da.add_template_only, da.add_explicit, da.add_labelled:
    kept = make(a, b, stream=s.ptr), make(none, none)
kept = da.add_untagged(a, b), da.add_unordered(a, b, s.ptr)
assert da.to_host(da.add(a, b, late=1)).sum() == 300_009
x, out = asarray(ones((100, 1001), "f4")), empty((100, 1001), "f4")
weight = asarray(ones(1001, "f4"))
da.rms_norm(x, weight, out)
da.rms_norm(x, weight, out, stream=s.ptr)
s.synchronize()
da.add_into(x[0], weight, out[0])
da.add_into(x[0], out[0], out[0], s.ptr)
s.synchronize()
assert da.to_host(out).max() == 3
view = from_dlpack(a)
a.__dlpack__(); a.__dlpack__(max_version=(1, 0)); a.__cuda_array_interface__
a.free()
assert da.to_host(view).sum() == 100_003
del b, kept, view, none
assert da.live() == 0
"""


@pytest.mark.parametrize("tool", ["memcheck", "initcheck", "racecheck"])
def test_the_sanitizer_is_content(tool):
    """It finds no bad access, failed CUDA call, read of unwritten memory, race in shared memory."""
    sanitizer = shutil.which(
        "compute-sanitizer", path=":".join([os.environ["PATH"], *glob.glob("/usr/local/cuda*/bin")])
    )
    if not gpu.find() or not sanitizer:
        pytest.skip("needs an NVIDIA GPU and compute-sanitizer")
    header = read(cell("", 'build = "native"', "gpu = true", dependencies=PINS[NEW], python=PYTHON))
    made = create.make(header)
    checked = subprocess.run(
        [sanitizer, "--tool", tool, "--error-exitcode", "9", made.python, "-c", SANITIZED],
        env=os.environ | {"PYTHONPATH": str(build.build(header, made))},
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0 and re.search("(ERROR|RACECHECK) SUMMARY: 0 ", checked.stdout), (
        checked.stdout + checked.stderr
    )


# --- the pages of host mode


def test_pages_that_cannot_be_protected(tmp_path):
    """Where mprotect fails, nothing goes on as if they were: opening raises, closing aborts."""
    (tmp_path / "fake.c").write_text("""
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int mprotect(void *start, size_t size, int access) {
    if (getenv("FAILS") && atoi(getenv("FAILS")) == access) return errno = EACCES, -1;
    return syscall(SYS_mprotect, start, size, access);
}
""")
    library = tmp_path / "fake.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "fake.c"], check=True)
    fake = f'env = {{LD_PRELOAD = "{library}"}}'
    body = """import ctypes, device_arrays as da
ctypes.CDLL(None).setenv(b'FAILS', b'%d', 1)
da.full(8, 1.0)"""
    denied = "raises = 'DeviceError'", "match = 'mprotect: Permission denied'"
    outcome(body % 3, NEW, fake, *denied)
    assert "would stay open" in outcome(body % 0, NEW, fake, "signal = 'SIGABRT'")


# --- building


@pytest.fixture
def header():
    return read(cell("", 'build = "native"', dependencies=PINS[NEW], python=PYTHON))


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A repository of its own, with a native/ that may be broken."""
    shutil.copytree(ROOT / "native", tmp_path / "native")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "native"


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A native/ that is built like the book's own and compiles in a moment."""
    (tmp_path / "native").mkdir()
    (tmp_path / "native/pyproject.toml").write_text("""
[build-system]
requires = ["scikit-build-core"]
build-backend = "scikit_build_core.build"
[project]
name = "small"
version = "1"
""")
    (tmp_path / "native/CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.24...4.0)
project(small LANGUAGES CXX)
add_library(small MODULE small.cpp)
install(TARGETS small DESTINATION small)
""")
    (tmp_path / "native/small.cpp").write_text(f'const char* place = "{tmp_path}";')
    monkeypatch.chdir(tmp_path)
    return tmp_path / "native"


def test_without_a_clone(header, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EnvironmentFailure, match="open the notebook from a clone"):
        build.source_of(header)


def test_the_key_knows_mode_and_sources(header, copy):
    made = create.make(header)
    keys = {build.key(header, made, copy, "host"), build.key(header, made, copy, "cuda")}
    (copy / "src" / "device.h").write_text("// changed")
    assert len(keys | {build.key(header, made, copy, "host")}) == 3


def test_two_notebooks_build_once_and_again_what_is_damaged(header, small):
    made, lines = create.make(header), []

    def both():
        with ThreadPoolExecutor() as pool:
            ended = pool.map(lambda _: build.build(header, made, lines.append), range(2))
            (modules,) = set(ended)
        return modules / "small" / "libsmall.so", str(lines).count("compiling")

    library, compiled = both()
    assert library.exists() and compiled == 1
    library.write_bytes(b"")
    assert both() == (library, 2) and library.read_bytes()
    assert both() == (library, 2)


def test_a_build_of_a_shared_folder_is_taken_from_it(header, small, monkeypatch, tmp_path):
    made, folder = create.make(header), tmp_path / "class"
    built = build.build(header, made, into=folder)
    assert built.is_relative_to(folder)
    monkeypatch.setenv("CASEBOOK_ENVIRONMENTS", str(folder))
    assert build.build(header, made) == built
    (small / "small.cpp").write_text("")
    assert not build.build(header, made).is_relative_to(folder)


def test_a_failing_build_shows_what_the_compiler_said(header, small):
    (small / "small.cpp").write_text('\nint broken = "text";\n')
    shown = r"(?s)^native/ could not be built in mode host.*small\.cpp:2.*invalid conversion"
    with pytest.raises(EnvironmentFailure, match=shown):
        build.build(header, create.make(header))


def test_cuda_without_nvcc(header, copy, tmp_path):
    text = (copy / "CMakeLists.txt").read_text()
    (copy / "CMakeLists.txt").write_text(text.replace("check_language(CUDA)", ""))
    shown = "could not be built in mode cuda: nvcc from CUDA Toolkit 12 or 13 is required"
    with pytest.raises(EnvironmentFailure, match=shown):
        build.install(copy, "cuda", create.make(header), tmp_path / "out", uv.silent)


@pytest.mark.parametrize("name", ["bindings", "device_host", "experiments"])
def test_a_source_compiles_by_itself(header, name):
    """A build for the host puts several into one unit, where one may lack what another has."""
    made = create.make(header)
    ask = [made.python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]
    headers = subprocess.check_output(ask, text=True).strip()
    command = ["c++", "-std=c++17", "-fsyntax-only", f"-I{headers}"]
    command += [f"-I{made.site}/nanobind/include", ROOT / f"native/src/{name}.cpp"]
    ended = subprocess.run(command, capture_output=True)
    assert ended.returncode == 0, ended.stderr


def test_without_a_word_about_the_mode_it_is_chosen(header, tmp_path):
    """`pip install ./native`: CUDA where a GPU and nvcc are found, else host."""
    tools = create.make(header)
    command = [tools.root / "bin/cmake", "-S", ROOT / "native", "-B", tmp_path, "-G", "Ninja"]
    command += [
        f"-DPython_EXECUTABLE={tools.python}",
        f"-Dnanobind_DIR={tools.site}/nanobind/cmake",
    ]
    command += [f"-DCMAKE_MAKE_PROGRAM={tools.root}/bin/ninja"]
    ended = subprocess.run(command, env=uv.variables(), capture_output=True, text=True)
    mode = re.search(r"device_arrays: mode (\w+)", ended.stdout)[1]
    assert mode == "host" if not gpu.find() else mode in ("cuda", "host")

"""Calls every NVIDIA compiler and linker of this environment through ctypes.

    chain.compile()     one kernel, with each NVRTC and each libNVVM, into the folder made/
    chain.link()        each file of made/ with each nvJitLink, each PTX with each ptxas; the
                        cubins go to linked/
    chain.load()        loads each file of both folders with the driver, and runs the kernel

Only load() needs a GPU. The tables are about files for compute capability 9.0, wherever they are
made. A GPU of another capability cannot load those, so where there is one, compile() and link()
also make the files for it (made-7.5/, linked-7.5/), and load() takes them.

Packages of CUDA 12 and 13 have different names, so one environment holds two releases of each tool.
Cells that share a folder (`%%pinned --folder NAME`) pass files from one environment to the next.
"""

import contextlib
import ctypes
import os
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace

LIBRARIES = {
    "NVRTC": "libnvrtc.so.",
    "NVVM": "libnvvm.so",
    "nvJitLink": "libnvJitLink.so.",
    "ptxas": "bin/ptxas",
}
KINDS = {
    "NVRTC": {
        "ptx": "-arch=compute_{}",
        "ltoir": "-arch=compute_{} -dlto",
        "object": "-arch=sm_{} -rdc=true",
        "cubin": "-arch=sm_{}",
    },
    "NVVM": {"ptx": "-arch=compute_{}", "ltoir": "-arch=compute_{} -gen-lto"},
}
SHOWN = "9.0"  # the compute capability that the tables of compile() and link() are about
NAMES = {"ptx": "PTX", "ltoir": "LTO-IR", "object": "object", "cubin": "cubin"}
INPUT = {"object": 1, "cubin": 1, "ptx": 2, "ltoir": 3}  # enum nvJitLinkInputType
CUDA = 'extern "C" __global__ void k(float *x) { x[threadIdx.x] += 1; }'
NVVM_IR = """target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-\
i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
@llvm.used = appending global [1 x i8*] [i8* bitcast (void (float*)* @k to i8*)], \
section "llvm.metadata"
define void @k(float* %x) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr float, float* %x, i32 %t
  %v = load float, float* %p
  %w = fadd float %v, 1.0
  store float %w, float* %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (float*)* @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
"""


def tools(name):
    """{release of its package: path} of a tool in this environment, oldest first."""
    found = {}
    for package in distributions():
        if package.metadata["Name"].startswith("nvidia-"):
            for file in package.files or ():
                if LIBRARIES[name] in str(file) and "alt" not in file.name:
                    found[package.version] = str(package.locate_file(file))
    return dict(sorted(found.items(), key=lambda pair: order(pair[0])))


def order(release):
    return [int(part) for part in release.split(".")]


def short(release):
    return ".".join(release.split(".")[:2])


# --- compile


def compile():
    """Write files NAME-RELEASE.KIND into made/; print which compiler makes which.

    Those for a GPU of another capability lack the compilers that do not know it.
    """
    for capability in capabilities():
        folder, arch = place("made", capability), capability.replace(".", "")
        folder.mkdir(exist_ok=True)
        for name, kinds in KINDS.items():
            for release, path in tools(name).items():
                made = {}
                with needed(capability):
                    for kind, options in kinds.items():
                        words = options.format(arch).split()
                        made[kind] = (nvrtc if name == "NVRTC" else nvvm)(opened(path), kind, words)
                for kind, code in made.items():
                    Path(folder, f"{name}-{release}.{kind}").write_bytes(code)
                if capability == SHOWN:
                    others = ", ".join(NAMES[kind] for kind in kinds if kind != "ptx")
                    print(f"{name:5} {release:8} PTX {heads(made['ptx'])}; {others}")


def capabilities():
    """SHOWN and, where there is a GPU, its compute capability: "9.0", "7.5"."""
    return list(dict.fromkeys([SHOWN, capability_of_gpu() or SHOWN]))


def capability_of_gpu():
    """Compute capability of the first GPU; None without a GPU or a driver."""
    device, parts = ctypes.c_int(), (ctypes.c_int(), ctypes.c_int())
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        ok(cuda.cuInit(0))
        ok(cuda.cuDeviceGet(ctypes.byref(device), 0))
        for attribute, part in zip((75, 76), parts, strict=True):  # its major, its minor number
            ok(cuda.cuDeviceGetAttribute(ctypes.byref(part), attribute, device))
    except (OSError, RuntimeError):
        return None
    return f"{parts[0].value}.{parts[1].value}"


def place(folder, capability):
    """Folder of the files for a compute capability."""
    return Path(folder if capability == SHOWN else f"{folder}-{capability}")


def needed(capability):
    """Lets errors pass for SHOWN. With another capability, a tool may fail: it is too old."""
    return contextlib.suppress(*[RuntimeError] * (capability != SHOWN))


def heads(ptx):
    """The lines of PTX text that state its version and its GPU."""
    return " ".join(
        line
        for line in ptx.decode("latin-1").splitlines()
        if line.startswith((".version", ".target"))
    )


def opened(path):
    """The library; before NVRTC its builtins, because the wheel of NVRTC 13.0 lacks an RPATH."""
    for builtins in (
        Path(path).parent.glob("libnvrtc-builtins.so.*") if "nvrtc" in Path(path).name else ()
    ):
        ctypes.CDLL(str(builtins))
    return ctypes.CDLL(path)


def nvrtc(library, kind, options):
    get = {"ptx": "PTX", "ltoir": "LTOIR"}.get(kind, "CUBIN")
    program = ctypes.c_void_p()
    ok(library.nvrtcCreateProgram(ctypes.byref(program), CUDA.encode(), b"k.cu", 0, None, None))
    ok(library.nvrtcCompileProgram(program, len(options), strings(options)))
    return content(
        getattr(library, f"nvrtcGet{get}Size"), getattr(library, f"nvrtcGet{get}"), program
    )


def nvvm(library, kind, options):
    program, text = ctypes.c_void_p(), NVVM_IR.encode()
    ok(library.nvvmCreateProgram(ctypes.byref(program)))
    ok(library.nvvmAddModuleToProgram(program, text, ctypes.c_size_t(len(text)), b"k"))
    ok(library.nvvmCompileProgram(program, len(options), strings(options)))
    return content(library.nvvmGetCompiledResultSize, library.nvvmGetCompiledResult, program)


def ok(status):
    if status:
        raise RuntimeError(f"status {status}")


def strings(words):
    return (ctypes.c_char_p * len(words))(*(word.encode() for word in words))


def content(get_size, get, handle):
    size = ctypes.c_size_t()
    ok(get_size(handle, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    ok(get(handle, buffer))
    return buffer.raw


# --- link


def link():
    """Print for each linker a row per kind of file: yes, or the error number; then the messages."""
    for capability in capabilities():
        folder, into, messages = place("made", capability), place("linked", capability), {}
        into.mkdir(exist_ok=True)
        files = sorted(folder.iterdir(), key=key)
        say = print if capability == SHOWN else lambda *_: None
        releases = sorted({release_of(f) for f in files if f.name.startswith("NVRTC")}, key=order)
        say(f"{'files of the compilers of':27}", *(f"{short(release):>5}" for release in releases))
        for linker in "nvJitLink", "ptxas":
            for release, path in tools(linker).items():
                rows = {}
                for file in files:
                    name, kind = file.name.split("-")[0], file.suffix[1:]
                    if linker == "ptxas" and kind != "ptx":
                        continue
                    # Having linked LTO-IR, nvJitLink 12.9 crashes on a newer object for 12.0
                    if capability != SHOWN and order(release_of(file)) > order(release):
                        continue
                    result = SimpleNamespace(word="", message="")
                    with needed(capability):
                        result = (nvjitlink if linker == "nvJitLink" else ptxas)(
                            path, release, file.read_bytes(), kind, capability=capability
                        )
                    if result.word == "yes":
                        cubin = Path(into, f"{file.name}-{linker}-{release}.cubin")
                        cubin.write_bytes(result.cubin)
                    rows.setdefault(f"{NAMES[kind]} of {name}", []).append(result.word)
                    if result.message:
                        what = linker, release, result.word, NAMES[kind]
                        messages.setdefault(what, result.message)
                say(f"{linker} {release}")
                for title, words in rows.items():
                    say(f"    {title:23}", *(f"{word:>5}" for word in words))
        say()
        for (linker, release, word, name), message in messages.items():
            say(f"{linker} {release}, {word} ({name}): {message}")


def key(file):
    """Sort key: kind, compiler, its release, linker."""
    title, release = origin(file)
    kind = ["PTX", "LTO-IR", "cubin", "object"].index(title.split()[0])
    return ", by " in title, title.partition(", by ")[2], kind, title, order(release)


def release_of(file):
    return origin(file)[1]


def nvjitlink(path, release, code, kind, capability=SHOWN):
    """Link one input with one nvJitLink: .cubin or None, .word for a table, .message."""
    library, major = ctypes.CDLL(path), release.split(".")[0]
    call = {
        name: getattr(library, f"__nvJitLink{name}_{major}_0")
        for name in (
            "Create",
            "AddData",
            "Complete",
            "GetErrorLogSize",
            "GetErrorLog",
            "GetLinkedCubinSize",
            "GetLinkedCubin",
            "Destroy",
        )
    }
    arch = "-arch=sm_" + capability.replace(".", "")
    options, handle = [arch, *["-lto"] * (kind == "ltoir")], ctypes.c_void_p()
    ok(call["Create"](ctypes.byref(handle), ctypes.c_uint32(len(options)), strings(options)))
    with quiet() as said:
        status = call["AddData"](
            handle, ctypes.c_int(INPUT[kind]), code, ctypes.c_size_t(len(code)), b"k"
        ) or call["Complete"](handle)
    if status:
        log = content(call["GetErrorLogSize"], call["GetErrorLog"], handle).decode(errors="replace")
        return SimpleNamespace(
            cubin=None,
            word=str(status),
            message=" ".join((log + " " + said.text).replace("\0", " ").split()),
        )
    cubin = content(call["GetLinkedCubinSize"], call["GetLinkedCubin"], handle)
    call["Destroy"](ctypes.byref(handle))
    return SimpleNamespace(
        cubin=cubin, word="yes" if b".text.k\0" in cubin else "empty", message=""
    )


def ptxas(path, release, code, kind, capability=SHOWN):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "k.ptx").write_bytes(code.rstrip(b"\0"))  # NVRTC's buffer ends with a zero
        done = subprocess.run(
            [path, "-arch=sm_" + capability.replace(".", ""), "k.ptx", "-o", "k.cubin"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            word = "SEGV" if done.returncode == -11 else str(done.returncode)
            return SimpleNamespace(
                cubin=None,
                word=word,
                message=" ".join((done.stdout + done.stderr).split()) or "(no text)",
            )
        return SimpleNamespace(cubin=Path(folder, "k.cubin").read_bytes(), word="yes", message="")


class quiet:
    """Captures what a library writes to stderr: .text holds its distinct lines."""

    def __enter__(self):
        self.file, self.old = tempfile.TemporaryFile(), os.dup(2)
        os.dup2(self.file.fileno(), 2)
        return self

    def __exit__(self, *_):
        os.dup2(self.old, 2)
        os.close(self.old)
        self.file.seek(0)
        self.text = " ".join(dict.fromkeys(self.file.read().decode(errors="replace").splitlines()))
        self.file.close()


# --- load


def load():
    """Print what the driver does with every file for this GPU: a row for each kind of file.

    Of the files that a linker made, only rows in which something does not run. Raises
    AssertionError where the driver does otherwise than expected() says, or without files.
    """
    capability, driver = capability_of_gpu(), driver_release()
    print("compute capability", capability, "and a driver of CUDA", ".".join(map(str, driver)))
    folders = place("made", capability), place("linked", capability)
    assert folders[0].is_dir(), "run the cells that compile and link again, on this GPU"
    files = [
        file
        for folder in folders
        for file in sorted(folder.iterdir(), key=key)
        if file.suffix in (".ptx", ".cubin", ".object")
    ]
    rows, messages, surprises = {}, {}, []
    for file, answer in zip(files, answers(files), strict=True):
        title, release = origin(file)
        rows.setdefault(title, {})[release] = "runs" if answer == "runs" else "no"
        if answer != "runs":
            messages.setdefault(f"{title}: {answer}", []).append(short(release))
        if expected(file, driver) not in (None, answer == "runs"):
            surprises.append(f"{file.name}: {answer}")
    releases = sorted({release for row in rows.values() for release in row}, key=order)
    releases = list({short(release): None for release in releases})
    print(f"{'':40}", *(f"{release:>5}" for release in releases))
    for title, row in rows.items():
        if ", by " not in title or "no" in row.values():
            words = {short(release): word for release, word in row.items()}
            print(f"{title:40}", *(f"{words.get(release, ''):>5}" for release in releases))
    whole = [row for title, row in rows.items() if ", by " in title and "no" not in row.values()]
    count = sum(map(len, whole))
    rest = f"in {len(whole)} rows more: all run\n"
    print(f"{count} cubins that a linker made of such files, {rest}")
    for message, found in messages.items():
        print(f"{message} ({', '.join(found)})")
    assert not surprises, surprises


def expected(file, driver):
    """Whether a driver of CUDA `driver`, such as (13, 0), runs the file; None: nothing promised.

    It needs the version of PTX that is in the file, and of machine code the major version.
    """
    title, release = origin(file)
    tools_of = [release, *title.partition(", by ")[2].split()[1:]]
    if file.suffix == ".ptx":
        made = tuple(order(release)[:2])
        return driver >= ((12, 5) if made == (12, 6) else made)  # both write PTX 8.5
    return True if max(order(tool)[0] for tool in tools_of) <= driver[0] else None


def driver_release():
    """Newest CUDA release that the driver supports: (13, 0)."""
    version = ctypes.c_int()
    ok(ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version)))
    return version.value // 1000, version.value % 1000 // 10


def origin(file):
    """Title of a row and release of the compiler.

    NVRTC-13.5.37.object-nvJitLink-12.6.85.cubin is an object, linked by nvJitLink 12.6.85.
    """
    name, release_and_kind, *linker = file.name.removesuffix(
        ".cubin" if file.name.count("-") > 1 else ""
    ).split("-")
    release, kind = release_and_kind.rsplit(".", 1)
    return f"{NAMES[kind]} of {name}" + (f", by {' '.join(linker)}" if linker else ""), release


def answers(files, at_once=4):
    """launch() of each file, each in its own process: some errors last until the process ends.

    Each process takes some 400 MiB of the GPU's memory, hence few at once.
    """
    for start in range(0, len(files), at_once):
        children = [
            subprocess.Popen(
                [sys.executable, __file__, str(file)], stdout=subprocess.PIPE, text=True
            )
            for file in files[start : start + at_once]
        ]
        for child in children:
            said = child.communicate()[0].strip()
            yield said if not child.returncode else f"exit status {child.returncode}"


def launch(path):
    """Load one file and launch its kernel on 32 floats.

    Returns "runs", "runs, wrong result", or the call that failed and the name of its error.
    """
    cuda, code = ctypes.CDLL("libcuda.so.1"), Path(path).read_bytes() + b"\0"
    context, module, kernel, pointer = (ctypes.c_void_p() for _ in range(4))
    values = (ctypes.c_float * 32)(*range(32))
    argument = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(pointer), ctypes.c_void_p))
    size, one = ctypes.c_size_t(128), ctypes.c_uint(1)
    grid, block = (one, one, one), (ctypes.c_uint(32), one, one)
    for name, *arguments in (
        ("cuInit", 0),
        ("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0),
        ("cuCtxSetCurrent", context),
        ("cuModuleLoadData", ctypes.byref(module), code),
        ("cuModuleGetFunction", ctypes.byref(kernel), module, b"k"),
        ("cuMemAlloc_v2", ctypes.byref(pointer), size),
        ("cuMemcpyHtoD_v2", pointer, values, size),
        ("cuLaunchKernel", kernel, *grid, *block, 0, None, argument, None),
        ("cuMemcpyDtoH_v2", values, pointer, size),
    ):
        if status := getattr(cuda, name)(*arguments):
            error = ctypes.c_char_p()
            cuda.cuGetErrorName(status, ctypes.byref(error))
            return f"{name}: {(error.value or str(status).encode()).decode()}"
    return "runs" if list(values) == [float(n + 1) for n in range(32)] else "runs, wrong result"


if __name__ == "__main__":
    print(launch(sys.argv[1]))

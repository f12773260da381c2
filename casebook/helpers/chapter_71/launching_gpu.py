"""A fake GPU of compute capability 9.0 that loads CuPy's compiled kernels and launches nothing.

    import launching_gpu            # before cupy; needs a C compiler, `cc`
    launching_gpu.compiled()        # how many kernels NVRTC has compiled since the import
    launching_gpu.launched()        # the last launch: (kernel, grid, block, stream), or None

It is fake_gpu with four more functions of the driver. CuPy and NVRTC are the real ones: a kernel
is compiled for sm_90 and looked up by its name in the machine code. A name that is not there gets
error 500, not found. A toolkit of the machine is hidden. Written for CuPy 14.2.0. Needs no GPU.
"""

import ctypes as _ctypes
import os as _os
import tempfile as _tempfile

import fake_gpu as _fake_gpu

_SOURCE = r"""
static char kernel[256];
struct module { size_t size; char elf[]; };
static unsigned size[6];
static uintptr_t on_stream;
unsigned *launch_size(void) { return size; }
uintptr_t launch_stream(void) { return on_stream; }
const char *launch_name(void) { return kernel; }
void *for__ensure_context(void) { return Py_BuildValue(""); }
int cuModuleLoadData(struct module **m, const char *elf) {
  size_t end = *(uint64_t *)(elf + 0x28) + *(uint16_t *)(elf + 0x3a) * *(uint16_t *)(elf + 0x3c);
  *m = malloc(sizeof **m + end);
  (*m)->size = end;
  memcpy((*m)->elf, elf, end);
  return 0;
}
int cuModuleUnload(struct module *m) { free(m); return 0; }
int cuModuleGetFunction(char **f, struct module *m, const char *name) {
  char section[256];
  int n = snprintf(section, sizeof section, ".text.%s", name);
  if (!memmem(m->elf, m->size, section, n + 1)) return 500;
  *f = strdup(name);
  return 0;
}
int cuLaunchKernel(char *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **args, void **more) {
  unsigned given[6] = {gx, gy, gz, bx, by, bz};
  memcpy(size, given, sizeof size);
  strcpy(kernel, f);
  on_stream = (uintptr_t)stream;
  return 0;
}
"""
_folder = _tempfile.TemporaryDirectory()
_os.environ["CUPY_CACHE_DIR"] = _folder.name  # nothing compiled before is found
for _name in "CUDA_HOME", "CUDA_PATH":
    _os.environ.pop(_name, None)
_library = _fake_gpu.load(_SOURCE, ("_ensure_context",))

from cupy import _environment  # noqa: E402
from cupy.cuda import compiler as _compiler  # noqa: E402

_environment._cuda_path = None  # a toolkit of this machine stays hidden

_library.launch_name.restype = _ctypes.c_char_p
_library.launch_size.restype = _ctypes.POINTER(_ctypes.c_uint * 6)
_library.launch_stream.restype = _ctypes.c_size_t

_times = 0
_compile = _compiler._NVRTCProgram.compile


def _counted(self: _compiler._NVRTCProgram, *args: object, **options: object) -> object:
    global _times
    _times += "__global__" in self.src  # not the empty file that CuPy also compiles
    return _compile(self, *args, **options)


_compiler._NVRTCProgram.compile = _counted
_compiler._get_arch = lambda: "90"
_compiler._get_arch_for_options_for_nvrtc = lambda arch=None: ("-arch=sm_90", "cubin")


def compiled() -> int:
    """How many kernels NVRTC has compiled since this module was imported."""
    return _times


def launched() -> tuple[str, tuple, tuple, int] | None:
    """The last launch: name of the kernel, grid, block, address of the stream."""
    name = _library.launch_name().decode()
    size = tuple(_library.launch_size().contents)
    return (name, size[:3], size[3:], _library.launch_stream()) if name else None

"""Which steps from source to machine code hold in an environment, and with which drivers. No GPU, and the standard library alone.

    import arrows; arrows.report()          looks at the environment that runs it

Each rule was run in both directions, over six compilers and six linkers: chapter "Newer than the driver, newer than the linker".
"""
import ctypes
import re
from importlib.metadata import distributions

PARTS = {"NVRTC": r"nvidia-cuda-nvrtc(-cu12)?", "NVVM": r"nvidia-cuda-nvcc-cu12|nvidia-nvvm",
         "nvJitLink": r"nvidia-nvjitlink(-cu12)?"}


def report():
    """Prints what is there, what cuda.pathfinder takes of it, and one line for each step."""
    found = {part: installed(pattern) for part, pattern in PARTS.items()}
    for part, releases in found.items():
        others = f"   also there, never taken: {', '.join(map(dotted, releases[1:]))}" if releases[1:] else ""
        print(f"{part:10}", (dotted(releases[0]) if releases else "not there") + others)
    print("driver    ", f"supports CUDA {dotted(driver())}" if driver() else "none on this machine")
    nvrtc, nvvm, linker = (found[part][0] if found[part] else None for part in PARTS)
    print()
    for name, maker in ("NVRTC", nvrtc), ("NVVM", nvvm):
        if maker:
            ptx = (12, 5) if maker[:2] == (12, 6) else maker[:2]           # both write PTX 8.5
            step(f"{name} > PTX > driver", True, ptx)
            step(f"{name} > PTX > nvJitLink > driver", linker and linker[:2] >= ptx, major(linker))
            step(f"{name} > LTO-IR > nvJitLink > driver", linker and linker[:2] >= maker[:2], major(linker))
    if nvrtc:
        step("NVRTC > cubin > driver", True, major(nvrtc))


def step(route, holds, oldest):
    """One line: a route, and the drivers on which it breaks."""
    have = driver()
    if not holds:
        said = "breaks on every driver: nvJitLink is older than the compiler, or not there"
    else:
        here = "" if not have else ", holds here" if have >= oldest else ", BREAKS HERE"
        said = f"breaks on drivers before CUDA {dotted(oldest)}{here}"
    print(f"{route:36}{said}")


def installed(pattern):
    """Releases of one part, the one that cuda.pathfinder takes first: it looks for CUDA 13's folder before that of CUDA 12."""
    names = (p for p in distributions() if re.fullmatch(pattern, re.sub(r"[-_.]+", "-", p.metadata["Name"] or "").lower()))
    return sorted({tuple(map(int, p.version.split("."))) for p in names}, reverse=True)


def major(release):
    """The oldest driver for machine code of a release: the first of its major version."""
    return release and (release[0], 0)


def driver():
    """CUDA release that the driver supports, (13, 0); None without a driver."""
    try:
        version = ctypes.c_int()
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
        return version.value // 1000, version.value % 1000 // 10
    except OSError:
        return None


def dotted(release):
    return ".".join(map(str, release))

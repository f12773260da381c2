"""Which routes from source to machine code an environment has, and which drivers each needs.

    PYTHON arrows.py                    with the environment's Python, for this machine's driver
    arrows.report(driver=(13, 0))       for a driver that supports CUDA 13.0, as nvidia-smi shows it

Needs no GPU, and only the standard library. It sees packages of pip: no conda, no CUDA_PATH,
nothing that the process has loaded already, and not which GPU there is. The rules are explained in
the chapter "Unsupported PTX version: compiler newer than the driver"; that CUDA 12.5 and 12.6 both
write PTX 8.5 is from NVIDIA's table.
"""

import ctypes
import re
from importlib.metadata import distributions

PARTS = {
    "NVRTC": r"nvidia-cuda-nvrtc(-cu12)?",
    "NVVM": r"nvidia-cuda-nvcc-cu12|nvidia-nvvm",
    "nvJitLink": r"nvidia-nvjitlink(-cu12)?",
}


def report(driver=None):
    """Print what is installed, in the search order of cuda.pathfinder, and one line per route."""
    driver = driver or of_this_machine()
    found = {part: installed(pattern) for part, pattern in PARTS.items()}
    for part, releases in found.items():
        print(f"{part:10}", ", behind it ".join(map(dotted, releases)) or "no package of pip")
    print("driver    ", f"of CUDA {dotted(driver)}" if driver else "none on this machine")
    pathfinder = installed("cuda-pathfinder")
    if (
        pathfinder
        and pathfinder[0] < (1, 2)
        and any(len(releases) > 1 for releases in found.values())
    ):
        print(
            f"cuda-pathfinder {dotted(pathfinder[0])} has another order of search: "
            "what follows is true from 1.2.0 on"
        )
    nvrtc, nvvm, linker = (found[part][0] if found[part] else None for part in PARTS)
    if not nvrtc and not nvvm:
        return
    print()
    for name, maker in ("NVRTC", nvrtc), ("NVVM", nvvm):
        if maker:
            ptx = (12, 5) if maker[:2] == (12, 6) else maker[:2]
            say(f"{name} > PTX > driver", needs(ptx, driver))
            say(f"{name} > PTX > nvJitLink > driver", through(linker, ptx, driver))
            linked = through(linker, maker[:2], driver)
            if linker and linker[0] > maker[0]:
                linked = "NOT PROMISED: LTO-IR of an older major version"
            say(f"{name} > LTO-IR > nvJitLink > driver", linked)
    if nvrtc:
        say("NVRTC > cubin > driver", needs((nvrtc[0], 0), driver))
    if linker and linker >= (12, 3):
        numba = "NVVM > LTO-IR > nvJitLink > driver"
    else:  # for numba-cuda, an nvJitLink older than 12.3 is none
        numba = "NVVM > PTX > driver here: install nvJitLink"
    print(f"\nnumba-cuda goes {numba}, CuPy goes NVRTC > cubin > driver.")
    missed = "which GPU there is, and whether compiler and linker know it; conda; CUDA_PATH."
    print("Not looked at:", missed)


def say(route, what):
    print(f"{route:36}{what}")


def through(linker, maker, driver):
    """What a route through nvJitLink needs: its cubins load on drivers of its major version."""
    if not linker:
        return "no nvJitLink among the packages"
    if linker[:2] < maker:
        return "BROKEN: nvJitLink is older than the compiler"
    return needs((linker[0], 0), driver)


def needs(oldest, driver):
    """The oldest driver that works, and whether this one does."""
    here = "" if not driver else ": this one will do" if driver >= oldest else ": THIS ONE IS OLDER"
    return f"needs a driver of CUDA {dotted(oldest)}{here}"


def installed(pattern):
    """Releases of one part; first the one that cuda.pathfinder 1.2.0 and later find first.

    That is the one in the folder of CUDA 13, before those of CUDA 12.
    """
    names = (
        p
        for p in distributions()
        if re.fullmatch(pattern, re.sub(r"[-_.]+", "-", p.metadata["Name"] or "").lower())
    )
    return sorted({tuple(map(int, re.findall(r"\d+", p.version)[:3])) for p in names}, reverse=True)


def of_this_machine():
    """CUDA release that the driver supports, (13, 0); None without a driver."""
    version = ctypes.c_int()
    try:
        failed = ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except OSError:
        return None
    return None if failed else (version.value // 1000, version.value % 1000 // 10)


def dotted(release):
    return ".".join(map(str, release))


if __name__ == "__main__":
    report()

"""Which steps from source to machine code hold in an environment, and with which drivers. No GPU, and the standard library alone.

    import arrows
    arrows.report()                     the environment that runs it, with the driver of this machine
    arrows.report(driver=(13, 0))       with a driver that supports CUDA 13.0, as the first lines of nvidia-smi say it

Each rule was run in both directions, over six compilers and six linkers: chapter "Newer than the driver, newer than the linker".
"""
import ctypes
import re
from importlib.metadata import distributions

PARTS = {"NVRTC": r"nvidia-cuda-nvrtc(-cu12)?", "NVVM": r"nvidia-cuda-nvcc-cu12|nvidia-nvvm",
         "nvJitLink": r"nvidia-nvjitlink(-cu12)?"}


def report(driver=None):
    """Prints what is there, what cuda.pathfinder takes of it, and one line for each route."""
    driver = driver or of_this_machine()
    found = {part: installed(pattern) for part, pattern in PARTS.items()}
    for part, releases in found.items():
        others = f"   also there, never taken: {', '.join(map(dotted, releases[1:]))}" if releases[1:] else ""
        print(f"{part:10}", (dotted(releases[0]) if releases else "not there") + others)
    print("driver    ", f"supports CUDA {dotted(driver)}" if driver else "none on this machine")
    nvrtc, nvvm, linker = (found[part][0] if found[part] else None for part in PARTS)
    print()
    for name, maker in ("NVRTC", nvrtc), ("NVVM", nvvm):
        if maker:
            ptx = (12, 5) if maker[:2] == (12, 6) else maker[:2]           # both write PTX 8.5
            print(f"{name + ' > PTX > driver':36}{breaks(ptx, driver)}")
            print(f"{name + ' > PTX > nvJitLink > driver':36}{through(linker, ptx, driver)}")
            print(f"{name + ' > LTO-IR > nvJitLink > driver':36}{through(linker, maker[:2], driver)}")
    if nvrtc:
        print(f"{'NVRTC > cubin > driver':36}{breaks((nvrtc[0], 0), driver)}")


def breaks(oldest, driver):
    """On which drivers a route breaks, if `oldest` is the first that holds, and whether on this one."""
    here = "" if not driver else ", holds on this one" if driver >= oldest else ", BREAKS ON THIS ONE"
    return f"breaks on drivers before CUDA {dotted(oldest)}{here}"


def through(linker, maker, driver):
    """The same for a route by way of nvJitLink: whose cubins need a driver of its major version."""
    if not linker:
        return "there is no nvJitLink"
    if linker[:2] < maker:
        return "BREAKS ON EVERY DRIVER: nvJitLink is older than the compiler"
    return breaks((linker[0], 0), driver)


def installed(pattern):
    """Releases of one part, the one that cuda.pathfinder takes first: it looks for CUDA 13's folder before that of CUDA 12."""
    names = (p for p in distributions() if re.fullmatch(pattern, re.sub(r"[-_.]+", "-", p.metadata["Name"] or "").lower()))
    return sorted({tuple(map(int, p.version.split("."))) for p in names}, reverse=True)


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

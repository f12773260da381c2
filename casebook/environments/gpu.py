"""What the NVIDIA driver says about the machine. Asked in a process of its own, so that the caller's stays untouched."""

import functools
import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass

from casebook.environments.store import cache

ASK = r"""
import ctypes, json
cuda = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
    raise SystemExit(1)
device, name, major, minor = ctypes.c_int(), ctypes.create_string_buffer(96), ctypes.c_int(), ctypes.c_int()
cuda.cuDeviceGet(ctypes.byref(device), 0)
cuda.cuDeviceGetName(name, len(name), device)
cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
driver = ctypes.create_string_buffer(96)
nvml = ctypes.CDLL("libnvidia-ml.so.1")
nvml.nvmlInit_v2()
nvml.nvmlSystemGetDriverVersion(driver, len(driver))
print(json.dumps([name.value.decode(), f"{major.value}.{minor.value}", driver.value.decode(), count.value]))
"""


@dataclass(frozen=True)
class Gpu:
    """The first CUDA device: name, compute capability ('9.0') and version of the driver ('580.159.04'); `count` is how many there are."""

    name: str
    compute_capability: str
    driver: str
    count: int = 1


@functools.cache
def find():
    """The first NVIDIA GPU of this machine, or None."""
    answer = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True)
    return Gpu(*json.loads(answer.stdout)) if answer.returncode == 0 else None


def own():
    """The first GPU that this process may use, as CUDA_VISIBLE_DEVICES names it."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]


def lock():
    """The file that is held by whoever needs that GPU alone. It lies in this user's cache, which hosts may share."""
    cache().mkdir(parents=True, exist_ok=True)
    return cache() / f"gpu-{platform.node()}-{own()}.lock"


def required():
    """True where a missing GPU is a failure: CASEBOOK_REQUIRE_GPU=1."""
    return os.environ.get("CASEBOOK_REQUIRE_GPU", "") not in ("", "0")

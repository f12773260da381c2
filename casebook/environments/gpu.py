"""The GPUs of this machine. Asked in a process of its own, so that the caller's stays untouched."""

import ctypes
import functools
import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

from casebook.doctor import ask_driver
from casebook.environments.store import cache


@dataclass(frozen=True)
class Gpu:
    """The first CUDA device: name, compute capability ('9.0'), driver version ('580.159.04').

    `count` is the number of devices.
    """

    name: str
    compute_capability: str
    driver: str
    count: int = 1


@functools.cache
def find() -> Gpu | None:
    """The first NVIDIA GPU of this machine, or None."""
    found = ask_driver() or {}
    if not found.get("gpus") or not found["driver"]:
        return None
    return Gpu(**found["gpus"][0], driver=found["driver"], count=len(found["gpus"]))


def lock() -> Path:
    """The lock file of the first GPU that this process may use, in this user's cache, which hosts
    may share."""
    cache().mkdir(parents=True, exist_ok=True)
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
    return cache() / f"gpu-{platform.node()}-{first}.lock"


def load() -> int:
    """How busy the first GPU is: the percent of the last second in which it ran kernels.

    0 where NVML does not say. One sample may be this process's own work, so a high one is taken
    again when that is over.
    """
    percent = _load()
    if percent > IDLE:
        time.sleep(SAMPLE)
        percent = min(percent, _load())
    return percent


IDLE = 10  # percent
SAMPLE = 1.2  # seconds: NVML averages over at most one


def _load() -> int:
    class Rates(ctypes.Structure):
        _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))

    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return 0
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
    device, rates = ctypes.c_void_p(), Rates()
    nvml.nvmlInit_v2()
    known = nvml.nvmlDeviceGetHandleByIndex_v2(
        int(first) if first.isdecimal() else 0, ctypes.byref(device)
    )
    asked = known or nvml.nvmlDeviceGetUtilizationRates(device, ctypes.byref(rates))
    nvml.nvmlShutdown()
    return 0 if asked else rates.gpu


def required() -> bool:
    """True where a missing GPU is a failure: CASEBOOK_REQUIRE_GPU=1."""
    return os.environ.get("CASEBOOK_REQUIRE_GPU", "") not in ("", "0")

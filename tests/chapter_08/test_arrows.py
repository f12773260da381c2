"""The script of chapter 8 that readers copy: which routes it finds, over stub packages."""

import sys
from types import SimpleNamespace

import pytest

from casebook.execution.modules import FOLDERS

sys.path += map(str, FOLDERS)
import arrows


@pytest.fixture
def found(monkeypatch, capsys):
    """found(driver, package=release, …): the report as {first word or route: rest of the line}."""

    def report(driver=None, **packages):
        named = [
            SimpleNamespace(metadata={"Name": name.replace("_", "-")}, version=version)
            for name, version in packages.items()
        ]
        monkeypatch.setattr(arrows, "distributions", lambda: named)
        monkeypatch.setattr(arrows, "of_this_machine", lambda: None)
        arrows.report(driver)
        parts = zip((11, 36), capsys.readouterr().out.split("\n\n"), strict=False)
        return {
            line[:at].strip(): line[at:].strip() for at, part in parts for line in part.splitlines()
        }

    return report


WILL = "needs a driver of CUDA {}: this one will do"
OLDER = "needs a driver of CUDA {}: THIS ONE IS OLDER"
BROKEN = "BROKEN: nvJitLink is older than the compiler"
CROSSED = "NOT PROMISED: LTO-IR of an older major version"
NONE = "no nvJitLink among the packages"
NVVM_12, LINKER_12 = "nvidia_cuda_nvcc_cu12", "nvidia_nvjitlink_cu12"
NVVM_13, LINKER = "nvidia_nvvm", "nvidia_nvjitlink"


@pytest.mark.parametrize(
    "driver, packages, ptx, linked, lto",
    [
        ((13, 0), {NVVM_13: "13.4.92", LINKER: "13.5.37"}, OLDER, WILL, WILL),
        ((13, 4), {NVVM_13: "13.4.92", LINKER: "13.0.88"}, WILL, BROKEN, BROKEN),
        ((12, 8), {NVVM_12: "12.9.86", LINKER: "13.5.37"}, OLDER, OLDER, CROSSED),
        ((12, 5), {NVVM_12: "12.6.85", LINKER_12: "12.5.82"}, WILL, WILL, BROKEN),
        ((13, 0), {NVVM_13: "13.0.88"}, WILL, NONE, NONE),
    ],
)
def test_routes_of_nvvm(found, driver, packages, ptx, linked, lto):
    maker, *linker = packages.values()
    release = "12.5" if maker == "12.6.85" else ".".join(maker.split(".")[:2])
    major = "".join(linker)[:2] + ".0"
    routes = found(driver, **packages)
    assert routes["NVVM > PTX > driver"] == ptx.format(release)
    assert routes["NVVM > PTX > nvJitLink > driver"] == linked.format(major)
    assert routes["NVVM > LTO-IR > nvJitLink > driver"] == lto.format(major)
    assert not any(route.startswith("NVRTC >") for route in routes)


@pytest.mark.parametrize("driver, expected", [((12, 9), OLDER), ((13, 0), WILL)])
def test_a_cubin_needs_a_driver_of_its_major_version(found, driver, expected):
    routes = found(driver, nvidia_cuda_nvrtc="13.4.92")
    assert routes["NVRTC > cubin > driver"] == expected.format("13.0")


def test_of_two_toolkits_the_newer_is_taken(found):
    report = found(
        **{"NVIDIA_CUDA_NVRTC_cu12": "12.9.86", "nvidia_cuda_nvrtc": "13.4.92", "numpy": "2.4.6"}
    )
    assert report["NVRTC"] == "13.4.92, behind it 12.9.86"
    assert report["NVVM"] == "no package of pip"
    assert report["driver"] == "none on this machine"
    assert report["NVRTC > PTX > driver"] == "needs a driver of CUDA 13.4"


@pytest.mark.parametrize(
    "pathfinder, others, warned",
    [
        ("1.1.0", {"nvidia_cuda_nvrtc": "13.4.92"}, True),
        ("1.2.0", {"nvidia_cuda_nvrtc": "13.4.92"}, False),
        ("1.1.0", {}, False),
    ],
)
def test_an_older_search_order_is_reported_where_it_matters(found, pathfinder, others, warned):
    report = found(cuda_pathfinder=pathfinder, nvidia_cuda_nvrtc_cu12="12.9.86", **others)
    assert any(line.startswith("cuda-pathf") for line in report) == warned


def test_an_empty_environment_has_no_route(found):
    assert set(found((13, 0))) == {*arrows.PARTS, "driver"}


@pytest.mark.parametrize(
    "linker, route",
    [
        ({}, "NVVM > PTX > driver here: install nvJitLink"),
        ({LINKER_12: "12.2.140"}, "NVVM > PTX > driver here: install nvJitLink"),
        ({LINKER_12: "12.3.101"}, "NVVM > LTO-IR > nvJitLink > driver"),
        ({LINKER: "13.5.37"}, "NVVM > LTO-IR > nvJitLink > driver"),
    ],
)
def test_numba_cuda_goes_round_a_missing_or_old_linker(monkeypatch, capsys, linker, route):
    packages = {NVVM_13: "13.4.92"} | linker
    named = [SimpleNamespace(metadata={"Name": n}, version=v) for n, v in packages.items()]
    monkeypatch.setattr(arrows, "distributions", lambda: named)
    arrows.report(driver=(13, 0))
    assert f"\nnumba-cuda goes {route}, CuPy goes" in capsys.readouterr().out

"""The script of chapter 8 that is to be copied: which routes it finds open, over packages that are only named."""

import sys
from types import SimpleNamespace

import pytest

from casebook.execution.modules import FOLDERS

sys.path += map(str, FOLDERS)
import arrows


@pytest.fixture
def said(monkeypatch, capsys):
    """said(driver, package=release, …): the lines of the report, {their first word or route: the rest}."""

    def report(driver=None, **packages):
        named = [
            SimpleNamespace(metadata={"Name": name.replace("_", "-")}, version=version)
            for name, version in packages.items()
        ]
        monkeypatch.setattr(arrows, "distributions", lambda: named)
        monkeypatch.setattr(arrows, "of_this_machine", lambda: None)
        arrows.report(driver)
        lines = capsys.readouterr().out.splitlines()
        parts = zip((11, 36), "\n".join(lines).split("\n\n"), strict=False)
        return {
            line[:at].strip(): line[at:].strip() for at, part in parts for line in part.splitlines()
        }

    return report


WILL, OLDER = (
    "needs a driver of CUDA {}: this one will do",
    "needs a driver of CUDA {}: THIS ONE IS OLDER",
)
BROKEN, CROSSED = (
    "BROKEN: nvJitLink is older than the compiler",
    "NOT PROMISED: LTO-IR of an older major version",
)


@pytest.mark.parametrize(
    "driver, packages, expected",
    [
        (
            (13, 0),
            {"nvidia_nvvm": "13.4.92", "nvidia_nvjitlink": "13.5.37"},
            {
                "PTX > driver": OLDER.format("13.4"),
                "PTX > nvJitLink > driver": WILL.format("13.0"),
                "LTO-IR > nvJitLink > driver": WILL.format("13.0"),
            },
        ),
        (
            (13, 4),
            {"nvidia_nvvm": "13.4.92", "nvidia_nvjitlink": "13.0.88"},
            {
                "PTX > driver": WILL.format("13.4"),
                "PTX > nvJitLink > driver": BROKEN,
                "LTO-IR > nvJitLink > driver": BROKEN,
            },
        ),
        (
            (12, 8),
            {"nvidia_cuda_nvcc_cu12": "12.9.86", "nvidia_nvjitlink": "13.5.37"},
            {
                "PTX > driver": OLDER.format("12.9"),
                "PTX > nvJitLink > driver": OLDER.format("13.0"),
                "LTO-IR > nvJitLink > driver": CROSSED,
            },
        ),
        (
            (12, 5),
            {"nvidia_cuda_nvcc_cu12": "12.6.85", "nvidia_nvjitlink_cu12": "12.5.82"},
            {
                "PTX > driver": WILL.format("12.5"),
                "PTX > nvJitLink > driver": WILL.format("12.0"),
                "LTO-IR > nvJitLink > driver": BROKEN,
            },
        ),
        (
            (13, 0),
            {"nvidia_nvvm": "13.0.88"},
            {"PTX > nvJitLink > driver": "no nvJitLink among the packages"},
        ),
    ],
)
def test_routes_of_nvvm(said, driver, packages, expected):
    found = said(driver, **packages)
    assert (
        expected.items()
        <= {route.removeprefix("NVVM > "): what for route, what in found.items()}.items()
    )
    assert not any(route.startswith("NVRTC >") for route in found)


@pytest.mark.parametrize("driver, expected", [((12, 9), OLDER), ((13, 0), WILL), ((14, 0), WILL)])
def test_a_cubin_needs_a_driver_of_its_major_version(said, driver, expected):
    assert said(driver, nvidia_cuda_nvrtc="13.4.92")["NVRTC > cubin > driver"] == expected.format(
        "13.0"
    )


def test_of_two_toolkits_the_newer_is_taken(said):
    found = said(
        **{"NVIDIA_CUDA_NVRTC_cu12": "12.9.86", "nvidia_cuda_nvrtc": "13.4.92", "numpy": "2.4.6"}
    )
    assert found["NVRTC"] == "13.4.92, behind it 12.9.86" and found["NVVM"] == "no package of pip"
    assert (
        found["driver"] == "none on this machine"
        and found["NVRTC > PTX > driver"] == "needs a driver of CUDA 13.4"
    )


@pytest.mark.parametrize(
    "pathfinder, others, warned",
    [
        ("1.1.0", {"nvidia_cuda_nvrtc": "13.4.92"}, True),
        ("1.2.0", {"nvidia_cuda_nvrtc": "13.4.92"}, False),
        ("1.1.0", {}, False),
    ],
)
def test_an_older_search_is_told_where_there_is_a_choice(said, pathfinder, others, warned):
    found = said(cuda_pathfinder=pathfinder, nvidia_cuda_nvrtc_cu12="12.9.86", **others)
    assert any(line.startswith("cuda-pathf") for line in found) == warned


def test_an_empty_environment_has_no_route(said):
    assert set(said((13, 0))) == {*arrows.PARTS, "driver"}

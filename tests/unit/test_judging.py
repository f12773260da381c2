"""The doctor's judgement, as data: releases at the edges, combinations, and what is printed."""

import ast
import re
import sys
from pathlib import Path

import pytest
import yaml
from helpers import ROOT

from casebook import doctor
from casebook.cells import repository
from casebook.doctor import AFFECTED, AT_RISK, CANNOT_TELL, NOT_AFFECTED, Machine, diagnose


def judge(name, pins):
    """Status of one fault beside these packages, and a driver: "numba==0.59.0 driver==13.0"."""
    packages = dict(pin.split("==") for pin in pins.split())
    machine = Machine("python", "3.12.1", packages, cuda=packages.pop("driver", None))
    return next(finding.status for finding in diagnose(machine) if finding.name == name)


EDGES = yaml.safe_load(Path(__file__).with_name("edges.yml").read_text("utf8"))
EDGES["05-device-arrays"][f"nanobind=={'9' * 5000}.1"] = CANNOT_TELL


@pytest.mark.parametrize(
    ("name", "pins"), [(name, pins) for name, edges in EDGES.items() for pins in edges]
)
def test_releases_and_combinations_at_the_edges(name, pins):
    assert judge(name, pins) == EDGES[name][pins]


def test_several_releases_of_one_package_cannot_be_told():
    machine = Machine("python", "3.12.1", {"nanobind": "2.1.0, 3.1.0"})
    assert {f.name: f.status for f in diagnose(machine)}["05-device-arrays"] == CANNOT_TELL


def test_a_finding_names_both_releases_the_fix_and_the_chapter():
    packages = {"nvidia-nvvm": "13.4.92", "nvidia-nvjitlink": "13.0.88"}
    machine = Machine("python", "3.12.1", packages)
    (found,) = (one for one in diagnose(machine) if one.name == "nvvm-and-nvjitlink")
    assert found.why == "nvidia-nvvm 13.4.92, with nvidia-nvjitlink 13.0.88"
    assert found.fix.startswith("With CUDA 12, run pip install -U nvidia-nvjitlink-cu12")
    assert found.chapter.endswith("/08-newer.ipynb")


def test_the_book_s_own_environment_has_what_no_newer_release_is_without():
    pins = re.findall(r"(?m)^([\w-]+)==([\w.]+)", (ROOT / "requirements.txt").read_text())
    findings = diagnose(Machine("python", "3.12.1", dict(pins), cuda="13.0"))
    found = {finding.name: finding.status for finding in findings if finding.status != NOT_AFFECTED}
    ours = "numba-cuda", "cupy", "cuda-core", "nvrtc", "cuda-pathfinder"
    at_risk = {
        case.name
        for case in doctor.CASES
        for part in case.ranges
        if part.everywhere and part.part in ours
    }
    older_is_right = {"25-fuse-small-types": AFFECTED}  # CuPy 13 is without it
    assert found == dict.fromkeys(at_risk, AT_RISK) | older_is_right


def test_it_needs_the_standard_library_and_python_3_9_only():
    tree = ast.parse((ROOT / "casebook/doctor.py").read_text(), feature_version=(3, 9))
    names = {alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
    assert doctor.BOOK.split("/blob/")[0] == repository.ADDRESS

"""What the releases did (NN-name.versions.json) against the doctor's table: who of them says
something else is named.
"""

import json

import pytest
from example import write_case
from helpers import cell

from casebook import doctor
from casebook.authoring.checks.versions import version_problems
from casebook.authoring.releases import probe
from casebook.cells.header import read

NAME = "08-example"
SOURCE = cell(
    "import numpy", "raises = 'ValueError'", dependencies=["numba-cuda==0.7.0", "numpy==2.4.6"]
)


def entry(release, outcome, level="cpu", as_of="release", numpy="2.4.6", **receipt):
    run = {"outcome": outcome, "line": "", "date": "2026-11-21"} | receipt
    return {
        "library": "numba-cuda",
        "release": release,
        "released": "2025-04-01",
        "as_of": as_of,
        "python": "3.12",
        "closure": f"numba-cuda=={release} numpy=={numpy}",
        level: run,
    }


@pytest.fixture
def found(tmp_path, monkeypatch):
    """found(entries, **range): the problems of a chapter with these rows, where the doctor knows
    this range of numba-cuda.
    """

    def found(*entries, beside=None, **told):
        case = doctor.Case(
            NAME, "symptom", (doctor.Range("numba-cuda", **told),), "cure", NAME, beside=beside
        )
        monkeypatch.setattr(doctor, "CASES", (case,))
        path = tmp_path / f"{NAME}.ipynb"
        chapter = write_case(path, SOURCE, {"numba-cuda": {"cpu": "probe", "gpu": "probe"}})
        key = probe.Probe(SOURCE, read(SOURCE)).key
        rows = [
            e | {level: {"probe": key} | e[level] for level in ("cpu", "gpu") if level in e}
            for e in entries
        ]
        path.with_suffix(".versions.json").write_text(json.dumps(rows))
        return list(version_problems(chapter))

    return found


def test_rows_that_agree_with_the_doctor(found):
    ends = {"0.5.0": "failed differently", "0.7.0": "reproduced", "0.8.0": "not reproduced"}
    assert found(*(entry(*row) for row in ends.items()), fixed="0.8.0") == []


@pytest.mark.parametrize(
    ("release", "outcome", "status", "why"),
    [
        ("0.8.0", "reproduced", "not affected", "numba-cuda 0.8.0: fixed in 0.8.0"),
        ("0.7.0", "not reproduced", "affected", "numba-cuda 0.7.0"),
    ],
)
def test_a_release_that_contradicts_is_named(found, release, outcome, status, why):
    assert found(entry(release, outcome), fixed="0.8.0") == [
        f", 08-example.versions.json: numba-cuda {release} with the packages of 2025-04-01, "
        f"cpu: {outcome}, "
        f"but the doctor says {status} ({why})"
    ]


def test_the_packages_of_the_run_decide_what_the_doctor_says(found):
    beside = doctor.Range("numpy", since="2.5")
    assert (
        found(
            entry("0.7.0", "not reproduced", numpy="2.4.6"),
            entry("0.7.0", "reproduced", as_of="today", numpy="2.5.0"),
            beside=beside,
        )
        == []
    )
    (problem,) = found(
        entry("0.7.0", "not reproduced", as_of="today", numpy="2.5.0"), beside=beside
    )
    assert "numba-cuda 0.7.0 with the packages of today" in problem


@pytest.mark.parametrize("outcome", ["reproduced", "not reproduced"])
@pytest.mark.parametrize(
    ("driver", "right"), [("580.159.04", "reproduced"), ("570.86.15", "not reproduced")]
)
def test_the_driver_decides_too(found, driver, right, outcome):
    row = entry("0.7.0", outcome, level="gpu", driver=driver, gpu="NVIDIA H200")
    problems = found(row, beside=doctor.Range(doctor.DRIVER, since="13.0"))
    assert len(problems) == (outcome != right)

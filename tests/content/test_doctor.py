"""The doctor, in real environments made by uv, against the case cards, and on machines with and without a driver."""

import ast
import functools
import json
import os
import pty
import re
import shutil
import subprocess
import sys

import helpers
import pytest
from helpers import ROOT

from casebook import doctor
from casebook.authoring import chapters
from casebook.authoring.checks.versions import environment as machine_of
from casebook.authoring.releases import evidence
from casebook.cells import repository
from casebook.doctor import AFFECTED, CANNOT_TELL, LOOK_OUT, NOT_AFFECTED, Machine, diagnose
from casebook.environments import create, gpu

BOOKS = {book.name: book for book in chapters.load()}
CASES = {case.name: case for case in doctor.CASES}
ONE, TWO, THREE, FOUR, FIVE = (
    "01-default-arguments",
    "02-grid-sync-cache",
    "03-jit-options",
    "04-fused-scalars",
    "05-device-arrays",
)

NUMBA, NUMPY = "numba==0.65.1", "numpy==2.4.6"
BROKEN = [
    (ONE, NUMBA, NUMPY),
    (ONE, NUMBA, NUMPY, "numba-cuda==0.7.0"),
    (TWO, "numba==0.59.0", "numpy==1.26.4"),
    (THREE, "cuda-core==0.1.1"),
    (FOUR, "cupy-cuda12x==13.4.0", "numpy==2.2.6"),
    (FIVE, "nanobind==2.1.0"),
    ("18-numpy-2.5", "numba-cuda==0.30.4", "numpy==2.5.0"),
    ("09-second-gpu", "numba-cuda==0.30.0", NUMPY),
    ("07-freed-in-flight", "cuda-core==0.3.2"),
    ("06-one-import", "numba-cuda-mlir==0.4.1", NUMPY),
]
FIXED = [
    (ONE, NUMBA, NUMPY, "numba-cuda==0.8.1"),
    (TWO, "numba==0.59.1", "numpy==1.26.4"),
    (TWO, "numba==0.59.0", "numba-cuda==0.30.4"),
    (THREE, "cuda-core==0.2.0"),
    (THREE, "cuda-core==1.2.2"),
    (FOUR, "cupy-cuda12x==13.4.0", "numpy==1.26.4"),
    (FOUR, "cupy-cuda12x==14.2.0", "numpy==2.2.6"),
    (FIVE, "nanobind==2.2.0"),
    ("18-numpy-2.5", "numba-cuda==0.30.4", NUMPY),
    ("09-second-gpu", "numba-cuda==0.30.1", NUMPY),
    ("07-freed-in-flight", "cuda-core==0.4.0"),
    ("06-one-import", "numba-cuda-mlir==0.6.0", NUMPY),
]
ALSO = {  # what else bites in a fixed environment, by its first pin
    NUMBA: {"23-reversed-table"},
    "numba==0.59.1": {ONE, "23-reversed-table"},
    "cuda-core==0.2.0": {"07-freed-in-flight", "11-byte-offset"},
    "cuda-core==0.4.0": {"11-byte-offset"},
    "cupy-cuda12x==13.4.0": {"12-sort-out-of-memory", "14-cumsum", "15-filter-in-place"},
}


# --- helpers


@pytest.fixture(scope="session")
def environments(tmp_path_factory):
    """environments(*pins): the folder of an environment with these wheels and nothing else. Nothing in it needs to be importable."""

    def uv(*arguments):
        return subprocess.run(
            [create.uv(), *arguments], env=create.uv_variables(), capture_output=True, text=True
        )

    @functools.cache
    def make(*pins):
        folder = tmp_path_factory.mktemp("environment") / "venv"
        assert uv("venv", "--python", sys.executable, str(folder)).returncode == 0
        install = [
            "pip",
            "install",
            "--python",
            str(folder),
            "--python-version",
            "3.12",
            "--only-binary",
            ":all:",
            "--no-deps",
            *pins,
        ]
        if pins and uv(*install, "--offline").returncode:
            answer = uv(*install)
            if answer.returncode:
                pytest.skip(f"needs {', '.join(pins)}: {answer.stderr.strip().splitlines()[-1]}")
        return folder

    return make


def run(*arguments, **variables):
    return subprocess.run(
        [sys.executable, str(ROOT / "casebook/doctor.py"), *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )


def verdicts(*arguments, **variables):
    """Exit status, everything as data, and the findings by name."""
    answer = run("--json", *arguments, **variables)
    data = json.loads(answer.stdout)
    return answer.returncode, data, {finding["name"]: finding for finding in data["findings"]}


def judge(name, driver=None, **versions):
    """Status of one case where these versions are installed."""
    machine = Machine(
        "python",
        "3.12.1",
        {package.replace("_", "-"): version for package, version in versions.items()},
        cuda=driver,
    )
    return next(finding.status for finding in diagnose(machine) if finding.name == name)


stand_in = functools.cache(helpers.stand_in)  # one build for each driver that the tests need


# --- real environments


@pytest.mark.parametrize("case", BROKEN, ids=" ".join)
def test_broken_environment(case, environments):
    name, *pins = case
    status, _, found = verdicts("--python", environments(*pins))
    assert found[name]["status"] == AFFECTED
    assert found[name]["cure"] and found[name]["chapter"].endswith(f"/{CASES[name].chapter}.ipynb")
    assert status == 1


@pytest.mark.parametrize("case", FIXED, ids=" ".join)
def test_fixed_environment(case, environments):
    name, *pins = case
    status, data, found = verdicts("--python", environments(*pins))
    assert found[name]["status"] == NOT_AFFECTED and not found[name]["cure"]
    assert data["packages"] == dict(sorted(pin.split("==") for pin in pins))
    bite = {name for name, finding in found.items() if finding["status"] == AFFECTED}
    assert bite - {"19-driver-580"} == ALSO.get(pins[0], set())
    assert status == bool(bite)


def test_empty_environment(environments):
    status, data, found = verdicts("--python", environments())
    assert status == 0 and data["packages"] == {}
    assert {finding["status"] for finding in found.values()} == {NOT_AFFECTED}
    text = run("--python", environments()).stdout
    assert f"Not there {', '.join(doctor.WATCHED)} " in " ".join(text.split())
    assert text.rstrip().endswith(f"None of {len(found)} bites here.")


def test_environment_without_numpy(environments):
    _, _, found = verdicts("--python", environments("cupy-cuda12x==13.4.0"))
    assert found[FOUR]["status"] == CANNOT_TELL
    assert (
        found[FOUR]["why"]
        == "cupy-cuda12x 13.4.0: the fault needs numpy 2.0 or later, and there is none here"
    )


# --- which environment is looked at


def pretend(folder, module, version):
    """Metadata of a package whose import would end the process, without the package."""
    site = folder / "pretended"
    info = site / f"{module}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: {version}\n")
    (site / f"{module.split('_')[0]}.py").write_text(
        f"open({str(folder / 'imported')!r}, 'w')\nraise SystemExit(3)\n"
    )
    return str(site)


def test_imports_nothing_that_it_looks_at(tmp_path, environments):
    for module, version in (
        ("numba", "0.59.0"),
        ("numba_cuda", "0.30.4"),
        ("numpy", "2.5.5"),
        ("nanobind", "2.1.0"),
    ):
        site = pretend(tmp_path, module, version)
    status, data, found = verdicts("--python", environments(), PYTHONPATH=site)
    assert data["packages"] == {
        "nanobind": "2.1.0",
        "numba": "0.59.0",
        "numba-cuda": "0.30.4",
        "numpy": "2.5.5",
    }
    assert (status, found["18-numpy-2.5"]["status"], found[FIVE]["status"]) == (
        1,
        AFFECTED,
        AFFECTED,
    )
    assert not (tmp_path / "imported").exists()


def test_interpreter_folder_and_name_are_understood(environments, tmp_path):
    folder = environments("nanobind==2.1.0")
    (tmp_path / "reader").symlink_to(folder / "bin/python")
    by_name = verdicts("--python", "reader", PATH=f"{tmp_path}:{os.environ['PATH']}")[1]
    by_file = verdicts("--python", folder / "bin/python")[1]
    assert by_file["packages"] == {"nanobind": "2.1.0"}
    assert by_name["python"] == str(tmp_path / "reader")


@pytest.mark.parametrize(
    "path, status, sentence",
    [
        ("/nowhere", 2, "is neither an environment nor an interpreter"),
        (str(ROOT), 2, "is a folder without bin/python"),
        (shutil.which("true"), 3, "does not answer as a Python"),
    ],
)
def test_what_cannot_be_looked_at_is_one_sentence_and_a_status_of_its_own(path, status, sentence):
    answer = run("--python", path)
    assert (answer.returncode, answer.stdout) == (status, "")
    assert sentence in answer.stderr and answer.stderr.count("\n") == 1


def test_an_environment_whose_python_is_gone(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to("/nowhere/python3")
    answer = run("--python", tmp_path)
    assert (answer.returncode, answer.stderr) == (
        3,
        f"doctor: {tmp_path} is an environment whose Python is gone: /nowhere/python3\n",
    )


def test_a_crash_of_the_doctor_is_no_diagnosis(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "CASES", [None])
    assert doctor.examine(sys.executable, as_json=False) == 3
    assert "this is a fault of the doctor" in capsys.readouterr().err


def test_a_driver_that_cannot_be_asked_is_not_seen(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "ASK_DRIVER", "import os; os.abort()")
    monkeypatch.setattr(doctor, "ask_python", lambda python: ("3.12.1", []))
    assert doctor.examine(sys.executable, as_json=False) == 3
    assert "Not seen      the NVIDIA driver: asking it failed" in capsys.readouterr().out


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "command"])
def test_a_reader_that_has_read_enough(alone, environments):
    """The status is that of the diagnosis, and nothing is said of the pipe."""
    what = [str(ROOT / "casebook/doctor.py")] if alone else ["-m", "casebook", "doctor"]
    ours, theirs = os.pipe()
    os.close(ours)
    ended = subprocess.run(
        [sys.executable, *what, "--python", str(environments("nanobind==2.1.0"))],
        cwd=ROOT,
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(theirs)
    assert (ended.returncode, ended.stderr) == (1, "")


def test_a_terminal_that_knows_no_unicode(tmp_path):
    info = tmp_path / "packés" / "~anobind-2.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: nanobind\nVersion: 2.1.0\n")
    info.rename(info.with_name("~énobind-2.1.0.dist-info"))
    answer = run(PYTHONPATH=str(info.parent), PYTHONIOENCODING="ascii")
    assert r"~\xe9nobind-2.1.0.dist-info was left behind" in answer.stdout


def test_unknown_option_is_status_2():
    assert run("--colour").returncode == 2


def test_command_of_the_package_says_the_same(environments):
    folder = environments("nanobind==2.1.0")
    answer = subprocess.run(
        [sys.executable, "-m", "casebook", "doctor", "--python", str(folder)],
        cwd=ROOT,
        env={**os.environ},
        capture_output=True,
        text=True,
    )
    assert (answer.returncode, answer.stdout) == (1, run("--python", folder).stdout)


# --- alone


def test_runs_alone(environments, tmp_path):
    copy = shutil.copy(ROOT / "casebook/doctor.py", tmp_path)
    answer = subprocess.run(
        [sys.executable, "-I", copy, "--python", str(environments("nanobind==2.1.0"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (answer.returncode, answer.stderr) == (1, "")


def test_uv_run_looks_at_the_active_environment_and_leaves_the_clone_alone(environments, tmp_path):
    for name in ("casebook/doctor.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    active = environments("nanobind==2.1.0")
    answer = subprocess.run(
        [create.uv(), "run", "doctor.py", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**create.uv_variables(), "VIRTUAL_ENV": str(active)},
    )
    assert json.loads(answer.stdout)["packages"] == {"nanobind": "2.1.0"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["doctor.py", "pyproject.toml"]


def test_needs_the_standard_library_and_python_3_9_only():
    tree = ast.parse((ROOT / "casebook/doctor.py").read_text(), feature_version=(3, 9))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


# --- the driver


@pytest.mark.skipif(bool(gpu.find()), reason="this machine has a driver")
def test_machine_without_a_driver(environments):
    _, data, found = verdicts("--python", environments("numba==0.59.1", "numpy==1.26.4"))
    assert (data["driver"], data["cuda"], data["gpus"]) == (None, None, [])
    assert "libcuda.so.1" in data["problem"]
    assert found["19-driver-580"]["status"] == CANNOT_TELL


@pytest.mark.parametrize("version, expected", [(13000, AFFECTED), (12040, NOT_AFFECTED)])
def test_old_numba_and_the_driver(version, expected, environments, tmp_path):
    _, data, found = verdicts(
        "--python",
        environments("numba==0.59.1", "numpy==1.26.4"),
        LD_LIBRARY_PATH=stand_in(tmp_path, version, 1),
    )
    assert data["gpus"] == [{"name": "NVIDIA Stand-in", "compute_capability": "7.5"}]
    assert (data["driver"], data["cuda"]) == (
        "580.65.06",
        f"{version // 1000}.{version % 1000 // 10}",
    )
    assert found["19-driver-580"]["status"] == expected


def test_driver_without_a_gpu(tmp_path, environments):
    _, data, _ = verdicts("--python", environments(), LD_LIBRARY_PATH=stand_in(tmp_path, 13000, 0))
    assert (data["gpus"], data["cuda"], data["problem"]) == ([], "13.0", "cuInit returned 100")


@pytest.mark.parametrize(
    "nvrtc, driver, expected",
    [
        ("12.9.86", "13.0", NOT_AFFECTED),
        ("12.0.140", "12.0", NOT_AFFECTED),
        ("12.9.86", "12.4", LOOK_OUT),
        ("13.4.92", "13.0", LOOK_OUT),
        ("13.0.88", "12.9", AFFECTED),
        ("weird", "13.0", CANNOT_TELL),
        ("12.9.86", None, CANNOT_TELL),
    ],
)
def test_nvrtc_and_the_driver(nvrtc, driver, expected):
    assert judge("nvrtc-and-driver", driver, nvidia_cuda_nvrtc_cu12=nvrtc) == expected


NVVM_12, NVVM, LINK_12, LINK = (
    "nvidia_cuda_nvcc_cu12",
    "nvidia_nvvm",
    "nvidia_nvjitlink_cu12",
    "nvidia_nvjitlink",
)


@pytest.mark.parametrize(
    "versions, expected",
    [
        ({}, NOT_AFFECTED),
        ({NVVM: "13.4.92"}, NOT_AFFECTED),
        ({LINK: "13.0.88"}, NOT_AFFECTED),
        ({"numba_cuda": "0.30.4", NVVM: "13.4.92", LINK: "13.0.88"}, AFFECTED),
        ({NVVM: "13.4.92", LINK: "13.0.88"}, LOOK_OUT),
        ({"numba_cuda": "0.30.4", NVVM: "13.4.92", LINK: "13.4.40"}, NOT_AFFECTED),
        ({NVVM: "weird", LINK: "13.0.88"}, CANNOT_TELL),
        (
            {"numba_cuda": "0.30.4", NVVM_12: "12.9.86", NVVM: "13.4.92", LINK_12: "12.9.86"},
            AFFECTED,
        ),
        (
            {
                "numba_cuda": "0.30.4",
                NVVM_12: "12.9.86",
                NVVM: "13.4.92",
                LINK_12: "12.9.86",
                LINK: "13.5.37",
            },
            NOT_AFFECTED,
        ),
        ({"numba_cuda": "0.30.4", NVVM_12: "12.9.86", LINK: "13.5.37"}, LOOK_OUT),
        (
            {
                "numba_cuda": "0.23.0",
                NVVM_12: "12.9.86",
                NVVM: "13.4.92",
                LINK_12: "12.9.86",
                "cuda_pathfinder": "1.1.0",
            },
            CANNOT_TELL,
        ),
        (
            {
                "numba_cuda": "0.23.0",
                NVVM_12: "12.9.86",
                NVVM: "13.4.92",
                LINK_12: "12.9.86",
                "cuda_pathfinder": "1.2.0",
            },
            AFFECTED,
        ),
        (
            {"numba_cuda": "0.23.0", NVVM: "13.4.92", LINK: "13.0.88", "cuda_pathfinder": "1.1.0"},
            AFFECTED,
        ),
        (
            {"numba_cuda": "0.30.4", "cuda_nvvm_impl": "13.4.92", "libnvjitlink": "13.0.88"},
            AFFECTED,
        ),
    ],
)
def test_nvvm_and_its_linker(versions, expected):
    assert judge("nvvm-and-nvjitlink", **versions) == expected


NVRTC_12, NVRTC = "nvidia_cuda_nvrtc_cu12", "nvidia_cuda_nvrtc"


@pytest.mark.parametrize(
    "versions, expected",
    [
        ({"cupy_cuda12x": "14.2.0", NVRTC_12: "12.9.86", NVRTC: "13.4.92"}, LOOK_OUT),
        ({"cupy_cuda12x": "14.2.0", NVRTC_12: "12.9.86", LINK: "13.5.37"}, NOT_AFFECTED),
        ({"cupy_cuda13x": "14.2.0", NVRTC_12: "12.9.86", NVRTC: "13.4.92"}, NOT_AFFECTED),
        ({"cupy_cuda12x": "14.0.0", NVRTC_12: "12.9.86", NVRTC: "13.4.92"}, LOOK_OUT),
        ({"cupy_cuda12x": "13.6.0", NVRTC_12: "12.9.86", NVRTC: "13.4.92"}, NOT_AFFECTED),
        ({"cupy_cuda12x": "weird", NVRTC_12: "12.9.86", NVRTC: "13.4.92"}, LOOK_OUT),
        ({"cuda_bindings": "12.9.10", NVVM_12: "12.9.86", NVVM: "13.4.92"}, LOOK_OUT),
        ({"cuda_bindings": "12.9.0", NVVM_12: "12.9.86", NVVM: "13.4.92"}, NOT_AFFECTED),
        (
            {
                "cuda_bindings": "12.9.1",
                "cuda_pathfinder": "1.2.0",
                NVVM_12: "12.9.86",
                NVVM: "13.4.92",
            },
            LOOK_OUT,
        ),
        (
            {
                "cuda_bindings": "12.9.1",
                "cuda_pathfinder": "1.1.0",
                NVVM_12: "12.9.86",
                NVVM: "13.4.92",
            },
            CANNOT_TELL,
        ),
        ({"cuda_bindings": "13.5.0", NVVM_12: "12.9.86", NVVM: "13.4.92"}, NOT_AFFECTED),
        ({NVRTC_12: "12.9.86", NVRTC: "13.4.92"}, NOT_AFFECTED),
    ],
)
def test_two_toolkits(versions, expected):
    assert judge("two-toolkits", **versions) == expected


def test_a_linker_that_is_too_old_is_told_with_both_releases():
    machine = Machine(
        "python",
        "3.12.1",
        {"numba-cuda": "0.30.4", "nvidia-nvvm": "13.4.92", "nvidia-nvjitlink": "13.0.88"},
    )
    (found,) = (finding for finding in diagnose(machine) if finding.name == "nvvm-and-nvjitlink")
    assert (
        found.why == "nvidia-nvvm 13.4.92, with nvidia-nvjitlink 13.0.88"
        and found.chapter.endswith("/08-newer.ipynb")
    )
    assert found.cure == "Install an nvJitLink of NVVM's major version, as new as NVVM or newer."


@pytest.mark.parametrize(
    "versions, expected",
    [
        ({"numba": "0.53.0"}, AFFECTED),
        ({"numba": "0.52.0"}, CANNOT_TELL),
        ({"numba": "0.62.1"}, AFFECTED),
        ({"numba": "0.63.0"}, NOT_AFFECTED),
        ({"numba": "0.65.1", "numba_cuda": "0.8.0"}, AFFECTED),
        ({"numba": "0.59.1", "numba_cuda": "0.8.1"}, NOT_AFFECTED),
        ({"numba": "0.68.1", "numba_cuda": "0.0.1"}, NOT_AFFECTED),
        ({"numba": "0.60.0", "numba_cuda": "0.0.0"}, AFFECTED),
    ],
)
def test_which_numba_has_the_guard(versions, expected):
    assert judge("19-driver-580", "13.0", **versions) == expected


# --- versions


@pytest.mark.parametrize(
    "name, versions, expected",
    [
        (TWO, {"numba": "0.59.0rc1"}, AFFECTED),
        (TWO, {"numba": "0.58.1"}, NOT_AFFECTED),
        (ONE, {"numba": "0.69.0"}, CANNOT_TELL),
        (ONE, {"numba": "0+untagged.1"}, CANNOT_TELL),
        (THREE, {"cuda_core": "0.1.0"}, CANNOT_TELL),
        (FIVE, {"nanobind": "0.2.0"}, CANNOT_TELL),
        (FOUR, {"cupy_cuda11x": "13.4.0", "cupy_cuda12x": "14.2.0", "numpy": "2.2.6"}, CANNOT_TELL),
        (FOUR, {"cupy": "13.2", "numpy": "2.0.0"}, AFFECTED),
        (FOUR, {"cupy": "13.1.0", "numpy": "2.0.0"}, NOT_AFFECTED),
        ("18-numpy-2.5", {"numba_cuda": "0.30.5", "numpy": "2.5.5"}, CANNOT_TELL),
        ("06-one-import", {"numba_cuda_mlir": "0.2.0"}, CANNOT_TELL),
        ("06-one-import", {"numba_cuda_mlir": "0.5.2"}, AFFECTED),
        ("06-one-import", {"numba_cuda_mlir": "0.5.3"}, NOT_AFFECTED),
        ("06-still", {"numba_cuda_mlir": "0.6.0"}, LOOK_OUT),
        ("06-still", {"numba_cuda_mlir": "0.6.1"}, CANNOT_TELL),
        ("18-numpy-2.5", {"numba_cuda": "0.20.1", "numpy": "2.5.5"}, NOT_AFFECTED),
        ("numba-0.66", {"numba_cuda": "0.17.0", "numba": "0.68.1"}, NOT_AFFECTED),
        ("numba-0.66", {"numba_cuda": "0.18.0", "numba": "0.66.0"}, AFFECTED),
        ("numba-0.66", {"numba_cuda": "0.30.3", "numba": "0.68.1"}, AFFECTED),
        ("numba-0.66", {"numba_cuda": "0.30.3", "numba": "0.65.1"}, NOT_AFFECTED),
        ("numba-0.66", {"numba_cuda": "0.30.4", "numba": "0.68.1"}, NOT_AFFECTED),
        ("two-cupys", {"cupy_cuda11x": "13.4.0", "cupy_cuda12x": "13.4.0"}, AFFECTED),
        ("two-cupys", {"cupy": "14.2.0"}, NOT_AFFECTED),
        (FOUR, {"cupy_cuda11x": "13.4.0", "cupy_cuda12x": "13.4.0", "numpy": "2.2.6"}, AFFECTED),
        ("02-lost-flag", {"numba_cuda_mlir": "0.6.0"}, LOOK_OUT),
        ("02-lost-flag", {"numba_cuda": "0.30.4"}, NOT_AFFECTED),
        (FIVE, {"nanobind": "2.1.0, 3.1.0"}, CANNOT_TELL),
        (FIVE, {"nanobind": "unknown"}, CANNOT_TELL),
        (FIVE, {"nanobind": "9" * 5000 + ".1"}, CANNOT_TELL),
        (FIVE, {"nanobind": "2.1.0.dev1"}, AFFECTED),
        ("11-byte-offset", {"cuda_core": "1.1.1"}, AFFECTED),
        ("11-byte-offset", {"cuda_core": "1.2.0"}, NOT_AFFECTED),
        ("12-sort-out-of-memory", {"cupy_cuda12x": "14.0.1"}, AFFECTED),
        ("12-sort-out-of-memory", {"cupy_cuda12x": "14.1.0"}, NOT_AFFECTED),
        ("10-unchecked-signature", {"numba_cuda": "0.30.4"}, LOOK_OUT),
        ("10-unchecked-signature", {"numba": "0.68.1"}, LOOK_OUT),
        ("10-unchecked-signature", {"numba_cuda": "0.31.0"}, CANNOT_TELL),
        ("13-stale-helper", {"numba_cuda_mlir": "0.6.0"}, LOOK_OUT),
        ("14-two-billion", {"numba_cuda_mlir": "0.6.0"}, LOOK_OUT),
        ("14-two-billion", {"numba": "0.58.1"}, AFFECTED),
        ("14-two-billion", {"numba": "0.59.0"}, NOT_AFFECTED),
        ("14-cumsum", {"cupy": "13.0.0"}, AFFECTED),
        ("14-cumsum", {"cupy": "12.3.0"}, CANNOT_TELL),
    ],
)
def test_versions_at_the_edges(name, versions, expected):
    assert judge(name, **versions) == expected


# --- against the book


def test_every_chapter_is_in_the_table():
    """What the table says of the releases is compared with the cards by casebook.checks."""
    silent = {name for name, book in BOOKS.items() if "`" not in book.card["You see"]}
    told = {case.chapter for case in doctor.CASES}
    assert {ONE, TWO, THREE, FOUR, FIVE} | silent <= told <= set(BOOKS)
    assert doctor.BOOK.split("/blob/")[0] == repository.ADDRESS


def run_with(book, outcome=evidence.REPRODUCED):
    """The packages of a chapter's cells, and of the rows that ended so, as {name: version}."""
    yield from (
        {str(r.name): str(r.specifier).removeprefix("==") for r in cell.header.requirements}
        for cell in book.cells
        if cell.pinned
    )
    yield from (machine_of(row).packages for row in evidence.rows(book) if row.outcome == outcome)


def parts(packages):
    return Machine("", "", packages).parts()


@pytest.mark.parametrize("case", doctor.CASES, ids=lambda case: case.name)
def test_the_symptom_is_affected(case):
    """The doctor must see the fault in the packages of a cell that shows it, or of a release that was run."""
    said = {
        judge(case.name, driver="13.0", **versions) for versions in run_with(BOOKS[case.chapter])
    }
    for part in case.ranges:
        assert (LOOK_OUT if part.everywhere else AFFECTED) in said


NOT_SEEN = {  # ends of ranges
    (
        "01-default-arguments",
        doctor.BUILT_IN,
    ): "up to 0.59.1 the same mismatch is told inside another exception",
    ("05-device-arrays", "nanobind"): "1.0.0 was tried by hand, which the card says",
    ("07-freed-in-flight", "cuda-core"): "0.1.1 to 0.3.0 were read, which the card says",
    ("09-second-gpu", "numba-cuda"): "0.21.0 is not on the index any more",
    ("11-byte-offset", "cuda-core"): "0.1.1 was tried by hand, which the card says",
    (
        "14-two-billion",
        "numba-cuda-mlir",
    ): "up to 0.5.2 it stops with an illegal memory access, which the card says",
    (
        "18-numpy-2.5",
        "numba-cuda",
    ): "the line is in the source from 0.21.1 on; that 0.30.4 alone was seen the card says",
    ("24-impossible-draw", "cupy"): "14.1.0 was read, which the card says",
}


@pytest.mark.parametrize("case", doctor.CASES, ids=lambda case: case.name)
def test_the_ends_of_a_range_were_seen(case):
    """The first and the last release with the fault, and the first without. What has no beginning begins with the oldest that was tried."""
    book = BOOKS[case.chapter]
    for part in case.ranges:
        tried = {
            row.release
            for row in evidence.rows(book)
            if part.part in parts({row.library: row.release})
        }
        first = max(part.since, part.oldest, key=doctor.release)
        ends = {
            min(tried, key=doctor.release, default="none") if first == "0.0" else first,
            part.last or part.newest,
        }
        ill, well = (
            {
                version
                for packages in run_with(book, outcome)
                for _, version in parts(packages).get(part.part, ())
            }
            for outcome in (evidence.REPRODUCED, evidence.NOT_REPRODUCED)
        )
        seen = ends <= ill and (not part.fixed or part.fixed in well)
        assert seen != ((case.name, part.part) in NOT_SEEN), (ends - ill, part.fixed)


def test_kernel_of_the_book_is_well():
    pins = dict(re.findall(r"(?m)^([\w-]+)==([\w.]+)", (ROOT / "requirements.txt").read_text()))
    findings = diagnose(Machine("python", "3.12.1", pins, cuda="13.0"))
    bites = {finding.name: finding.status for finding in findings if finding.status != NOT_AFFECTED}
    ours = "numba-cuda", "cupy", "cuda-core"
    everywhere = {
        case.name
        for case in doctor.CASES
        for part in case.ranges
        if part.everywhere and part.part in ours
    }
    assert bites == dict.fromkeys(everywhere, LOOK_OUT)


@pytest.mark.skipif(bool(gpu.find()), reason="the page shows a machine without a driver")
def test_page_shows_what_the_doctor_prints(environments):
    text = run("--python", environments("numba==0.59.0", "numpy==1.26.4"), COLUMNS="80").stdout
    findings = text[text.index("Packages") :]
    assert f"{findings}```" in (ROOT / "book/run.md").read_text()


# --- what a terminal shows


def on_a_terminal(**variables):
    """Output of the doctor on the book's own Python, on a pseudo-terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "casebook/doctor.py")],
        stdout=theirs,
        env={**os.environ, **variables},
    )
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 4096):
            text += part
    except OSError:  # the other end is closed
        pass
    process.wait()
    os.close(ours)
    return text.decode()


def test_colours_on_a_terminal_only(tmp_path):
    site = pretend(tmp_path, "nanobind", "2.1.0")
    assert "\033[1;31maffected\033[0m      A GPU array" in on_a_terminal(PYTHONPATH=site)
    assert "\033" not in on_a_terminal(PYTHONPATH=site, NO_COLOR="1")
    assert "\033" not in run(PYTHONPATH=site).stdout


def test_fits_a_terminal(environments):
    text = run("--python", environments(NUMBA, NUMPY), COLUMNS="80").stdout
    assert all(
        len(line) <= 80 or "https://" in line or str(environments(NUMBA, NUMPY)) in line
        for line in text.splitlines()
    )

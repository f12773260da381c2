"""The doctor as a program: one broken and one fixed environment, and what the book shows of it."""

import collections
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT, fake_driver
from packaging.specifiers import SpecifierSet

from casebook import chapters, doctor
from casebook.authoring.checks.versions import environment as machine_of
from casebook.authoring.releases import index
from casebook.chapters import evidence
from casebook.chapters.facts import PARTS
from casebook.doctor import AFFECTED, AT_RISK, CANNOT_TELL, NOT_AFFECTED, Machine, diagnose
from casebook.environments import gpu
from casebook.environments import uv as tool

BOOKS = {book.name: book for book in chapters.load()}
BROKEN, FIXED = ("numba==0.59.0", "numpy==1.26.4"), ("numba-cuda==0.30.4", "numba==0.59.0")


@pytest.fixture(scope="session")
def environments(tmp_path_factory):
    """environments(*pins): the folder of an environment with these wheels and nothing else."""

    def uv(*arguments):
        variables = tool.variables()
        return subprocess.run(
            [tool.executable(), *arguments], env=variables, capture_output=True, text=True
        )

    @functools.cache
    def make(*pins):
        folder = tmp_path_factory.mktemp("environment") / "venv"
        assert uv("venv", "--python", sys.executable, str(folder)).returncode == 0
        options = ["--python-version", "3.12", "--only-binary", ":all:", "--no-deps", *pins]
        install = ["pip", "install", "--python", str(folder), *options]
        if pins and uv(*install, "--offline").returncode and (answer := uv(*install)).returncode:
            pytest.skip(f"needs {', '.join(pins)}: {answer.stderr.strip().splitlines()[-1]}")
        return folder

    return make


def run(*arguments, program=ROOT / "casebook/doctor.py", cwd=None, **variables):
    command = [sys.executable, program, *map(str, arguments)]
    env = {**os.environ, **variables}
    return subprocess.run(command, env=env, capture_output=True, text=True, cwd=cwd, timeout=60)


def verdicts(*arguments, **variables):
    """Exit status, everything as data, and the findings by name."""
    answer = run("--json", *arguments, **variables)
    data = json.loads(answer.stdout)
    return answer.returncode, data, {finding["name"]: finding for finding in data["findings"]}


@pytest.mark.parametrize(("pins", "status"), [(BROKEN, AFFECTED), (FIXED, NOT_AFFECTED)])
def test_an_environment(environments, pins, status):
    _, data, found = verdicts("--python", environments(*pins))
    finding = found["02-grid-sync-cache"]
    assert (finding["status"], bool(finding["fix"])) == (status, status == AFFECTED)
    assert data["packages"] == dict(pin.split("==") for pin in pins)


def test_an_empty_environment(environments):
    status, data, found = verdicts("--python", environments())
    assert (status, data["packages"]) == (0, {})
    assert {finding["status"] for finding in found.values()} == {NOT_AFFECTED}
    first, *_, last = run("--python", environments(), "--all").stdout.splitlines()
    assert first.split() == ["Do", "first", "nothing"]
    assert last == f"None of {len(found)} known issues affects this environment."


def metadata(folder, module, version):
    """Metadata of a package whose import would end the process, without the package."""
    site = folder / "site"
    info = site / f"{module}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: {version}\n")
    bait = f"open({str(folder / 'imported')!r}, 'w')\nraise SystemExit(3)\n"
    (site / f"{module.split('_')[0]}.py").write_text(bait)
    return str(site)


def test_it_imports_nothing_that_it_looks_at(tmp_path, environments):
    found = {"numba": "0.59.0", "numba_cuda": "0.30.4", "numpy": "2.5.5", "nanobind": "2.1.0"}
    for module, version in found.items():
        site = metadata(tmp_path, module, version)
    status, data, findings = verdicts("--python", environments(), PYTHONPATH=site)
    expected = {name.replace("_", "-"): version for name, version in found.items()}
    assert data["packages"] == dict(sorted(expected.items()))
    assert (status, findings["18-numpy-2.5"]["status"]) == (1, AFFECTED)
    assert not (tmp_path / "imported").exists()


def test_what_depends_on_the_program_is_said_first(environments):
    there = environments("numba-cuda-mlir==0.6.0")
    answer = run("--python", there)
    first = " ".join(answer.stdout.split("\n\n")[0].split())
    assert re.fullmatch(
        r"Depends \d+ known faults exist in these releases; whether they affect you depends on "
        r"your code: --all lists them, worst first",
        first,
    )
    assert answer.returncode == 0 and run("--python", there, "--strict").returncode == 1
    listed = [line for line in run("--python", there, "--all").stdout.splitlines() if line]
    assert any(line.startswith("at risk") for line in listed)


def test_nothing_in_the_working_folder_takes_part(environments, tmp_path):
    shutil.copy(ROOT / "casebook/doctor.py", tmp_path)
    for name in ("json", "argparse", "stat", "platform"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)")
    options = {"program": tmp_path / "doctor.py", "cwd": tmp_path}
    assert run("--python", environments(*BROKEN), **options).returncode == 1
    command = [sys.executable, "-m", "casebook", "doctor", "--python", environments(*BROKEN)]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1


def test_a_pipe_and_a_name_with_codes(tmp_path, environments):
    site = Path(metadata(tmp_path, "numba", "0.59.0"))
    for name in ("numba_cuda-0.30.4", "numba-\x1b[2J0.59"):
        (site / f"{name}.dist-info").mkdir()
    os.mkfifo(site / "numba_cuda-0.30.4.dist-info/METADATA")
    answer = run("--python", environments(), "--all", PYTHONPATH=str(site))
    assert "numba-cuda 0.30.4" in answer.stdout and "\x1b" not in answer.stdout


def test_interpreter_and_name_are_understood(environments, tmp_path):
    python = environments(*BROKEN) / "bin/python"
    (tmp_path / "reader").symlink_to(python)
    by_name = verdicts("--python", "reader", PATH=f"{tmp_path}:{os.environ['PATH']}")[1]
    assert verdicts("--python", python)[1]["python"] == str(python)
    assert by_name["python"] == str(tmp_path / "reader")


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/nowhere", 2, "is neither an environment nor an interpreter"),
        (str(ROOT), 2, "is a folder without bin/python"),
        (shutil.which("true"), 3, "does not answer as a Python"),
    ],
)
def test_what_cannot_be_looked_at_is_one_sentence(path, status, sentence):
    answer = run("--python", path)
    assert (answer.returncode, answer.stdout) == (status, "")
    assert sentence in answer.stderr and answer.stderr.count("\n") == 1


def test_an_environment_whose_python_is_gone(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to("/nowhere/python3")
    answer = run("--python", tmp_path)
    sentence = f"doctor: {tmp_path} is an environment whose Python is gone: /nowhere/python3\n"
    assert (answer.returncode, answer.stderr) == (3, sentence)


def test_a_crash_of_the_doctor_is_no_diagnosis(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "CASES", [None])
    assert doctor.examine(sys.executable, as_json=False) == 3
    assert "this is a fault of the doctor" in capsys.readouterr().err


def test_a_driver_that_cannot_be_asked(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "ASK_DRIVER", "import os; os.abort()")
    monkeypatch.setattr(doctor, "ask_python", lambda python: ("3.12.1", []))
    assert doctor.examine(sys.executable, as_json=False) == 3
    assert "Not inspected the NVIDIA driver: asking it failed" in capsys.readouterr().out


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "command"])
def test_a_reader_that_has_read_enough(alone, environments, tmp_path):
    """Of a copy alone, too, the status is the diagnosis, and nothing is said of the pipe."""
    copy = shutil.copy(ROOT / "casebook/doctor.py", tmp_path)
    what = ["-I", copy] if alone else ["-m", "casebook", "doctor"]
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, *what, "--python", str(environments(*BROKEN))]
    ended = subprocess.run(command, cwd=ROOT, stdout=theirs, stderr=subprocess.PIPE, text=True)
    os.close(theirs)
    assert (ended.returncode, ended.stderr) == (1, "")


def test_a_terminal_that_knows_no_unicode(tmp_path):
    info = tmp_path / "packés" / "~énobind-2.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: nanobind\nVersion: 2.1.0\n")
    answer = run("--all", PYTHONPATH=str(info.parent), PYTHONIOENCODING="ascii")
    assert r"~\xe9nobind-2.1.0.dist-info was left behind" in answer.stdout


# --- the driver


@pytest.mark.skipif(bool(gpu.find()), reason="this machine has a driver")
def test_a_machine_without_a_driver(environments):
    _, data, found = verdicts("--python", environments(*BROKEN))
    assert (data["driver"], data["cuda"], data["gpus"]) == (None, None, [])
    assert "libcuda.so.1" in data["problem"]
    assert found["19-driver-580"]["status"] == CANNOT_TELL


FAKE = {"name": "NVIDIA Fake", "compute_capability": "7.5"}


@pytest.mark.parametrize(("gpus", "problem"), [([FAKE], None), ([], "cuInit returned 100")])
def test_a_driver_with_and_without_a_gpu(environments, tmp_path, gpus, problem):
    library = fake_driver(tmp_path, devices=len(gpus))
    _, data, found = verdicts("--python", environments(*BROKEN), LD_LIBRARY_PATH=library)
    assert (data["gpus"], data["problem"]) == (gpus, problem)
    assert (data["driver"], data["cuda"]) == ("580.65.06", "13.0")
    assert found["19-driver-580"]["status"] == AFFECTED


# --- against the book


def packages_run(book, outcome=evidence.REPRODUCED):
    """The packages of a chapter's cells, and of the rows with an outcome, as {name: version}."""
    for cell in book.cells:
        if cell.pinned:
            yield {str(r.name): str(r.specifier)[2:] for r in cell.header.requirements}
    yield from (machine_of(row).packages for row in evidence.rows(book) if row.outcome == outcome)


def parts(packages):
    return Machine("", "", packages).parts()


TOLD = "18-numba-0.66", "42-always-gpu-0-cuda-13"  # by the facts; no cell runs these releases
SHOWN = [case for case in doctor.CASES if case.name not in TOLD]


@pytest.mark.parametrize("case", SHOWN, ids=lambda case: case.name)
def test_the_symptom_is_affected(case):
    """The doctor sees the fault in the packages of a cell that shows it, or of a row."""
    said = {
        finding.status
        for packages in packages_run(BOOKS[case.chapter])
        for finding in diagnose(Machine("", "", packages, cuda="13.0"))
        if finding.name == case.name
    }
    for part in case.ranges:
        if not part.read:
            assert (AT_RISK if part.everywhere else AFFECTED) in said


UNSEEN = {
    (f"{name[:2]}-{fault.id}", PARTS.get(package, package))
    for name, book in BOOKS.items()
    for fault in book.facts.faults
    for package in fault.unseen
}


@pytest.mark.parametrize("case", doctor.CASES, ids=lambda case: case.name)
def test_the_ends_of_a_range_were_seen(case):
    """The first and the last release with the fault, and the first without."""
    book = BOOKS[case.chapter]
    for part in (one for one in case.ranges if not one.read):
        rows = [r for r in evidence.rows(book) if part.part in parts({r.library: r.release})]
        tried = {row.release for row in rows}
        first = max(part.since, part.oldest, key=doctor.release)
        if first == "0.0":
            first = min(tried, key=doctor.release, default="none")
        fixed = doctor.release(part.fixed) if part.fixed else None
        ill, well = (
            {v for p in packages_run(book, outcome) for _, v in parts(p).get(part.part, ())}
            for outcome in (evidence.REPRODUCED, evidence.NOT_REPRODUCED)
        )
        before = {v for v in tried | ill if not fixed or doctor.release(v) < fixed}
        ends = {first, part.newest or max(before, key=doctor.release, default="none")}
        seen = ends <= ill and (not part.fixed or part.fixed in well)
        reason = (case.name, part.part) in UNSEEN
        assert seen != reason, f"{book.name}.yml, `unseen` of {case.name}: " + (
            f"{part.part} is seen now" if seen else f"why was {part.part} {ends - ill} not run?"
        )


WANTED = re.compile(r'"([\w-]+)(?:\[\w+\])?([<>=][^"]+)"')  # what an install line asks for


def test_one_release_follows_all_advice():
    """The install lines for one release do not exclude each other; of two ways, the first."""
    known = collections.defaultdict(list)
    for library, release in index.stored(ROOT / "notebooks"):
        known[library].append(release)
    for library, release in ((name, one) for name in known for one in known[name]):
        wanted = collections.defaultdict(set)
        for finding in diagnose(Machine("", "", {library: release, "numpy": "2.4.6"})):
            for name, specifier in WANTED.findall(finding.fix.partition(", or run ")[0]):
                wanted[name].add(specifier)
        for name in known.keys() & wanted.keys():
            specifiers = SpecifierSet(",".join(wanted[name]))
            assert any(specifiers.filter(known[name])), (library, release, name, wanted[name])

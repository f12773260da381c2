"""What the tests share: short ways to write a cell, to run it, and to look at processes."""

import fcntl
import re
import shutil
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from casebook.cells.header import read
from casebook.execution.modules import FOLDERS
from casebook.execution.script import check, run

ROOT = Path(__file__).resolve().parent.parent
SIX = "six==1.17.0"


def cell(body, *options, dependencies=(), python=">=3.11"):
    """Source of a cell; `options` are lines of [tool.casebook]."""
    lines = [
        f'requires-python = "{python}"',
        f"dependencies = {list(dependencies)}",
        "[tool.casebook]",
        *options,
    ]
    return "\n".join(["# /// script", *(f"# {line}" for line in lines), "# ///", body, ""])


def play(body, *options, emit=lambda text: None, **header):
    """Run a cell and check that it ends as its header says; returns the Outcome."""
    source = cell(body, *options, **header)
    outcome = run(source, read(source), emit)
    check(read(source), outcome)
    return outcome


def wheel(folder, name, version, files=(), requires=(), tag="py3-none-any"):
    """A wheel of text files, {place: text}, all of them executable; returns its path."""
    stem = f"{name.replace('-', '_')}-{version}"
    needs = "".join(f"Requires-Dist: {text}\n" for text in requires)
    record = f"{stem}.dist-info/RECORD"
    texts = {
        **dict(files),
        f"{stem}.dist-info/METADATA": (
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
        ),
        f"{stem}.dist-info/WHEEL": (f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n"),
    }
    texts[record] = "".join(f"{place},,\n" for place in [*texts, record])
    path = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for place, text in texts.items():
            member = zipfile.ZipInfo(place)
            member.external_attr = 0o100755 << 16
            archive.writestr(member, text)
    return path


def wait_until(condition, seconds=60):
    """True as soon as the condition holds, False when it never did."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def sleeper(path):
    """Body of a script that starts a child, writes both process ids into a file, and sleeps on."""
    return f"""import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path({str(path)!r}).write_text(f"{{os.getpid()}} {{child.pid}}\\n")
time.sleep(600)"""


def process_ids(path):
    """The process ids that a script writes into a file, as soon as the whole line is there."""
    assert wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return [int(word) for word in path.read_text().split()]


def gone(process_id):
    """True when a process has ended; a zombie has."""
    try:
        return psutil.Process(process_id).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def lock(path):
    """One process at a time: the workers of a test run share what one of them makes."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def fake_driver(folder, version=13000, devices=1):
    """A folder for LD_LIBRARY_PATH with a driver and an NVML that know `devices` GPUs."""
    compiler = shutil.which("g++") or shutil.which("cc")
    if not compiler:
        pytest.skip("needs a C compiler for the fake driver")
    (folder / "driver.c").write_text(r"""
        #include <string.h>
        int cuDriverGetVersion(int *v) { *v = VERSION; return 0; }
        int cuInit(unsigned flags) { return DEVICES ? 0 : 100; }
        int cuDeviceGetCount(int *n) { *n = DEVICES; return 0; }
        int cuDeviceGet(int *device, int index) { *device = index; return 0; }
        int cuDeviceGetName(char *name, int size, int device)
            { strcpy(name, "NVIDIA Fake"); return 0; }
        int cuDeviceGetAttribute(int *value, int which, int device)
            { *value = which == 75 ? 7 : 5; return 0; }
        int nvmlInit_v2(void) { return 0; }
        int nvmlSystemGetDriverVersion(char *text, unsigned size)
            { strcpy(text, "580.65.06"); return 0; }
    """)
    options = f"-x c -w -shared -fPIC -DVERSION={version} -DDEVICES={devices} driver.c -o".split()
    for library in ("libcuda.so.1", "libnvidia-ml.so.1"):
        subprocess.run([compiler, *options, library], cwd=folder, check=True)
    return str(folder)


EDIT = re.compile(r"(?m)((?:^-.*\n)+)((?:^\+.*\n)+)")


def planted(path):
    """The faults of a file such as unit/faults.txt. Of each the sentences that it must get, and its
    edits: what is replaced, and by what, one after the other."""
    for said, text in re.findall(r"(?m)((?:^=.*\n)+)((?:^[-+].*\n)+)", path.read_text("utf-8")):
        edits = [part for edit in EDIT.findall(text) for part in edit]
        sentences = [line[2:] for line in said.splitlines() if line[2:]]
        yield sentences, ["\n".join(line[2:] for line in part.splitlines()) for part in edits]


def beside_a_built_driver(script):
    """What a script prints that imports a fake driver, as lines; skips without a compiler."""
    if not shutil.which("cc"):
        pytest.skip("needs a C compiler, cc")
    variables = {"PYTHONPATH": ":".join(map(str, FOLDERS)), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", script]
    return subprocess.check_output(command, env=variables, text=True).splitlines()

"""Make .venv from the locked requirements, and these from pyproject.toml. Standard library only.

    bootstrap.py        .venv with everything that requirements.txt lists
    bootstrap.py site   .venv with what `make book` needs, unless it holds everything already
    bootstrap.py lock   write requirements.txt and book/requirements.txt anew

A new environment is made beside the old one and takes its place when it works.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV, NEW, OLD = ROOT / ".venv", ROOT / ".venv.new", ROOT / ".venv.old"
LOCKS = {"all": ROOT / "requirements.txt", "site": ROOT / "book/requirements.txt"}
PYTHON = os.path.realpath(sys.executable)  # venv does not follow each symbolic link to its prefix
COMPILE = ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-emit-index-url"]
COMPILE += ["--no-header", "--no-annotate", "--quiet"]


def main(task: str = "all") -> None:
    if task == "lock":
        lock()
        return
    stamp = VENV / "installed"
    held, _, stored = stamp.read_text().partition(" ") if stamp.exists() else ("", "", "")
    wanted = "all" if "all" in (task, held) else "site"
    if held == wanted and stored == digest(LOCKS[wanted].read_text()):
        return
    start = time.monotonic()
    version = sys.version.split()[0]
    print(f"Installing {LOCKS[wanted].relative_to(ROOT)} with Python {version} …", flush=True)
    install(wanted)
    shutil.rmtree(OLD, ignore_errors=True)
    if VENV.exists():
        VENV.rename(OLD)
    NEW.rename(VENV)
    shutil.rmtree(OLD, ignore_errors=True)
    print(f".venv is ready, {time.monotonic() - start:.0f} s", flush=True)


def install(wanted: str) -> None:
    """Make NEW, complete and relocatable."""
    shutil.rmtree(NEW, ignore_errors=True)
    uv = shutil.which("uv") or shutil.which(VENV / "bin/uv") or install_uv()
    call(uv, "venv", "--quiet", "--relocatable", "--allow-existing", "--python", PYTHON, NEW)
    call(uv, "pip", "sync", "--require-hashes", LOCKS[wanted])
    (site,) = NEW.glob("lib/python3.*/site-packages")
    (site / "casebook.pth").write_text("../../../..\n")
    script = NEW / "bin/casebook"
    script.write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m casebook "$@"\n')
    script.chmod(0o755)
    call(NEW / "bin/python", "-c", "")
    (NEW / "installed").write_text(f"{wanted} {digest(LOCKS[wanted].read_text())}")


def install_uv() -> Path:
    """Path of uv, installed with pip into NEW at the version and hashes of requirements.txt."""
    made = subprocess.run([PYTHON, "-m", "venv", NEW], capture_output=True, text=True)
    if made.returncode:
        raise SystemExit(
            "This Python cannot make virtual environments, and uv is not installed. "
            f"On Debian: apt install python3-venv\n{made.stdout}{made.stderr}"
        )
    pins = NEW / "uv.txt"
    blocks = re.split(r"^(?=\w)", LOCKS["all"].read_text(), flags=re.MULTILINE)
    pins.write_text(next(block for block in blocks if block.startswith("uv==")))
    pip = NEW / "bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"
    call(*pip, "install", "--require-hashes", "-r", pins)
    return NEW / "bin/uv"


def call(*command: str | Path) -> None:
    variables = os.environ | {"VIRTUAL_ENV": str(NEW)}
    if subprocess.run(command, env=variables).returncode:
        kept = "; .venv is as it was" if VENV.exists() else ""
        raise SystemExit(f"failed: {' '.join(map(str, command))}\nRun make again to retry{kept}.")


def lists() -> dict[str, list[str]]:
    """What each lock is compiled from: the dependency lists of pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = settings["project"], settings["dependency-groups"]
    own, gpu = project["dependencies"], project["optional-dependencies"]["gpu"]
    every = [line for group in groups.values() for line in group]
    return {"all": [*own, *gpu, *every], "site": [*own, *groups["site"]]}


def lock() -> None:
    for name, path in LOCKS.items():
        constraints = [] if name == "all" else ["--constraint", str(LOCKS["all"])]
        options = [*COMPILE, *constraints, "-", "-o", str(path)]
        command = [str(VENV / "bin/uv"), "pip", "compile", *options]
        subprocess.run(command, input="\n".join(lists()[name]), text=True, check=True, cwd=ROOT)
        pins = path.read_text()
        path.write_text(f"{header(name, pins)}\n{pins}")


def header(name: str, pins: str) -> str:
    made_from = digest(json.dumps(lists()[name]))
    return f"# `make lock` wrote this from pyproject.toml ({made_from}); the pins: {digest(pins)}"


def drift() -> list[str]:
    """How the locks differ from pyproject.toml, what `make lock` wrote, and each other."""
    texts = {name: path.read_text() for name, path in LOCKS.items()}
    found = []
    for name, text in texts.items():
        first, _, pins = text.partition("\n")
        place = LOCKS[name].relative_to(ROOT)
        if first.partition(";")[0] != header(name, pins).partition(";")[0]:
            found.append(f"{place} was not compiled from today's pyproject.toml; run `make lock`")
        elif first != header(name, pins):
            found.append(f"{place} was edited by hand; change pyproject.toml and run `make lock`")
    sets = {name: set(re.findall(r"^\S+==\S+", text, re.M)) for name, text in texts.items()}
    if other := sets["site"] - sets["all"]:
        found.append(f"only book/requirements.txt has {', '.join(other)}; run `make lock`")
    return found


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Makes .venv from requirements.txt where it is not there yet. Standard library only; called by the Makefile.

The stamp is written last and holds the hash of requirements.txt, so an interrupted or outdated environment is made anew.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "requirements.sha256"
REQUIREMENTS = ROOT / "requirements.txt"
WHEELHOUSE = ROOT / "wheelhouse"  # what `make wheelhouse` filled: with it, no network is needed


def main():
    wanted = f"{hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()} {ROOT}\n"
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    start = time.monotonic()
    print(
        f"Making .venv from requirements.txt (about 170 packages, 1.4 GB) with Python {sys.version.split()[0]} …",
        flush=True,
    )
    shutil.rmtree(VENV, ignore_errors=True)
    uv = shutil.which("uv") or install_uv()
    call(uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, VENV)
    install("--offline", uv, "pip", "sync", "--require-hashes", REQUIREMENTS)
    (site,) = VENV.glob("lib/python3.*/site-packages")
    (site / "casebook.pth").write_text(f"{ROOT}\n")
    STAMP.write_text(wanted)
    print(f".venv is ready, {time.monotonic() - start:.0f} s", flush=True)


def install_uv():
    """Path of uv, installed with pip into a fresh .venv at the version and hashes that requirements.txt names."""
    made = subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, text=True)
    if made.returncode:
        raise SystemExit(
            "this Python cannot make virtual environments (Debian: apt install python3-venv), and uv is not installed:\n"
            + made.stdout
            + made.stderr
        )
    pins = VENV / "uv.txt"
    lines = REQUIREMENTS.read_text().split("\nuv==")[1].split("\n")
    last = next(n for n, line in enumerate(lines) if not line.endswith("\\"))
    pins.write_text("uv==" + "\n".join(lines[: last + 1]))
    pip = VENV / "bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"
    install("--no-index", *pip, "install", "--require-hashes", "-r", pins)
    return VENV / "bin/uv"


def install(offline, *command):
    """Run a command that installs: from the wheelhouse alone, with the option `offline`, else from the network."""
    if not WHEELHOUSE.is_dir() or run(*command, offline, "--find-links", WHEELHOUSE):
        call(*command)


def call(*command):
    if run(*command):
        raise SystemExit(
            f"failed: {' '.join(str(part) for part in command)}\nNothing is lost: the next call begins again."
        )


def run(*command):
    return subprocess.run(
        [str(part) for part in command], env=os.environ | {"VIRTUAL_ENV": str(VENV)}
    ).returncode


if __name__ == "__main__":
    main()

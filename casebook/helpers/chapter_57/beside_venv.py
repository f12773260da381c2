"""An empty virtual environment, with the packages of the cell in a folder beside it.

`again()` starts the cell again in that environment, as `uv run --with` does: a `.pth` file puts
the folder on sys.path. There it does nothing. `run(program, **variables)` runs a program in the
environment, by default without that file. `PACKAGES` is the folder. Both folders have a space in
their names. A CUDA toolkit of the machine stays hidden, by hidden.py.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

NAME = "empty venv"
ROOT = Path(NAME).absolute()
PACKAGES = str(Path("my packages/site-packages").absolute())  # a link to those of the cell
HELPERS = os.environ["PYTHONPATH"]


def python() -> str:
    """Its interpreter; the first call makes the environment."""
    if not ROOT.exists():
        (here,) = (p for p in sys.path if p.startswith(sys.prefix + "/") and "site-p" in p)
        os.mkdir("my packages")
        os.symlink(here, PACKAGES)
        venv.create(ROOT, symlinks=True)
        (site,) = ROOT.glob("lib/python*/site-packages")
        (site / "hidden.pth").write_text("import hidden\n")
    return str(ROOT / "bin" / "python")


def overlay() -> None:
    """Put the packages on sys.path, with the line that uv writes for `--with`."""
    python()
    (site,) = ROOT.glob("lib/python*/site-packages")
    (site / "overlay.pth").write_text(f"import site; site.addsitedir({PACKAGES!r})\n")


def variables(given: dict[str, str]) -> dict[str, str]:
    """This process's variables with those given, and the helpers at the end of PYTHONPATH."""
    path = ":".join(filter(None, [given.get("PYTHONPATH"), HELPERS]))
    return {**os.environ, **given, "PYTHONPATH": path}


def run(program: str, **given: str) -> str:
    """Run a program there; return its output, or the type of its last exception."""
    done = subprocess.run(
        [python(), "-c", program], env=variables(given), text=True, capture_output=True
    )
    if done.returncode == 0:
        return done.stdout.strip()
    error = [line for line in done.stderr.splitlines() if "Error: " in line][-1]
    return error.split(": ")[0].split(".")[-1]


def again() -> None:
    """Start this cell again there, as with `uv run --with`; in the second run, do nothing."""
    if not sys.prefix.endswith(NAME):
        overlay()
        os.execve(python(), [python(), *sys.argv], variables({}))

"""From header to interpreter: uv makes each distinct environment once; all cells and chapters share it.

uv keys the environment of a script by the script's path, so a file that holds nothing but the header's environment part,
named by its hash, stands for it. https://docs.astral.sh/uv/guides/scripts/
"""
import errno
import importlib.metadata
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from .errors import EnvironmentFailure

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR)

_made = {}


@dataclass(frozen=True)
class Environment:
    """One environment on disk: its interpreter, its root folder and its site-packages."""

    python: Path
    root: Path
    site: Path

    @property
    def base(self):
        """Folder of the Python installation behind the environment."""
        home = re.search(r"(?m)^home = (.+)$", (self.root / "pyvenv.cfg").read_text())
        return Path(home[1]).parent

    def installed(self):
        """Versions of the installed packages by canonical name."""
        return {canonicalize_name(d.name): d.version for d in importlib.metadata.distributions(path=[str(self.site)])}


def cache():
    """The folder for everything that casebook keeps between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "casebook"


@contextmanager
def writing():
    """Turns a disk that is full, or a folder that may not be written, into one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        raise EnvironmentFailure(f"cannot write to {cache()}: {error.strerror}") from None


@writing()
def make(header, report=lambda line: None):
    """Environment of a header, complete and checked; made when it is not there. `report` gets lines of progress.

    Raises EnvironmentFailure where it cannot be made, or where the header's dependencies are not the complete closure.
    """
    environment = sync(header, report)
    check_closure(header, environment)
    return environment


def sync(header, report=lambda line: None):
    """Environment of a header, without a look at its closure."""
    known = _made.get(header.environment_key)
    if known and known.python.exists():
        return known
    spec = cache() / "environments" / f"{header.environment_key}.py"
    write_once(spec, header.script_block())
    if not complete(spec):
        status, said = uv_sync(spec, report, "--offline")
        if status:
            status, said = uv_sync(spec, report)
        if status:
            raise EnvironmentFailure(explain(said, header))
    python = find(spec)
    root = python.parent.parent
    (site,) = root.glob("lib/python3.*/site-packages")
    _made[header.environment_key] = Environment(python, root, site)
    return _made[header.environment_key]


def find(spec):
    """Interpreter of a spec file's environment, or None where it is not made: uv then names some other Python that fits."""
    answer = subprocess.run([uv(), "python", "find", "--script", str(spec)], env=uv_variables(), capture_output=True, text=True)
    python = Path(answer.stdout.strip())
    return python if python.parent.parent.name.startswith(spec.stem) else None


def complete(spec):
    """True when the environment of a spec file is there with all its packages (about 40 ms, no network)."""
    command = [uv(), "sync", "--check", "--quiet", "--offline", "--script", str(spec)]
    return find(spec) is not None and subprocess.run(command, env=uv_variables(), capture_output=True).returncode == 0


def uv_sync(spec, report, *options):
    """Make the environment of a spec file; returns uv's exit status and what it said."""
    command = [uv(), "sync", "--no-progress", *options, "--script", str(spec)]
    with subprocess.Popen(command, env=uv_variables(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace") as process:
        lines = []
        for line in process.stderr:
            lines.append(line)
            report(line.strip())
    return process.returncode, "".join(lines)


def check_closure(header, environment):
    """Compare what is installed with what the header declares."""
    declared = {canonicalize_name(r.name): next(iter(r.specifier)).version for r in header.requirements}
    undeclared = sorted(f"{name}=={version}" for name, version in environment.installed().items() if name not in declared)
    if undeclared:
        raise EnvironmentFailure(f"dependencies is not the complete closure: add {', '.join(undeclared)} "
                                 "(`python -m casebook pin` writes them)")


def uv():
    """Path of uv: the one beside this Python, else the one on the PATH."""
    try:
        from uv import find_uv_bin
        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if not found:
        raise EnvironmentFailure("uv is not installed: `pip install uv`, then run the cell again")
    return found


def uv_variables():
    return {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX")} | {"NO_COLOR": "1"}


def explain(text, header):
    """What uv said, as one sentence for a reader who has never heard of uv."""
    names = [f"{r.name}=={next(iter(r.specifier)).version}" for r in header.requirements]
    if "No space left on device" in text:
        return f"cannot make an environment of {len(names)} packages in {cache().parent}: No space left on device"
    if re.search(r"No interpreter found|Failed to inspect Python interpreter|python-build-standalone", text):
        return f"no Python {header.requires_python} on this machine, and uv could not fetch one"
    if re.search(r"dns error|Network|network|Failed to fetch|Failed to download|Could not connect|request for url", text):
        named = [n for n in names if re.search(rf"[/`]{n.split('==')[0]}[/`=]", text)] or names
        return f"no network, or no answer: {' or '.join(named)} could not be downloaded"
    if reason := re.search(r"(?s)No solution found.*?cause: (.*?)(?:\n\s*\n|$)", text):
        return f"the dependencies cannot be installed together: {' '.join(reason[1].split())}"
    return "uv could not make the environment:\n" + text.strip()


def write_once(path, text):
    """Write a file that never changes, so that no other process ever sees half of it."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as temporary:
        temporary.write(text)
    os.replace(temporary.name, path)

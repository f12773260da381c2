"""How a script ended, and whether that was expected: for the cells, and for the files that `export`
writes, which contain this text.

Standard library alone. A status is an exit status, minus a signal, or None after a time-out.
"""

import builtins
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPORT = """
import json, os, sys
def report(kind, value, trace, show=sys.excepthook):
    own = kind.__module__ in ("builtins", "__main__")
    name = kind.__qualname__ if own else f"{kind.__module__}.{kind.__qualname__}"
    try:
        message = str(value)
    except Exception:
        message = "<no message: its __str__ failed>"
    path = os.path.join(os.environ["CASEBOOK_REPORTS"], str(os.getpid()))
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"type": name, "message": message}, file)
    show(kind, value, trace)
sys.excepthook = report
"""


@dataclass(frozen=True)
class Expected:
    """How a script must end: an exception, a signal, a time-out, or exit status 0."""

    raises: str | None
    match: str | None
    signal: str | None
    timeout: float
    timeout_expected: bool

    @property
    def ending(self) -> str:
        """In short, as the line below the output says it."""
        if self.timeout_expected:
            return f"timed out after {self.timeout:g} s"
        return f"killed by {self.signal}" if self.signal else self.raises or "exit status 0"

    def __str__(self) -> str:
        return self.ending + (f" with a message that matches {self.match!r}" if self.match else "")


@dataclass(frozen=True)
class Raised:
    """The final exception: its message, and its type's name, with the module unless that is
    builtins or the script."""

    type: str
    message: str


def read_report(path: Path) -> Raised | None:
    """The exception in a script's report; None for no report, or for a file that is none."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        match json.loads(path.read_text("utf-8")):
            case {"type": str(name), "message": str(message)}:
                return Raised(name, message)
    return None


def matches(expected: Expected, status: int | None, raised: Raised | None) -> bool:
    """True if the script ended as expected."""
    if status is None or expected.timeout_expected:
        return status is None and expected.timeout_expected
    if expected.signal:
        return status == -signal.Signals[expected.signal]
    if not expected.raises:
        return status == 0
    return (
        status == 1
        and raised is not None
        and is_called(raised.type, expected.raises)
        and re.search(expected.match or "", raised.message, re.DOTALL) is not None
    )


def is_called(kind: str, name: str) -> bool:
    """True if a name is a type's: the whole or, where no builtin has it, its last part."""
    return name == kind or (name == kind.rpartition(".")[2] and not hasattr(builtins, name))


def describe(status: int | None, raised: Raised | None, timeout: float) -> str:
    """How the script ended; `timeout` is its time limit in seconds."""
    if status is None:
        return f"timed out after {timeout:g} s"
    if status < 0:
        known = -status in list(signal.Signals)
        return f"killed by {signal.Signals(-status).name if known else f'signal {-status}'}"
    if raised and status == 1:
        return f"{raised.type}: {raised.message.strip()[:300]}"
    return f"exit status {status}"


def difference(expected: Expected, status: int | None, raised: Raised | None) -> str:
    """What came instead of the expected end, in one sentence; "" if it ended as expected."""
    if matches(expected, status, raised):
        return ""
    got = describe(status, raised, expected.timeout)
    hint = "; match is a regular expression: write \\( for (" * literal(expected, raised)
    return f"expected {expected}, but got {got}{hint}"


def literal(expected: Expected, raised: Raised | None) -> bool:
    """Whether the pattern is the message itself, with signs that have a meaning in patterns."""
    return bool(raised and expected.match and expected.match in raised.message)


def watch(
    expected: Expected, variables: dict[str, str], links: dict[str, str], modules: dict[str, str]
) -> int:
    """Run this file as a process of its own; returns 0 if it ends as expected, else 1.

    variables: of the process; links: of its CUDA_HOME, {place: file in site-packages/nvidia};
    modules: {name of the file: text}. What it writes to disk for them is removed at the end.
    """
    with tempfile.TemporaryDirectory() as folder:
        site = Path(sysconfig.get_paths()["purelib"])
        hook, empty, reports, home = (
            Path(folder, name) for name in ("hook", "empty", "reports", "home")
        )
        for place in (hook, empty, reports):
            place.mkdir()
        for name, text in {"sitecustomize.py": REPORT, **modules}.items():
            (hook / name).write_text(text, "utf-8")
        for name, file in links.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).symlink_to(site / "nvidia" / file)
        given = os.environ | {"CASEBOOK_REPORTS": str(reports), "PYTHONPATH": str(hook)}
        given |= {"CUDA_HOME": str(home)} if links else {}
        for key, value in variables.items():
            given[key] = value.replace("{site}", str(site)).replace("{empty}", str(empty))
        early = []  # an exception before `process` is bound would leave it running
        for how in (signal.SIGINT, signal.SIGTERM):
            signal.signal(how, lambda *_: early.append("ended from outside"))
        process = subprocess.Popen([sys.executable, *sys.argv], env=given, start_new_session=True)
        try:
            for how in (signal.SIGINT, signal.SIGTERM):
                signal.signal(how, lambda *_: sys.exit("ended from outside"))
            if early:
                sys.exit(early[0])
            status = process.wait(expected.timeout)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raised = read_report(reports / str(process.pid))
    problem = difference(expected, status, raised)
    print(f"unexpected outcome: {problem}" if problem else f"as expected: {expected.ending}")
    return 1 if problem else 0

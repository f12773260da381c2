"""How a script ended, and whether that was expected: for the cells, and for the files that `export` writes, which contain
this text.

Standard library alone. `expected` has the attributes raises, match, signal, timeout, timeout_expected, ending and
expectation of a Header. A status is an exit status, minus a signal, or None after a time-out; an error is the final
exception, {'type': …, 'message': …}, or None.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

REPORT = """
import json, os, sys
def report(kind, value, trace, show=sys.excepthook):
    name = kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    try:
        message = str(value)
    except Exception:
        message = "<no message: its __str__ failed>"
    with open(os.path.join(os.environ["CASEBOOK_REPORTS"], str(os.getpid())), "w", encoding="utf-8") as file:
        json.dump({"type": name, "message": message}, file)
    show(kind, value, trace)
sys.excepthook = report
"""


def matches(expected, status, error):
    """True where the script ended as expected."""
    if status is None or expected.timeout_expected:
        return status is None and expected.timeout_expected
    if expected.signal:
        return status == -signal.Signals[expected.signal]
    if not expected.raises:
        return status == 0
    if status != 1 or not error:
        return False
    named = expected.raises in (error["type"], error["type"].rpartition(".")[2])
    return named and (
        expected.match is None or re.search(expected.match, error["message"], re.DOTALL) is not None
    )


def describe(status, error, timeout):
    """How the script ended; `timeout` is its time limit in seconds."""
    if status is None:
        return f"timed out after {timeout:g} s"
    if status < 0:
        return f"killed by {signal.Signals(-status).name if -status in list(signal.Signals) else f'signal {-status}'}"
    return (
        f"{error['type']}: {error['message'].strip()[:300]}"
        if error and status == 1
        else f"exit status {status}"
    )


def watch(expected, variables, links, modules):
    """Run this file as a process of its own; returns 0 if it ends as expected, else 1. Removes what it needs on disk.

    variables: of the process; links: of its CUDA_HOME, {place: file in site-packages/nvidia}; modules: {name of the file: text}.
    """
    with tempfile.TemporaryDirectory() as folder:
        site, places = (
            Path(sysconfig.get_paths()["purelib"]),
            {name: Path(folder, name) for name in ("hook", "empty", "reports", "home")},
        )
        for place in places.values():
            place.mkdir()
        for name, text in {"sitecustomize.py": REPORT, **modules}.items():
            (places["hook"] / name).write_text(text, "utf-8")
        for name, file in links.items():
            (places["home"] / name).parent.mkdir(parents=True, exist_ok=True)
            (places["home"] / name).symlink_to(site / "nvidia" / file)
        given = os.environ | {
            "CASEBOOK_REPORTS": str(places["reports"]),
            "PYTHONPATH": str(places["hook"]),
        }
        given |= {"CUDA_HOME": str(places["home"])} if links else {}
        for key, value in variables.items():
            given[key] = value.replace("{site}", str(site)).replace("{empty}", str(places["empty"]))
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
        report = places["reports"] / str(process.pid)
        error = json.loads(report.read_text("utf-8")) if report.exists() else None
    if matches(expected, status, error):
        print(f"as expected: {expected.ending}")
        return 0
    got = describe(status, error, expected.timeout)
    print(f"unexpected outcome: expected {expected.expectation}, but got {got}")
    return 1

"""The probes of one environment, run in a process of its own: a job in JSON comes by standard input, the answers go out by standard output.

The environment lies in a folder of its own, which is removed; only what uv keeps of the packages stays. On a GPU one script runs at
a time, however many workers there are.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from casebook.authoring.releases.evidence import DIFFERENT, NO_PYTHON
from casebook.authoring.releases.probe import Probe, judge
from casebook.environments import gpu
from casebook.environments.create import make, uv
from casebook.environments.store import cache, one_at_a_time
from casebook.errors import EnvironmentFailure
from casebook.execution.script import run

LIMIT = 1800  # seconds for everything: downloads, the environment, a build, the script


def perform(job):
    """Run the probes of a job in one environment, in a process of its own: {"answers": one for each probe}, or {"trouble": why}.

    An answer is {"outcome", "line", …}, or {"trouble": why} for what says nothing of the release. Its "took" are the seconds of its parts.
    """
    folder = cache() / "versions"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as home:
        variables = os.environ | {"XDG_CACHE_HOME": home, "UV_CACHE_DIR": packages()}
        job = job | {"lock": str(gpu.lock())}
        command = [sys.executable, "-m", "casebook.authoring.releases.worker"]
        try:
            done = subprocess.run(
                command,
                input=json.dumps(job),
                env=variables,
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return {"trouble": f"not done after {LIMIT} s"}
    if done.returncode:
        return {
            "trouble": f"its process ended with status {done.returncode}: {done.stderr.strip()[-300:]}"
        }
    return {"answers": json.loads(done.stdout)}


def packages():
    """The folder where uv keeps packages; it moves with XDG_CACHE_HOME otherwise."""
    return subprocess.check_output([uv(), "cache", "dir"], text=True).strip()


def main():
    job = json.load(sys.stdin)
    found = gpu.find() if job["level"] == "gpu" else None
    receipt = {"driver": found.driver, "gpu": found.name} if found else {}
    json.dump([answer(Probe(**probe), job, receipt) for probe in job["probes"]], sys.stdout)


def answer(probe, job, receipt):
    header, took, last = probe.header(job["python"], job["closure"]), {}, time.monotonic()

    def lap(part):
        nonlocal last
        took[part], last = time.monotonic() - last, time.monotonic()

    try:
        make(header)
        lap("environment")
        with (
            one_at_a_time(Path(job["lock"]), lambda line: None)
            if job["level"] == "gpu"
            else nullcontext()
        ):
            lap("waiting")
            outcome, line = judge(probe, header, run(probe.source, header, lambda text: None))
            lap("script")
    except EnvironmentFailure as error:
        outcome, line = meaning(str(error))
    return ({"outcome": outcome, "line": line, **receipt} if outcome else {"trouble": line}) | {
        "took": took
    }


def meaning(sentence):
    """What it says of a release that its environment cannot be made: (outcome, line). The outcome is None for nothing."""
    if sentence.startswith("no Python"):
        return NO_PYTHON, sentence
    if "could not be built" in sentence:
        error = next((line.strip() for line in sentence.splitlines() if "error:" in line), "")
        error = re.sub(r"^.*?error: | @ file://[^\s`]+", "", error)
        return DIFFERENT, f"{sentence.splitlines()[0]}: {error}"[:200]
    return None, sentence


if __name__ == "__main__":
    main()

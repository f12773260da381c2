"""The probes of one environment, run in a process of its own: a Job in, Runs out, pickled.

The environment lies in a temporary folder; only uv's packages are kept. On a GPU one script runs
at a time, however many workers there are.
"""

import os
import pickle
import re
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from casebook.authoring.releases.probe import Probe, judge
from casebook.chapters.evidence import DIFFERENT, Run, today
from casebook.environments import gpu, uv
from casebook.environments.create import make
from casebook.environments.store import cache, file_lock
from casebook.errors import EnvironmentFailure
from casebook.execution.script import run

# What a machine says that is at its limits; it says nothing of a release.
FAILING = re.compile(
    r"No space left on device|Errno 28|\bMemoryError\b|Cannot allocate memory|Too many open files|"
    r"Disk quota exceeded|Input/output error|Read-only file system"
)
LIMIT = 1800  # seconds for everything: downloads, the environment, a build, the script


@dataclass(frozen=True)
class Job:
    """Probes of one level for one environment; `lock` is held by the script that has the GPU."""

    level: str
    python: str
    closure: str
    probes: tuple[Probe, ...]
    lock: str = ""


def perform(job: Job) -> list[Run | str]:
    """What came of each probe of a job; words for why nothing is known of it.

    Raises EnvironmentFailure where the process ends otherwise.
    """
    folder = cache() / "versions"
    folder.mkdir(parents=True, exist_ok=True)
    packages = subprocess.check_output([uv.executable(), "cache", "dir"], text=True).strip()
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as home:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "casebook.authoring.releases.worker"],
                input=pickle.dumps(replace(job, lock=str(gpu.lock()))),
                env=os.environ | {"XDG_CACHE_HOME": home, "UV_CACHE_DIR": packages},
                capture_output=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentFailure(f"timed out after {LIMIT} s") from None
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip()[-300:]
        raise EnvironmentFailure(f"its process ended with status {done.returncode}: {last}")
    return pickle.loads(done.stdout)


def main() -> None:
    job = pickle.load(sys.stdin.buffer)
    pickle.dump([run_one(probe, job) for probe in job.probes], sys.stdout.buffer)


def run_one(probe: Probe, job: Job) -> Run | str:
    """Run a probe in the job's environment."""
    header = probe.header(job.python, job.closure)
    found = gpu.find() if job.level == "gpu" else None
    if job.level == "gpu" and not found:
        return "no NVIDIA GPU there"
    try:
        make(header)
        with file_lock(Path(job.lock), lambda line: None) if found else nullcontext():
            outcome, line = judge(probe, header, run(probe.source, header, lambda text: None))
    except EnvironmentFailure as error:
        outcome, line = meaning(str(error))
    receipt = {"driver": found.driver, "gpu": found.name} if found else {}
    if machine := FAILING.search(line):
        return f"this machine failed, so the release was not judged: {machine[0]}"
    ended = Run(outcome=outcome, line=line, date=today(), probe=probe.key, **receipt)
    return ended if outcome else line


def meaning(sentence: str) -> tuple[str, str]:
    """What it says of a release that its environment cannot be made: (outcome, line).

    The outcome is empty where it says nothing.
    """
    if "could not be built" in sentence:
        error = next((line.strip() for line in sentence.splitlines() if "error:" in line), "")
        error = re.sub(r"^.*?error: | @ file://[^\s`]+", "", error)
        return DIFFERENT, f"{sentence.splitlines()[0]}: {error}"[:200]
    return "", sentence


if __name__ == "__main__":
    main()

"""The probes of one environment, run in a process of its own: Job in, Answers out, in JSON.

The environment lies in a temporary folder; only uv's packages are kept. On a GPU one script runs
at a time, however many workers there are.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from casebook.authoring.releases.evidence import DIFFERENT, NO_PYTHON
from casebook.authoring.releases.probe import Probe, judge
from casebook.environments import gpu, uv
from casebook.environments.create import make
from casebook.environments.store import cache, file_lock
from casebook.errors import EnvironmentFailure
from casebook.execution.script import run

LIMIT = 1800  # seconds for everything: downloads, the environment, a build, the script


@dataclass(frozen=True)
class Job:
    """Probes of one level for one environment; `lock` is held by the script that has the GPU."""

    level: str
    python: str
    closure: str
    probes: tuple[Probe, ...]
    lock: str = ""


@dataclass
class Answer:
    """What came of a probe, or in `trouble` why nothing is known. `took`: seconds of its parts."""

    outcome: str = ""
    line: str = ""
    driver: str | None = None
    gpu: str | None = None
    trouble: str = ""
    took: dict[str, float] = field(default_factory=dict)


def perform(job: Job) -> list[Answer]:
    """An answer for each probe of a job. Raises EnvironmentFailure where its process gives none."""
    folder = cache() / "versions"
    folder.mkdir(parents=True, exist_ok=True)
    packages = subprocess.check_output([uv.executable(), "cache", "dir"], text=True).strip()
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as home:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "casebook.authoring.releases.worker"],
                input=json.dumps(asdict(replace(job, lock=str(gpu.lock())))),
                env=os.environ | {"XDG_CACHE_HOME": home, "UV_CACHE_DIR": packages},
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentFailure(f"timed out after {LIMIT} s") from None
    if done.returncode:
        last = done.stderr.strip()[-300:]
        raise EnvironmentFailure(f"its process ended with status {done.returncode}: {last}")
    return [Answer(**answer) for answer in json.loads(done.stdout)]


def main() -> None:
    given = json.load(sys.stdin)
    job = Job(**given | {"probes": tuple(Probe(**probe) for probe in given["probes"])})
    json.dump([asdict(answer(probe, job)) for probe in job.probes], sys.stdout)


def answer(probe: Probe, job: Job) -> Answer:
    """What comes of a probe in the job's environment."""
    header, took, last = probe.header(job.python, job.closure), {}, time.monotonic()

    def lap(part: str) -> None:
        nonlocal last
        took[part], last = time.monotonic() - last, time.monotonic()

    found = gpu.find() if job.level == "gpu" else None
    receipt = {"driver": found.driver, "gpu": found.name} if found else {}
    try:
        make(header)
        lap("environment")
        with file_lock(Path(job.lock), lambda line: None) if found else nullcontext():
            lap("waiting")
            outcome, line = judge(probe, header, run(probe.source, header, lambda text: None))
            lap("script")
    except EnvironmentFailure as error:
        outcome, line = meaning(str(error))
    if not outcome:
        return Answer(trouble=line, took=took)
    return Answer(outcome, line, **receipt, took=took)


def meaning(sentence: str) -> tuple[str, str]:
    """What it says of a release that its environment cannot be made: (outcome, line).

    The outcome is empty where it says nothing.
    """
    if sentence.startswith("no Python"):
        return NO_PYTHON, sentence
    if "could not be built" in sentence:
        error = next((line.strip() for line in sentence.splitlines() if "error:" in line), "")
        error = re.sub(r"^.*?error: | @ file://[^\s`]+", "", error)
        return DIFFERENT, f"{sentence.splitlines()[0]}: {error}"[:200]
    return "", sentence


if __name__ == "__main__":
    main()

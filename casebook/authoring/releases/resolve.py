"""What an installer chooses for a release, as of its day or today: uv resolves, nothing more."""

import datetime
import subprocess
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from casebook.environments import uv
from casebook.errors import EnvironmentFailure

# Parts of a toolkit that only extras name.
ANY_DAY = ("cuda-python", "cuda-toolkit", "nvidia-cuda-cccl-cu12")


class CannotBeInstalled(Exception):
    """No set of packages satisfies what is asked for; the message says why."""


@dataclass(frozen=True)
class InstallRequest:
    """What an installer is asked for.

    `requirements`: the library with its release, then what else is needed. `undated`: packages
    that may be newer than `day`, "2025-03-13", at whose end the index is looked at; None is today.
    `pythons`: the first with an answer is taken.
    """

    requirements: tuple[str, ...]
    undated: tuple[str, ...]
    pythons: tuple[str, ...]
    day: str | None = None


def resolve(question: InstallRequest) -> dict[str, str]:
    """Fields of an entry: "python" and "closure", or "cannot" and "asked".

    Raises EnvironmentFailure where the index cannot be asked.
    """
    reasons = []
    for python in question.pythons:
        try:
            return {"python": python, "closure": closure(question, python)}
        except CannotBeInstalled as error:
            reasons.append(f"Python {python}: {error}")
    return {"cannot": reasons[0], "asked": " ".join(question.requirements)}


def closure(question: InstallRequest, python: str) -> str:
    """The packages that an installer chooses, as pins in one string, sorted. Only wheels are taken.

    Raises CannotBeInstalled, and EnvironmentFailure where the index cannot be asked.
    """
    dated = []
    if question.day:
        tomorrow = midnight_after(datetime.date.today().isoformat())
        dated = ["--exclude-newer", midnight_after(question.day)]
        for name in (*question.undated, *ANY_DAY):
            dated += ["--exclude-newer-package", f"{name}={tomorrow}"]
    lines = compile_closure(question.requirements, python, *dated).splitlines()
    return " ".join(sorted(lines, key=lambda pin: canonicalize_name(pin.partition("==")[0])))


def midnight_after(day: str) -> str:
    return f"{datetime.date.fromisoformat(day) + datetime.timedelta(1)}T00:00:00Z"


def compile_closure(
    requirements: tuple[str, ...], python: str, *options: str, platform: str = "linux"
) -> str:
    """What `uv pip compile` answers for a 64-bit platform. It needs no such interpreter."""
    settings = "--quiet --no-build --no-header --no-annotate --no-python-downloads"
    target = f"--python-version {python} --python-platform {platform}"
    done = subprocess.run(
        [uv.executable(), "pip", "compile", "-", *settings.split(), *target.split(), *options],
        input="\n".join(requirements),
        env=uv.variables(),
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return done.stdout
    if reason := uv.conflict(done.stderr):
        raise CannotBeInstalled(reason)
    raise EnvironmentFailure(
        f"uv could not resolve {requirements[0]}: {' '.join(done.stderr.split())}"
    )

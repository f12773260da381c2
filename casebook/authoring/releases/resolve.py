"""What an installer chooses beside a release: on the day of the release, or today. uv resolves, nothing is installed."""

import datetime
import subprocess

from packaging.utils import canonicalize_name

from casebook.environments.create import contradiction, uv, uv_variables
from casebook.errors import EnvironmentFailure

ANY_DAY = (
    "cuda-python",
    "cuda-toolkit",
    "nvidia-cuda-cccl-cu12",
)  # parts of a toolkit that only extras name


class CannotBeInstalled(Exception):
    """No set of packages satisfies what is asked for; the message says why."""


def closure(asked, release, python, kept, day=None):
    """The packages that an installer chooses, as pins in one string, sorted.

    `asked`: the library, with an extra or without, of which `release` is wanted, and more requirements. `kept`: pins that stay as they
    are and may be newer than `day`. `day`: "2025-03-13", at whose end the index is looked at; today's index without one. Wheels alone
    are taken.
    Raises CannotBeInstalled, and EnvironmentFailure where the index cannot be asked.
    """
    dated = []
    if day:
        dated = ["--exclude-newer", midnight_after(day)]
        for name in [
            asked[0].partition("[")[0],
            *(pin.partition("==")[0] for pin in kept),
            *ANY_DAY,
        ]:
            dated += [
                "--exclude-newer-package",
                f"{name}={midnight_after(datetime.date.today().isoformat())}",
            ]
    lines = compile_closure(
        [f"{asked[0]}=={release}", *asked[1:], *kept], python, *dated
    ).splitlines()
    return " ".join(sorted(lines, key=lambda pin: canonicalize_name(pin.partition("==")[0])))


def midnight_after(day):
    return f"{datetime.date.fromisoformat(day) + datetime.timedelta(1)}T00:00:00Z"


def compile_closure(requirements, python, *options):
    """What `uv pip compile` answers for 64-bit Linux. No interpreter of that version is needed."""
    command = [
        uv(),
        "pip",
        "compile",
        "-",
        "--quiet",
        "--no-build",
        "--no-header",
        "--no-annotate",
        "--no-python-downloads",
        "--python-version",
        python,
        "--python-platform",
        "linux",
        *options,
    ]
    done = subprocess.run(
        command, input="\n".join(requirements), env=uv_variables(), capture_output=True, text=True
    )
    if done.returncode == 0:
        return done.stdout
    if reason := contradiction(done.stderr):
        raise CannotBeInstalled(reason)
    raise EnvironmentFailure(
        f"uv could not resolve {requirements[0]}: {' '.join(done.stderr.split())}"
    )

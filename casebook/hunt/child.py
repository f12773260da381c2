"""A process that runs programs in a target's environment. A crash or a hang is an answer, too."""

import json
import os
import selectors
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from casebook.environments import create
from casebook.environments.build import build
from casebook.errors import EnvironmentFailure
from casebook.execution.modules import FOLDERS
from casebook.execution.script import PASSED_ON
from casebook.hunt.targets import Target

INSIDE = Path(__file__).parent / "inside"


@dataclass(frozen=True)
class Verdict:
    """What came of a program. `kind` is empty where both sides agree, "unable" where this machine
    cannot tell; else it names the difference: a crash, a hang, an exception, dtype, numbers …"""

    kind: str
    right: str = ""
    got: str = ""


class Child:
    """Judges programs of a target, in one process after another. A context manager."""

    def __init__(self, name: str, target: Target) -> None:
        self.target = target
        environment = create.make(target.header)
        built = [build(target.header, environment)] if target.build else []
        kept = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
        self.variables = kept | {
            "PATH": f"{environment.root / 'bin'}:/usr/bin:/bin",
            "PYTHONPATH": ":".join(map(str, [*built, INSIDE, *FOLDERS])),
            "PYTHONHASHSEED": "0",
            **dict(target.env),
        }
        side = target.side or name
        self.command: list[str | Path] = [
            environment.python,
            INSIDE / "worker.py",
            side.replace("-", "_"),
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def judge(self, program: str) -> Verdict:
        """Run a program. Raises EnvironmentFailure where the process does not even start."""
        process = self.process = self.process or self.start()
        assert process.stdin
        process.stdin.write(json.dumps(program).encode() + b"\n")
        line = self.line(process, self.target.seconds)
        if line is None:
            self.end()
            return Verdict("hang", got=f"no answer after {self.target.seconds:.0f} s")
        if not line:
            status = process.wait()
            self.process = None
            died = signal.Signals(-status).name if status < 0 else f"exit status {status}"
            return Verdict("crash", got=died)
        verdict = Verdict(**json.loads(line))
        if "CUDA" in verdict.kind:  # an error that a context may keep, for all that follow
            self.end()
        return verdict

    def start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            self.command,
            env=self.variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        if self.line(process, 120) != b"ready\n":
            process.kill()
            raise EnvironmentFailure(
                f"`{' '.join(map(str, self.command))}` did not start: run it to see why"
            )
        return process

    @staticmethod
    def line(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """The next line of a process; empty when it has ended, None when nothing comes in time."""
        assert process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            return process.stdout.readline() if selector.select(seconds) else None

    def end(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

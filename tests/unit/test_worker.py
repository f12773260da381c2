"""What a probe's end says of its release, and what only of the machine."""

import pytest

from casebook.authoring.releases import worker
from casebook.authoring.releases.probe import Probe
from casebook.cells.header import Header
from casebook.errors import EnvironmentFailure

JOB = worker.Job("cpu", "3.12", "numpy==2.4.6", ())
PROBE = Probe("print(1)", Header(">=3.11", ("numpy==2.4.6",)))


@pytest.mark.parametrize(
    ("line", "judged"),
    [
        ("TypeError: no such argument", True),
        ("OSError: [Errno 28] No space left on device: '/cache'", False),
        ("MemoryError", False),
        ("OSError: [Errno 24] Too many open files", False),
    ],
)
def test_a_machine_at_its_limits_judges_no_release(line, judged, monkeypatch):
    monkeypatch.setattr(worker, "make", lambda header: None)
    monkeypatch.setattr(worker, "run", lambda *_: None)
    monkeypatch.setattr(worker, "judge", lambda *_: ("failed differently", line))
    found = worker.run_one(PROBE, JOB)
    assert isinstance(found, worker.Run) == judged
    assert judged or found.startswith("this machine failed")


def test_an_environment_that_a_full_disk_stopped_is_no_result(monkeypatch):
    def full(header):
        raise EnvironmentFailure("numpy==2.4.6 could not be built\nerror: No space left on device")

    monkeypatch.setattr(worker, "make", full)
    assert worker.run_one(PROBE, JOB).startswith("this machine failed")

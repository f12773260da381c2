"""Runs the programs of entries, and stores how they ended."""

import doctest
from collections.abc import Sequence
from dataclasses import asdict

from casebook.chapters import evidence
from casebook.environments import gpu
from casebook.errors import CasebookError, WrongUse
from casebook.execution import script
from casebook.reports.entry import RUNS, Entry, Run, entries, runs

DID_NOT_END = "(it did not end within {} s)\n"


def reports(names: Sequence[str], pin: str) -> int:
    """Run the programs of entries, of all that this machine can run by default, and store how they
    ended. Returns 1 if one ended otherwise than its entry says, and no newer release explains it.

    Raises WrongUse for a name that no entry has.
    """
    known = {entry.name: entry for entry in entries() if entry.program}
    for name in names:
        if name not in known:
            raise WrongUse(f"no entry {name!r}; there are {', '.join(sorted(known))}")
    failed = 0
    for name in names or known:
        entry = known[name]
        if entry.gpu and not gpu.find():
            print(f"{name}: needs a GPU, and this machine has none", flush=True)
            failed += bool(names)
            continue
        try:
            run, printed = run_one(entry, pin)
        except CasebookError as error:
            print(f"{name}: NOT run: {error}", flush=True)
            failed += 1
            continue
        print(f"{name}: {run.outcome}", flush=True)
        if run.outcome == "otherwise":
            print(f"it printed:\n{printed}\nnot:\n{entry.prints}", flush=True)
        failed += run.outcome == "otherwise" or (run.outcome == "right" and not pin)
        store(run)
    return bool(failed)


def run_one(entry: Entry, pin: str = "") -> tuple[Run, str]:
    """Run a program with its pins, or with one of them changed: how it ended, and what it printed.

    Raises CasebookError where it cannot start.
    """
    header = entry.header(pin)
    found = gpu.find() if entry.gpu else None
    outcome = script.run(entry.program, header, lambda text: None)
    printed = outcome.output
    if outcome.status is None:
        printed += DID_NOT_END.format(entry.seconds)
    return (
        Run(
            name=entry.name,
            outcome=judge(entry, printed),
            date=evidence.today(),
            program=entry.digest,
            pin=pin,
            gpu=found.name if found else "",
        ),
        printed,
    )


def judge(entry: Entry, printed: str) -> str:
    """Whether a program printed what the entry says (`stands`) or what is `right`."""
    same, loosely = (
        doctest.OutputChecker().check_output,
        doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )
    if same(entry.prints, printed, loosely):
        return "stands"
    return "right" if same(entry.right, printed, loosely) else "otherwise"


def store(run: Run) -> None:
    """Put a run in the place of the last one of the same program with the same pin."""
    kept = [one for one in runs() if (one.name, one.pin) != (run.name, run.pin)]
    tables = [{k: v for k, v in asdict(one).items() if v} for one in [*kept, run]]
    evidence.write(RUNS, sorted(tables, key=lambda one: (one["name"], one.get("pin", ""))))

"""`casebook hunt`: rounds of a search at once, continued where it was interrupted."""

import concurrent.futures
import json
import os
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from casebook.cells.hashes import digest
from casebook.cells.repository import HUNTS, ROOT
from casebook.chapters import evidence
from casebook.environments import create, gpu
from casebook.environments.store import cache
from casebook.errors import WrongUse
from casebook.hunt import report, targets
from casebook.hunt.child import Verdict
from casebook.hunt.search import Difference, Round, search

ROUND = 250  # programs


@dataclass
class State:
    """All rounds of a target with certain pins, and of its programs as they are today."""

    file: Path
    rounds: int = 0
    seconds: float = 0.0
    found: list[Difference] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    covered: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, name: str, target: targets.Target) -> "State":
        """The state that an earlier run has left, or a new one."""
        files = sorted(Path(__file__).parent.rglob("*.*"))
        texts = [file.read_text() for file in files if file.suffix in (".py", ".yml")]
        key = digest("\n".join([*target.dependencies, *texts]))
        state = cls(cache() / "hunt" / f"{name}-{key}" / "state.json")
        if state.file.exists():
            stored = json.loads(state.file.read_text())
            for one in stored.pop("found"):
                state.found.append(Difference(one["program"], Verdict(**one["verdict"])))
            for name, value in stored.items():
                setattr(state, name, Counter(value) if isinstance(value, dict) else value)
        return state

    def add(self, done: Round, seconds: float) -> list[Difference]:
        """Add a round, store everything, and return what is new."""
        self.rounds += 1
        self.seconds += seconds
        self.outcomes += done.outcomes
        self.covered.update({" ".join(pair): n for pair, n in done.covered.items()})
        new = [
            d for d in done.found if not any(k.explains(d.program, d.verdict) for k in self.found)
        ]
        self.found += new
        stored = vars(self) | {"found": [asdict(each) for each in self.found]}
        del stored["file"]
        self.file.parent.mkdir(parents=True, exist_ok=True)
        partial = self.file.with_suffix(".partial")
        partial.write_text(json.dumps(stored, indent=1))
        partial.replace(self.file)
        return new


def hunt(names: list[str], examples: int | None, pins: list[str], folder: Path | None) -> int:
    """Run the programs of targets, of all that this machine can run by default; print the
    differences, and write a file for each to a folder of the target's name. Returns 1 for any.

    Raises WrongUse where a target needs a GPU and there is none.
    """
    able = (name for name in targets.NAMES if gpu.find() or not targets.load(name).gpu)
    return max(hunt_one(name, examples, pins, folder) for name in names or able)


def hunt_one(name: str, examples: int | None, pins: list[str], folder: Path | None) -> int:
    target = targets.load(name).pinned(pins)
    if target.gpu and not gpu.find():
        raise WrongUse(f"{name} needs an NVIDIA GPU, and this machine has none")
    create.make(target.header, print)
    state = State.of(name, target)
    print(f"{name}: {target.about}; {', '.join(dict.fromkeys((target.dependencies[0], *pins)))}")
    if state.rounds:
        print(f"continued: {state.rounds} rounds are done; {state.file.parent} keeps them")
    workers = len(os.sched_getaffinity(0))
    wanted = range(state.rounds, -(-(examples or target.examples) // ROUND))
    start = time.monotonic()
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        waiting = set()
        numbers = iter(wanted)
        while True:
            for number in numbers:
                arguments = (name, target.dependencies, number, state.found, state.file.parent)
                waiting.add(pool.submit(one_round, *arguments))
                if len(waiting) == workers:
                    break
            if not waiting:
                break
            ended, waiting = concurrent.futures.wait(
                waiting, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in ended:
                now, start = start, time.monotonic()
                new = state.add(future.result(), start - now)
                print(
                    f"[{state.rounds}/{len(wanted) + wanted.start}] {counts(state.outcomes)}",
                    flush=True,
                )
                for difference in new:
                    print(f"  {difference.verdict.kind}: {difference.program!r}", flush=True)
    report.write(target, state.found, (folder or ROOT / "_build/hunt") / name)
    operations = {pair.split()[0] for pair in state.covered}
    print(
        f"{state.outcomes.total()} programs of {len(operations)} operations, {state.seconds:.0f} s"
    )
    if not pins:
        publish(name, target, state)
    return bool(state.found)


def publish(name: str, target: targets.Target, state: State) -> None:
    """Store what was hunted for the status page, with pins as they are."""
    stored = {hunt["target"]: hunt for hunt in json.loads(HUNTS.read_text("utf-8"))}
    found = gpu.find() if target.gpu else None
    stored[name] = {
        "target": name,
        "library": target.dependencies[0],
        "date": evidence.today(),
        "gpu": found.name if found else "",
        "seconds": round(state.seconds),
        "new": len(state.found),
        "outcomes": dict(sorted(state.outcomes.items())),
        "covered": dict(sorted(state.covered.items())),
    }
    evidence.write(HUNTS, (stored[name] for name in sorted(stored)))


def one_round(
    name: str, pins: tuple[str, ...], number: int, known: list[Difference], store: Path
) -> Round:
    target = targets.load(name).pinned(list(pins))
    return search(name, target, number, ROUND, known, store / "examples")


def counts(outcomes: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in outcomes.most_common())

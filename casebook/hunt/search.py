"""One round of a search: programs from a strategy, each difference shrunk to a small program."""

import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import HypothesisWarning

from casebook.hunt.child import Child, Verdict
from casebook.hunt.targets import Target

DOCUMENTED = Path(__file__).with_name("documented.yml")
OPERATION = re.compile(
    r"(?:\.|\b(?=\w+\())([a-z_]\w*)\b(?!')|(//|\*\*|<<|>>|[<>=!]=|[+*/%&|^~<@[]|-(?!>)|(?<!-)>)"
)
DTYPE = re.compile(r"\b((?:bool|u?int|float|complex)\d*)(?=[' ])")


@dataclass(frozen=True)
class Difference:
    """A program that two sides answer differently, as small as shrinking made it."""

    program: str
    verdict: Verdict

    def explains(self, program: str, verdict: Verdict) -> bool:
        """Whether this difference may be the reason of another: same kind, and its operations."""
        alike = verdict.kind == self.verdict.kind
        case = verdict.kind.startswith("case")
        return alike and (case or operations(self.program) <= operations(program))


@dataclass
class Round:
    """What a round has done. `covered` counts programs for each operation and dtype."""

    found: list[Difference] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    covered: Counter[tuple[str, str]] = field(default_factory=Counter)


def operations(program: str) -> set[str]:
    """Functions, methods and operators in the last line of a program and in its lambdas."""
    lines = program.splitlines()
    counted = "\n".join([*(line for line in lines[:-1] if "lambda" in line), lines[-1]])
    return {match[1] or match[2] for match in OPERATION.finditer(counted)}


def documented(name: str, program: str, verdict: Verdict) -> str:
    """Why a difference is no fault; empty if nothing is known."""
    for rule in yaml.safe_load(DOCUMENTED.read_text("utf-8"))[name] or []:
        texts = {"program": program, "kind": verdict.kind, "right": verdict.right,
                 "got": verdict.got}  # fmt: skip
        if all(re.search(rule[key], text) for key, text in texts.items() if key in rule):
            return str(rule["why"])
    return ""


class Differs(Exception):
    """Raised for Hypothesis, which shrinks each class of exceptions by itself."""


def search(
    name: str, target: Target, number: int, examples: int, known: list[Difference], store: Path
) -> Round:
    """Run about `examples` programs; `number` chooses them. At most one difference of each kind is
    found, and none that `known` explains. `store` keeps Hypothesis's examples."""
    done = Round()
    small: dict[str, Difference] = {}
    classes: dict[str, type[Exception]] = {}
    with Child(name, target) as child:

        @seed(number)
        @settings(
            max_examples=examples,
            database=DirectoryBasedExampleDatabase(store),
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=True,
        )
        @given(target.programs)
        def one(program: str) -> None:
            verdict = child.judge(program)
            why = verdict.kind
            if why not in ("", "unable"):
                if documented(name, program, verdict):
                    why = "documented"
                elif any(each.explains(program, verdict) for each in known):
                    why = "known"
            done.outcomes[why or "same"] += 1
            pairs = {(o, d) for o in operations(program) for d in DTYPE.findall(program)}
            done.covered.update(pairs if why != "unable" else ())
            if why == "hang":  # not shrunk, since each look takes the whole limit
                small.setdefault(why, Difference(program, verdict))
            elif why == verdict.kind and why not in ("", "unable"):
                small[why] = Difference(program, verdict)  # the last one is the smallest
                raise classes.setdefault(why, type("Differs", (Differs,), {}))(why)

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", HypothesisWarning)  # of long reprs
                one()
        except* Differs:
            pass  # `small` has them
    done.found = list(small.values())
    return done

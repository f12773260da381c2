"""What is hunted: an environment, and a strategy that writes programs for it."""

import re
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from casebook.cells.header import Header
from casebook.errors import WrongUse


@dataclass(frozen=True)
class Target:
    """Programs for one library. A module in inside/, of the same name unless `side` names it, runs
    and compares them."""

    about: str
    dependencies: tuple[str, ...]  # pins of its environment, the library first
    programs: SearchStrategy[str]
    frame: str  # of the file that reports a program
    gpu: bool = False
    examples: int = 20_000
    seconds: float = 20.0  # for one program
    env: tuple[tuple[str, str], ...] = ()
    build: str | None = None  # a folder, such as native
    side: str = ""
    python: str = ">=3.11,<3.14"

    @property
    def header(self) -> Header:
        return Header(
            self.python, self.dependencies, gpu=self.gpu, env=dict(self.env), build=self.build
        )

    def pinned(self, pins: list[str]) -> "Target":
        """The same with other pins: "cupy-cuda12x==13.4.1" takes the place of that package's."""
        chosen = {name(pin): pin for pin in [*self.dependencies, *pins]}
        return replace(self, dependencies=tuple(chosen.values()))


def name(pin: str) -> str:
    return re.split(r"[\[=]", pin)[0]


NAMES = sorted(
    path.stem.replace("_", "-")
    for path in Path(__file__).parent.glob("[a-z]*.py")
    if path.stem not in ("arrays",)
)


def load(name: str) -> Target:
    """The target of this name. Raises WrongUse."""
    if name not in NAMES:
        raise WrongUse(f"no target {name!r}; there are {', '.join(NAMES)}")
    target: Target = import_module(f".{name.replace('-', '_')}", __package__).TARGET
    return target

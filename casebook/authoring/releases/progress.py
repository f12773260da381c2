"""How far a long piece of work is: a bar on a terminal, elsewhere a line for each result."""

import sys
import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType

WIDTH = 24
MISSING = "missing"


class Progress:
    """Counts results and their seconds.

    The end says which outcomes are new, and which results did not come: `lost`, (name, why).
    """

    def __init__(self) -> None:
        self.new: list[tuple[str, str, str]] = []
        self.lost: list[tuple[str, str]] = []
        self.begin("", 0)

    def __enter__(self) -> "Progress":
        return self

    def begin(self, what: str, total: int) -> None:
        """Start to count `total` results of another kind of work."""
        self.what, self.total, self.start = what, total, time.monotonic()
        self.counts: Counter[str] = Counter()
        self.took: Counter[str] = Counter()

    def count(
        self,
        name: str,
        outcome: str,
        line: str = "",
        before: str | None = None,
        took: Mapping[str, float] | None = None,
    ) -> None:
        """Count and show a result. `before`: the outcome to compare with; `took`: seconds of parts.

        For a MISSING one the line says why.
        """
        self.counts[outcome] += 1
        self.took.update(took or {})
        if outcome == MISSING:
            self.lost.append((name, line))
        elif before not in (None, outcome):
            self.new.append((name, outcome, str(before)))
        number = self.counts.total()
        if sys.stdout.isatty():
            bar = "#" * (WIDTH * number // self.total)
            counts = " · ".join(f"{n} {kind}" for kind, n in sorted(self.counts.items()))
            end = "\n" if number == self.total else ""
            shown = f"\r{self.what} [{bar:{WIDTH}}] {number}/{self.total}  {counts}\033[K"
            print(shown, end=end, flush=True)
        else:
            times = f"  ({parts(took)})" if took else ""
            print(f"[{number}/{self.total}] {name}: {outcome}{times}  {line}".rstrip(), flush=True)

    def __exit__(
        self, error: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> bool:
        done = self.counts.total()
        if error is KeyboardInterrupt:
            self.lost.append(("the rest", f"interrupted at {done} of {self.total}"))
        if self.took:
            seconds = time.monotonic() - self.start
            print(f"{self.what}: {done} in {seconds:.0f} s; all together: {parts(self.took)}")
        for name, outcome, before in self.new:
            print(f"new: {name}: {outcome}, before: {before}")
        for name, why in self.lost:
            print(f"{MISSING}: {name}: {why}")
        return error is KeyboardInterrupt


def parts(seconds: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())

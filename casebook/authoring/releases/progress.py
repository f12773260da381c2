"""Progress of a long run: a line for each result, and at the end what to look at."""

from types import TracebackType


class Progress:
    """Counts and shows results. `lost` are those that did not come, by name, with the reason."""

    def __init__(self) -> None:
        self.new: list[str] = []
        self.lost: dict[str, str] = {}
        self.begin(0)

    def __enter__(self) -> "Progress":
        return self

    def begin(self, total: int) -> None:
        """Start to count `total` results of another kind of work."""
        self.done, self.total = 0, total

    def show(self, name: str, outcome: str, line: str = "", before: str | None = None) -> None:
        """Count and show a result. `before` is the outcome that it is compared with."""
        self.done += 1
        print(f"[{self.done}/{self.total}] {name}: {outcome}  {line}".rstrip(), flush=True)
        if before not in (None, outcome):
            self.new.append(f"{name}: {outcome}, before: {before}")

    def fail(self, name: str, why: str) -> None:
        """Count and show a result that did not come."""
        self.lost[name] = why
        self.show(name, "missing", why)

    def __exit__(
        self, error: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> bool:
        interrupted = error is KeyboardInterrupt
        if interrupted:
            self.lost["the rest"] = f"interrupted at {self.done} of {self.total}"
        for line in self.new:
            print(f"new: {line}")
        for name, why in self.lost.items():
            print(f"missing: {name}: {why}")
        return interrupted

"""How far a long piece of work is: a bar with counts by outcome on a terminal, a line for each result elsewhere."""

import collections
import sys
import time

WIDTH = 24


class Progress:
    """Counts results and their seconds. The end says which outcomes are new, and which results did not come: `lost`, (name, why)."""

    def __init__(self):
        self.new, self.lost, self.terminal = [], [], sys.stdout.isatty()
        self.begin("", 0)

    def __enter__(self):
        return self

    def begin(self, what, total):
        self.what, self.total, self.counts = what, total, collections.Counter()
        self.start, self.took = time.monotonic(), collections.Counter()

    def count(self, name, answer, before=None, took=()):
        """Count and show one result. `before` is the outcome that it is compared with, `took` the seconds of its parts."""
        lost = "trouble" in answer
        kind = (
            "missing"
            if lost
            else answer.get("outcome")
            or ("cannot be installed" if "cannot" in answer else "resolved")
        )
        self.counts[kind] += 1
        if lost:
            self.lost.append((name, answer["trouble"]))
        elif before not in (None, kind):
            self.new.append((name, kind, before))
        self.took.update(took)
        self.show(
            "  ".join(
                filter(
                    None,
                    [f"{name}: {kind}", f"({parts(took)})" if took else "", answer.get("line")],
                )
            )
        )

    def show(self, line):
        number = self.counts.total()
        if self.terminal:
            bar = "#" * (WIDTH * number // self.total)
            counts = " · ".join(f"{n} {kind}" for kind, n in sorted(self.counts.items()))
            end = "\n" if number == self.total else ""
            print(
                f"\r{self.what} [{bar:{WIDTH}}] {number}/{self.total}  {counts}\033[K",
                end=end,
                flush=True,
            )
        else:
            print(f"[{number}/{self.total}] {line}", flush=True)

    def __exit__(self, error, *_):
        if error is KeyboardInterrupt:
            self.lost.append(("the rest", f"interrupted at {self.counts.total()} of {self.total}"))
        if self.took:
            print(
                f"{self.what}: {self.counts.total()} in {time.monotonic() - self.start:.0f} s; all together: {parts(self.took)}"
            )
        for name, kind, before in self.new:
            print(f"new: {name}: {kind}, before: {before}")
        for name, why in self.lost:
            print(f"missing: {name}: {why}")
        return error is KeyboardInterrupt


def parts(seconds):
    return ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())

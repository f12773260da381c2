"""How far a long piece of work is: a bar with counts by outcome on a terminal, a line for each result elsewhere."""
import collections
import sys

WIDTH = 24


class Progress:
    """Counts results; `lost` keeps (name, why) of those that did not come, and the end says which these are."""

    def __init__(self):
        self.lost, self.terminal = [], sys.stdout.isatty()

    def __enter__(self):
        return self

    def begin(self, what, total):
        self.what, self.total, self.counts = what, total, collections.Counter()

    def count(self, name, answer):
        """Count and show one result."""
        lost = "trouble" in answer
        kind = "missing" if lost else answer.get("outcome") or ("cannot be installed" if "cannot" in answer else "resolved")
        self.counts[kind] += 1
        if lost:
            self.lost.append((name, answer["trouble"]))
        self.show(f"{name}: {kind}  {answer.get('line', '')}".rstrip())

    def show(self, line):
        number = self.counts.total()
        if self.terminal:
            bar = "#" * (WIDTH * number // self.total)
            counts = " · ".join(f"{n} {kind}" for kind, n in sorted(self.counts.items()))
            end = "\n" if number == self.total else ""
            print(f"\r{self.what} [{bar:{WIDTH}}] {number}/{self.total}  {counts}\033[K", end=end, flush=True)
        else:
            print(f"[{number}/{self.total}] {line}", flush=True)

    def __exit__(self, *_):
        for name, why in self.lost:
            print(f"missing: {name}: {why}")

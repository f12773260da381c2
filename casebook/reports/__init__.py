"""The bugs of *Found here*: what is wrong, and a short program that shows it."""

from casebook.reports.entry import Entry, Run, entries, runs

__all__ = ["Entry", "Run", "entries", "runs"]

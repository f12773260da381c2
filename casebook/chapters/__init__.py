"""What a chapter is: its cells, facts, receipt, rows and exercises.

Data and its rules, no commands. The site is made from this package and imports nothing above it.
"""

from casebook.chapters.chapter import (
    CLAIMS,
    KERNEL,
    MACHINE_PATH,
    Cell,
    Chapter,
    at,
    distinct,
    load,
)

__all__ = ["CLAIMS", "KERNEL", "MACHINE_PATH", "Cell", "Chapter", "at", "distinct", "load"]

"""A script's output as the reader sees it: the same on every machine, and never too long."""

import collections
import re
import tempfile
from collections.abc import Callable, Iterable
from os.path import expanduser
from pathlib import Path

HEAD, TAIL = 200, 40  # lines that are shown of a very long output
WIDTH = 2000  # characters that are shown of a very long line, its end not counted

NOISE = [
    (re.compile("\x00"), ""),  # the end of a C string
    (re.compile(r"0x[0-9a-f]{9,16}\b"), "0x…"),  # addresses
    (re.compile(r"\$\d+[a-z_]\w*(?:\.\d+)*"), "$…"),  # Numba's numbered temporaries: $14call.5
    (re.compile(r"/tmp/(?:tmp|cuda_)\w+"), "/tmp/…"),
    (re.compile(r"\. Did you mean: '_\w+'\?"), ""),  # private names, which 3.11 does not suggest
    (re.compile(r'("<frozen [\w.]+>"), line \d+'), r"\1"),  # lines of Python's own modules
]


class Normalizer:
    """Removes from a line what differs between machines: paths, addresses, numbered temporaries.

    folder: of the run, with the script's in cell/; root, site: of the environment; prefixes: of the
    Python behind it, in each spelling that a path may have.
    """

    def __init__(self, folder: Path, root: Path, site: Path, prefixes: Iterable[Path]) -> None:
        # cells may share a folder, which is linked then
        cell = "|".join(map(pattern_of, {folder / "cell", (folder / "cell").resolve()}))
        python = "|".join(re.escape(str(prefix)) for prefix in prefixes)
        places = [
            (f"(?:{cell})/", ""),
            (cell, "."),
            (pattern_of(folder), "<run>"),
            (pattern_of(site) + "/", ""),
            (pattern_of(root), "<environment>"),
            (rf"(?:{python})/lib/python3\.\d+/", ""),
            (pattern_of(tempfile.gettempdir()), "/tmp"),
            (pattern_of(expanduser("~")), "~"),
        ]
        self.patterns = [(re.compile(pattern), short) for pattern, short in places] + NOISE

    def __call__(self, line: str) -> str:
        for pattern, short in self.patterns:
            line = pattern.sub(short, line)
        return line


def pattern_of(folder: Path | str) -> str:
    """Pattern of a folder's path: not of a longer name that begins so, nor of the root folder."""
    return rf"{re.escape(str(folder))}(?![\w-])" if len(str(folder)) > 1 else r"(?!)"


class TruncatedOutput:
    """Emits the head of an output at once, and its tail at the end."""

    def __init__(self, emit: Callable[[str], object]) -> None:
        self.emit = emit
        self.lines = 0
        self.cut = False
        self.tail: collections.deque[str] = collections.deque(maxlen=TAIL)

    def add(self, line: str) -> None:
        self.lines += 1
        if len(line) > WIDTH + 1:
            line = f"{line[:WIDTH]} … {len(line) - WIDTH - 1:,} more characters\n"
            self.cut = True
        if self.lines <= HEAD:
            self.emit(line)
        else:
            self.tail.append(line)

    def finish(self) -> bool:
        """Emit the tail; True if something was left out."""
        left_out = self.lines - HEAD - len(self.tail)
        if left_out > 0:
            self.emit(f"… {left_out:,} lines left out …\n")
        for line in self.tail:
            self.emit(line)
        return left_out > 0 or self.cut

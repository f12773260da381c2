"""A script's output as the reader sees it: the same on every machine, and never too long."""

import collections
import re
import tempfile
from pathlib import Path

HEAD, TAIL = 200, 40  # lines that are shown of a very long output
WIDTH = 2000  # characters that are shown of a very long line, its end not counted

MASKS = [
    (re.compile("\x00"), ""),  # the end of a C string
    (re.compile(r"0x[0-9a-f]{9,16}\b"), "0x…"),  # addresses
    (re.compile(r"\$\d+[a-z_]\w*(?:\.\d+)*"), "$…"),  # Numba's numbered temporaries: $14call.5
    (re.compile(r"/tmp/(?:tmp|cuda_)\w+"), "/tmp/…"),
]


class Normalizer:
    """Takes out of a line what differs between machines: paths, addresses, numbered temporaries."""

    def __init__(self, environment, folder):
        python = [
            rf"{re.escape(str(base))}/lib/python3\.\d+/"
            for base in (environment.base, environment.base.resolve())
        ]
        cell = "|".join(
            pattern_of(place) for place in (folder / "cell", (folder / "cell").resolve())
        )  # cells may share a folder
        places = [
            (f"(?:{cell})/", ""),
            (cell, "."),
            (pattern_of(folder), "<run>"),
            (pattern_of(environment.site) + "/", ""),
            (pattern_of(environment.root), "<environment>"),
            ("|".join(python), ""),
            (pattern_of(tempfile.gettempdir()), "/tmp"),
            (pattern_of(Path.home()), "~"),
        ]
        self.masks = [(re.compile(pattern), short) for pattern, short in places] + MASKS

    def __call__(self, line):
        for pattern, short in self.masks:
            line = pattern.sub(short, line)
        return line


def pattern_of(folder):
    """Pattern of a folder's path: not of a longer name that begins with it, nor of the root folder."""
    return rf"{re.escape(str(folder))}(?![\w-])" if len(str(folder)) > 1 else r"(?!)"


class TruncatedOutput:
    """Passes the head of an output on at once, keeps its tail for the end, and all of it in the file `kept` if it is long.

    `path` is where it is written meanwhile: two runs of one cell have the same `kept`.
    """

    def __init__(self, emit, path, kept):
        self.emit, self.path, self.kept = emit, path, kept
        self.lines = self.size = 0
        self.tail = collections.deque(maxlen=TAIL)
        self.cut = False
        self.file = path.open("w", encoding="utf-8")

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        self.file.close()
        if not error:
            self.close()

    def add(self, line):
        self.file.write(line)
        self.lines += 1
        self.size += len(line.encode())
        if len(line) > WIDTH + 1:
            line = f"{line[:WIDTH]} … {len(line) - WIDTH - 1:,} more characters\n"
            self.cut = True
        if self.lines <= HEAD:
            self.emit(line)
        else:
            self.tail.append(line)

    def close(self):
        """Shows the tail, and keeps the file where something was left out."""
        left_out = self.lines - HEAD - len(self.tail)
        if left_out > 0:
            self.emit(f"… {left_out:,} lines left out …\n")
        for line in self.tail:
            self.emit(line)
        if left_out > 0 or self.cut:
            self.kept.parent.mkdir(parents=True, exist_ok=True)
            self.path.replace(self.kept)
            short = re.sub(pattern_of(Path.home()), "~", str(self.kept))
            self.emit(f"… the whole output, {self.size / 1e6:.1f} MB: {short}\n")

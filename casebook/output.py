"""A script's output as the reader sees it: the same on every machine, and never too long."""
import collections
import re
from pathlib import Path

HEAD, TAIL = 200, 40      # lines that are shown of a very long output
WIDTH = 2000              # characters that are shown of a very long line

MASKS = [
    (re.compile(r"\b0x[0-9a-f]{9,16}\b"), "0x…"),                       # addresses
    (re.compile(r"\$\d+[a-z_]\w*(?:\.\d+)*"), "$…"),                    # Numba's numbered temporaries: $14call.5
    (re.compile(r"/tmp/(?:tmp|cuda_)\w+"), "/tmp/…"),
]


class Masks:
    """Takes out of a line what differs between machines: paths, addresses, numbered temporaries."""

    def __init__(self, environment, folder):
        self.prefixes = [(f"{folder}/", ""), (str(folder), "."), (f"{environment.site}/", ""), (str(environment.root), "<environment>"),
                         (str(environment.base / "lib"), "<python>"), (str(Path.home()), "~")]

    def __call__(self, line):
        for prefix, short in self.prefixes:
            line = line.replace(prefix, short)
        line = re.sub(r"<python>/python3\.\d+/", "", line)
        for pattern, short in MASKS:
            line = pattern.sub(short, line)
        return line


class Digest:
    """Passes the head of an output on at once, keeps its tail for the end, and all of it in a file if it is long."""

    def __init__(self, emit, path):
        self.emit, self.path = emit, path
        self.lines = self.size = 0
        self.tail = collections.deque(maxlen=TAIL)
        self.cut = False
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("w", encoding="utf-8")

    def add(self, line):
        self.file.write(line)
        self.lines += 1
        self.size += len(line.encode())
        if len(line) > WIDTH:
            line = f"{line[:WIDTH]} … {len(line) - WIDTH:,} more characters\n"
            self.cut = True
        if self.lines <= HEAD:
            self.emit(line)
        else:
            self.tail.append(line)

    def close(self):
        """Shows the tail. The file stays only where something was left out."""
        self.file.close()
        left_out = self.lines - HEAD - len(self.tail)
        if left_out > 0:
            self.emit(f"… {left_out:,} lines left out …\n")
        for line in self.tail:
            self.emit(line)
        if left_out > 0 or self.cut:
            short = str(self.path).replace(str(Path.home()), "~")
            self.emit(f"… the whole output, {self.size / 1e6:.1f} MB: {short}\n")
        else:
            self.path.unlink()

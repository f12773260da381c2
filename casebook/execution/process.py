"""One process, followed to its end: its output line by line, and a time limit."""

import codecs
import contextlib
import functools
import itertools
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from casebook.environments.guard import guarded_group

LONGEST = 1_000_000  # characters that are kept of a line


def follow(
    command: Sequence[str | Path],
    folder: Path,
    variables: dict[str, str],
    seconds: float,
    normalize: Callable[[str], str],
    add: Callable[[str], object],
) -> tuple[int | None, int]:
    """Run a command to its end or its time limit, and `add` its normalized output line by line.

    Returns (status, process id); the status is None after a time-out. Whatever ends this function,
    a kill of this process included, ends the process group of the child. What has left that group
    is ended with the child if it has `variables`; only a kill of this process leaves it alone.
    """
    mark = f"CASEBOOK_REPORTS={variables['CASEBOOK_REPORTS']}"
    with (
        guarded_group() as group,
        subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=group,
        ) as process,
    ):
        end = functools.partial(end_descendants, group, mark)
        try:
            for line in lines(pieces(process, end, time.monotonic() + seconds)):
                add(normalize(line) + "\n")
            return process.poll(), process.pid
        finally:
            end()


def end_descendants(group: int, variable: str) -> None:
    """Kill a process group, and all processes with this environment variable, NAME=value."""
    os.killpg(group, signal.SIGKILL)
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # another user's, or ended meanwhile
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


def lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """The lines of a text that comes in pieces of bytes; what is not UTF-8 becomes U+FFFD.

    Of a line longer than LONGEST the rest is dropped as it comes, and counted.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    kept: list[str] = []
    length = 0
    for piece in itertools.chain(pieces, [b""]):
        parts = decoder.decode(piece, final=not piece).split("\n")
        for number, part in enumerate(parts):
            if number:
                yield _line(kept, length)
                kept, length = [], 0
            kept.append(part[: max(0, LONGEST - length)])
            length += len(part)
    if length:
        yield _line(kept, length)


def _line(kept: list[str], length: int) -> str:
    more = f" … {length - LONGEST:,} more characters were not kept" if length > LONGEST else ""
    return "".join(kept) + more


def pieces(
    process: subprocess.Popen[bytes], end: Callable[[], None], deadline: float
) -> Iterator[bytes]:
    """The process's output as it comes, until the deadline or its own end; then calls `end`."""
    assert process.stdout
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            ended = process.poll() is not None
            if ended:
                end()
            ready = selector.select(0 if ended else min(left, 0.05))
            piece = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            if piece:
                yield piece
            elif ended:
                return
            elif ready:  # the output is closed, the process still runs
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0, deadline - time.monotonic()))

"""One process, followed to its end: its output line by line, a time limit, and no descendant that outlives the caller."""

import codecs
import contextlib
import os
import selectors
import signal
import subprocess
import time


def follow(command, folder, variables, seconds, mask, add):
    """Run a command to its end or its time limit; hand its masked output on line by line. Returns (status, process id).

    Whatever ends this function, an interrupt or a kill of this process included, ends the child and all its children.
    """
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
        try:
            for line in lines(pieces(process, group, time.monotonic() + seconds)):
                add(mask(line) + "\n")
            return process.poll(), process.pid
        finally:
            os.killpg(group, signal.SIGKILL)


def lines(pieces):
    """The lines of a text that comes in pieces of bytes; what is not UTF-8 becomes U+FFFD."""
    decoder, rest = codecs.getincrementaldecoder("utf-8")("replace"), []
    for piece in pieces:
        first, *others = decoder.decode(piece).split("\n")
        rest.append(first)
        for other in others:
            yield "".join(rest)
            rest = [other]
    if last := "".join([*rest, decoder.decode(b"", final=True)]):
        yield last


def pieces(process, group, deadline):
    """The process's output as it comes, until it has ended or the deadline has passed. Its children end when it does."""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            ended = process.poll() is not None
            if ended:
                os.killpg(group, signal.SIGKILL)
            ready = selector.select(0 if ended else min(left, 0.05))
            piece = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            if piece:
                yield piece
            elif ended:
                return
            elif ready:  # the output is closed, the process still runs
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0, deadline - time.monotonic()))


@contextlib.contextmanager
def guarded_group():
    """A process group that never outlives this process, nor the with-block.

    Its leader is a shell that waits on a pipe which only we hold open: when we are gone, killed or not, it kills the group.
    """
    guard = subprocess.Popen(
        ["/bin/sh", "-c", "trap '' HUP INT QUIT TERM; read line; kill -KILL 0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        yield guard.pid
    finally:
        os.killpg(guard.pid, signal.SIGKILL)
        guard.wait()
        guard.stdin.close()

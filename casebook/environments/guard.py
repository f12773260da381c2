"""A process group that ends with this process, however that ends."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator


@contextlib.contextmanager
def guarded_group() -> Iterator[int]:
    """A process group that never outlives this process, nor the with-block.

    Its leader is a shell that waits on a pipe which only this process holds open. When this process
    is gone, killed or not, the shell kills the group.
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
        guard.stdin.close()  # type: ignore[union-attr]

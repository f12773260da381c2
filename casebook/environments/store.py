"""The folders that keep what casebook makes: one's own, and those that somebody filled for everybody.

Each holds environments/, builds/ and python/. Nothing in them is ever seen half made: it gets its name when it is whole.
"""

import errno
import fcntl
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from casebook.errors import EnvironmentFailure

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR)


def cache():
    """The folder for everything that casebook keeps between runs."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "casebook"
    except RuntimeError:
        raise EnvironmentFailure("no home directory found: set HOME or XDG_CACHE_HOME") from None


def shared():
    """The folders of CASEBOOK_ENVIRONMENTS: they are searched before one's own, and never written."""
    return [
        Path(folder)
        for folder in os.environ.get("CASEBOOK_ENVIRONMENTS", "").split(os.pathsep)
        if folder
    ]


@contextmanager
def writing(folder=None):
    """Turns a disk that is full, or a folder that may not be written, into one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        raise EnvironmentFailure(f"cannot write to {folder or cache()}: {error.strerror}") from None


def make_once(target, fill, report, whole=Path.exists):
    """Folder `target`, filled by `fill(half)` unless it is `whole` already.

    Processes that want the same one wait for the first; one that is killed leaves a half, which the next one removes.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if not whole(target):
        half = target.with_name(f"{target.name}.half")
        with one_at_a_time(target.with_name(f"{target.name}.lock"), report):
            if not whole(target):
                shutil.rmtree(half, ignore_errors=True)
                try:
                    fill(half)
                    shutil.rmtree(target, ignore_errors=True)
                    half.rename(target)
                finally:
                    shutil.rmtree(half, ignore_errors=True)
    return target


@contextmanager
def one_at_a_time(path, report):
    """Hold a lock file."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another one to make the same")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_whole(path, content):
    """Write a file in one step, so that an interrupt leaves the old one. `content`: bytes."""
    half = path.with_name(f".{path.name}.half")
    half.write_bytes(content)
    half.replace(path)


def open_store(folder):
    """A folder for everybody. Raises EnvironmentFailure where it lies in one that other users may not enter."""
    for place in (folder, *(folder / name for name in ("environments", "builds", "python"))):
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o755)
    if closed := closed_to_some(folder):
        raise EnvironmentFailure(f"other users could not read {folder}: {closed} is closed to them")


def open_to_all(folder):
    """Let every user read a folder and what is in it, and run what its owner can run, but not write: whatever the umask was."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod((mode | (0o555 if mode & 0o100 else 0o444)) & ~0o022)


def closed_to_some(path):
    """The first folder on the way to a path, or the path itself, that other users cannot enter or read; None for none."""
    path = path.resolve()
    closed = (
        folder for folder in [*reversed(path.parents), path] if not folder.stat().st_mode & 0o001
    )
    return next(closed, None)

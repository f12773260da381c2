"""The folders that keep what casebook creates: the user's own, and shared ones that are only read.

Each holds environments/, builds/ and python/. A folder gets its name when it is complete.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from casebook.errors import EnvironmentFailure

UNWRITABLE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM),
    *(errno.ENOTDIR, errno.ENOENT, errno.EISDIR),  # a folder that cannot be made, such as in /proc
}


def cache() -> Path:
    """The folder for everything that casebook keeps between runs.

    A relative XDG_CACHE_HOME is ignored, as its specification says. Raises EnvironmentFailure
    where no home directory is known.
    """
    if os.path.isabs(given := os.environ.get("XDG_CACHE_HOME", "")):
        return Path(given) / "casebook"
    with suppress(RuntimeError):
        if os.environ.get("HOME") != "":  # which would stand for the root folder
            return Path.home() / ".cache" / "casebook"
    raise EnvironmentFailure("no home directory found: set HOME or XDG_CACHE_HOME")


def shared_folders() -> list[Path]:
    """The folders of CASEBOOK_ENVIRONMENTS: searched before the user's own, and never written."""
    folders = os.environ.get("CASEBOOK_ENVIRONMENTS", "").split(os.pathsep)
    return [Path(folder) for folder in folders if folder]


@contextmanager
def explain_disk_errors(folder: Path | None = None) -> Iterator[None]:
    """Re-raise disk-full and permission errors as EnvironmentFailure."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        raise EnvironmentFailure(f"cannot write to {folder or cache()}: {error.strerror}") from None


def create_atomically(
    target: Path,
    fill: Callable[[Path], None],
    report: Callable[[str], object],
    complete: Callable[[Path], bool] = Path.exists,
) -> Path:
    """Folder `target`, filled by `fill(partial)` unless it is `complete` already.

    Processes that want the same one wait for the first. What a killed one left is removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if not complete(target):
        partial = target.with_name(f"{target.name}.partial")
        with file_lock(target.with_name(f"{target.name}.lock"), report):
            if not complete(target):
                if partial.exists():
                    report(f"removing {partial.name}, which an interrupted run left")
                    shutil.rmtree(partial, ignore_errors=True)
                try:
                    fill(partial)
                    if target.is_file():
                        target.unlink()
                    shutil.rmtree(target, ignore_errors=True)
                    partial.rename(target)
                finally:
                    shutil.rmtree(partial, ignore_errors=True)
    return target


@contextmanager
def file_lock(path: Path, report: Callable[[str], object]) -> Iterator[None]:
    """Hold a lock file."""
    if path.is_dir():
        raise EnvironmentFailure(f"{path} is a folder and should be a lock file: remove it")
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another process that is creating it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file in one step, so that an interrupt leaves the old one."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(content)
    partial.replace(path)


def create_shared_folder(folder: Path) -> None:
    """Create a folder for all users.

    Raises EnvironmentFailure where it lies in one that other users may not enter.
    """
    for path in (folder, *(folder / name for name in ("environments", "builds", "python"))):
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o755)
    if private := first_private_parent(folder):
        raise EnvironmentFailure(
            f"other users cannot read {folder}: choose another folder, or `chmod a+rx {private}`"
        )


def make_world_readable(folder: Path) -> None:
    """Let all users read a folder and run what its owner can run, but not write."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod((mode | (0o555 if mode & 0o100 else 0o444)) & ~0o022)


def first_private_parent(path: Path) -> Path | None:
    """The first of a path's parents, or the path itself, that other users cannot enter or run."""
    path = path.resolve()
    parts = [*reversed(path.parents), path]
    return next((part for part in parts if not part.stat().st_mode & 0o001), None)

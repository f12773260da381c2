"""Runs the code of others in a kernel of its own, and leaves nothing of it behind.

The kernel has a home, a working folder and a folder for temporary files, which go with it; it sees
few environment variables; and every process that it starts ends with it. Where bubblewrap is
installed, it has no network and no capabilities, can write to nothing else, and sees neither /tmp
nor the folders that are hidden from it. Without bubblewrap it can do whatever the caller can.
"""

import contextlib
import ctypes
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from casebook.cells.repository import ROOT
from casebook.environments.store import cache
from casebook.execution.script import PASSED_ON, driver_folders

MOST = 10_000_000  # characters that one run may print
FOLDERS = ("HOME", "TMPDIR", "XDG_CACHE_HOME")
BUBBLEWRAP = (
    *("bwrap", "--unshare-all", "--die-with-parent", "--new-session"),
    *("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"),
    *("--tmpfs", "/dev/shm", "--tmpfs", "/run"),  # no socket of a service is reached
    *("--cap-drop", "ALL"),  # root could mount / again, and write to it
)
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>


class Stopped(Exception):
    """Why a kernel did not run its cells to the end: `outcome` is "time" or "died"."""

    def __init__(self, outcome: str, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome


class Kernel(AsyncKernelManager):
    """Starts a kernel by a command that the `prefix` begins."""

    prefix: Sequence[str] = ()

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        return [*self.prefix, *super().format_kernel_cmd(extra_arguments)]


class Client(NotebookClient):
    """Runs cells, and kills the kernel of one that prints without end."""

    printed = 0

    @property
    def got_signal(self) -> bool:
        """Whether a signal came, upon which nbclient ends the kernel and reports it dead."""
        return hasattr(self, "_async_cleanup_kernel_future")

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        self.printed += len(msg["content"].get("text", ""))
        if self.printed > MOST:
            self.km.provisioner.process.kill()  # type: ignore[union-attr]
        return super().process_message(msg, cell, cell_index)


def run(sources: Sequence[str], limit: float, hidden: Path) -> list[list[NotebookNode]]:
    """Run cells in a fresh kernel: the outputs of each, errors among them.

    `limit`: seconds for each cell. `hidden`: a folder that the cells must not see. Raises Stopped,
    and KeyboardInterrupt where this process is told to end.
    """
    book = new_notebook(cells=[new_code_cell(source) for source in sources])
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        no_survivors(),
    ):
        (work := Path(home, "work")).mkdir()
        Path(home, "tmp").mkdir()
        kernel = Kernel(transport="ipc", connection_file=f"{home}/kernel.json")
        options = ["--log-level=ERROR"]
        if isolated():
            kernel.prefix = [*BUBBLEWRAP, *without(hidden), "--bind", home, home]
            options.append("--IPKernelApp.parent_handle=1")  # the parent's number means nothing
        client = Client(
            book,
            km=kernel,
            timeout=limit,
            allow_errors=True,
            shutdown_kernel="immediate",
            extra_arguments=options,
            resources={"metadata": {"path": str(work)}},
        )
        try:
            client.execute(env=variables(home), cleanup_kc=True)
        except CellTimeoutError:
            raise Stopped("time", f"still running after {limit} s") from None
        except (RuntimeError, AssertionError):  # the kernel died, maybe before its first cell
            if client.got_signal:
                raise KeyboardInterrupt from None
            much = client.printed > MOST
            why = f"printed more than {MOST:,} characters" if much else "the process ended"
            raise Stopped("died", why) from None
    return [cell.outputs for cell in book.cells]


def without(hidden: Path) -> Iterator[str]:
    """Options that empty /tmp and a folder, but for what a kernel needs of them."""
    folders = [Path("/tmp"), hidden.resolve()]
    for folder in folders:
        yield from ("--tmpfs", str(folder))
    needed = [ROOT, Path(sys.prefix), Path(sys.base_prefix), cache()]
    needed += map(Path, filter(None, os.environ.get("CASEBOOK_ENVIRONMENTS", "").split(os.pathsep)))
    for path in map(Path.resolve, needed):
        if path.exists() and any(path.is_relative_to(folder) for folder in folders):
            yield from ("--ro-bind", str(path), str(path))


@functools.cache
def isolated() -> bool:
    """True where bubblewrap is installed and works; some containers forbid what it needs."""
    return (
        bool(shutil.which("bwrap"))
        and not subprocess.run([*BUBBLEWRAP, "true"], stderr=subprocess.DEVNULL).returncode
    )


def variables(home: str) -> dict[str, str]:
    """The environment variables: an allow-list, and folders below `home`.

    The caller's environments for %%pinned cells are found, and not written.
    """
    names = ({*PASSED_ON, "PATH", "LANG", "CASEBOOK_ENVIRONMENTS"} - {*FOLDERS}) & os.environ.keys()
    chosen = {name: os.environ[name] for name in names}
    shared = filter(None, (chosen.get("CASEBOOK_ENVIRONMENTS"), str(cache())))
    chosen |= {
        "HOME": home,
        "TMPDIR": f"{home}/tmp",
        "PYTHONPATH": str(ROOT),
        "CASEBOOK_ENVIRONMENTS": os.pathsep.join(shared),
    }
    if folders := driver_folders():
        chosen["LD_LIBRARY_PATH"] = os.pathsep.join(folders)
    return chosen


@contextlib.contextmanager
def no_survivors() -> Iterator[None]:
    """End every process that is started in the block, one in a session of its own included.

    Meanwhile this process adopts each descendant whose parent ends, so that none is lost.
    """
    prctl, process = ctypes.CDLL(None).prctl, psutil.Process()
    others = set(process.children())
    prctl(SUBREAPER, 1)
    try:
        yield
    finally:
        while started := [child for child in process.children() if child not in others]:
            for child in started:
                for one in (*child.children(recursive=True), child):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        one.kill()
            psutil.wait_procs(started)
        prctl(SUBREAPER, 0)

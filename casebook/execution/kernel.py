"""Kernels that connect over files."""

import tempfile
import uuid
from typing import Any

from jupyter_client.manager import AsyncKernelManager


def over_files() -> dict[str, str]:
    """Options of a kernel manager, so that it connects over files instead of ports.

    A free port that one manager chooses may be chosen by another one in the same second, as in 19
    of 40 tries with 24 kernels; then a kernel dies or never answers. A kernel on ports also warns
    that it does not encrypt.
    """
    name = f"kernel-{uuid.uuid4().hex[:12]}.json"
    return {"transport": "ipc", "connection_file": f"{tempfile.gettempdir()}/{name}"}


class FileKernelManager(AsyncKernelManager):
    """A kernel manager of nbclient that connects over files."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**over_files(), **options)

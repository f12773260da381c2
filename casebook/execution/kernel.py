"""Kernels that connect over files."""

import tempfile
import uuid
from typing import Any

from jupyter_client.manager import AsyncKernelManager


class FileKernelManager(AsyncKernelManager):
    """A kernel manager that connects over files instead of ports.

    A free port that one manager chooses may be chosen by another one in the same second; then a
    kernel dies or never answers. A kernel on ports also warns that it does not encrypt.
    """

    def __init__(self, **options: Any) -> None:
        file = f"{tempfile.gettempdir()}/kernel-{uuid.uuid4().hex[:12]}.json"
        super().__init__(transport="ipc", connection_file=file, **options)

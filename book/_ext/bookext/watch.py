"""The file that the page on watching a kernel offers: the helper module as it is."""

import shutil
from pathlib import Path

from sphinx.application import Sphinx

from casebook.execution.modules import HELPERS

from . import notebook


def offer(app: Sphinx, out: Path) -> None:
    shutil.copy(HELPERS / "watch.py", out / "_static")


def setup(app: Sphinx) -> None:
    notebook.when_built(app, offer)

"""The tooling of the GPU Python Casebook: cells that run pinned code, chapters that are tested."""

from typing import Any

__version__ = "1.0.0"
__all__ = ["load_ipython_extension"]


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext casebook` calls; a command that needs no IPython does not import it."""
    from casebook.magics import load

    load(ipython)

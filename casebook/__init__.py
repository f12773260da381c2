"""The tooling of the GPU Python Casebook: cells that run pinned code, and chapters whose outputs are proven."""

__version__ = "0.1.0"


def load_ipython_extension(ipython):
    from casebook.magics import load

    load(ipython)

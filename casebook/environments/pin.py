"""`python -m casebook pin`: a cell or script with the dependencies of its header completed."""

import dataclasses
import sys

from packaging.utils import canonicalize_name

from casebook.cells import header
from casebook.cells.notebook import text_of
from casebook.environments import create


def pin(path):
    """Print it: every package that the dependencies need is in the list, with its version."""
    text = sys.stdin.read() if path == "-" else text_of(path)
    head = header.read(text)
    installed = create.sync(head, lambda line: print(line, file=sys.stderr)).installed()
    written = {canonicalize_name(r.name) for r in head.requirements}
    complete = head.dependencies + tuple(
        f"{name}=={version}" for name, version in sorted(installed.items()) if name not in written
    )
    block = header.BLOCK.search(text)
    _, tool, options = block[0].partition("# [tool")
    ours = dataclasses.replace(head, dependencies=complete).script_block().removesuffix("# ///\n")
    print(text[: block.start()] + ours + (tool + options or "# ///") + text[block.end() :], end="")
    return 0

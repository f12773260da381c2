"""`casebook pin`: a cell or script with the dependencies of its header completed."""

import dataclasses
import re
import sys

from packaging.utils import canonicalize_name

from casebook.cells import header
from casebook.cells.notebook import text_of
from casebook.environments import create
from casebook.environments.wheels import missing_wheels


def pin(path: str) -> int:
    """Print it: every package that the dependencies need is in the list, with its version.

    Status 1 where a pin has no wheel for a Python that requires-python promises.
    """
    text = sys.stdin.read() if path == "-" else text_of(path)
    head = header.read(text)
    installed = create.sync(head, lambda line: print(line, file=sys.stderr)).installed()
    written = {canonicalize_name(r.name) for r in head.requirements}
    complete = head.dependencies + tuple(
        f"{name}=={version}" for name, version in sorted(installed.items()) if name not in written
    )
    head = dataclasses.replace(head, dependencies=complete)

    def completed(block: re.Match[str]) -> str:
        _, tool, options = block[0].partition("# [tool")
        return head.script_block().removesuffix("# ///\n") + (tool + options or "# ///")

    print(header.BLOCK.sub(completed, text, count=1), end="")
    problems = list(missing_wheels(head))
    print("\n".join(problems), file=sys.stderr)
    return bool(problems)

"""The %%environments cell of a notebook: the environments of its cells, by name, in TOML.

    %%environments
    # The environments of this notebook, with every package pinned.
    ["numba-cuda-0.7.0"]
    requires-python = ">=3.11,<3.14"
    dependencies = ["numba-cuda==0.7.0", "numba==0.61.2", …]
    cuda-home = true
    env = { NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS = "0" }

A name with dots needs its quotes: TOML reads [a.b] as a table within a table.
"""

import functools
import json
import re
import tomllib

from casebook.cells.header import Header, from_table, literal
from casebook.errors import HeaderError

MAGIC = "%%environments"
KEYS = {"requires-python", "dependencies", "cuda-home", "build", "env"}
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*", re.ASCII)


@functools.cache
def read(text: str) -> dict[str, Header]:
    """Environments by name, from what is below the magic.

    Raises HeaderError, a sentence that says what to fix.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise HeaderError(f"{MAGIC}: not valid TOML: {error}") from None
    return {name: _environment(name, table) for name, table in tables.items()}


def _environment(name: str, table: object) -> Header:
    if not isinstance(table, dict):
        raise HeaderError(f'{MAGIC}: {name} stands in no table; begin with a line ["NAME"]')
    if table and all(isinstance(value, dict) for value in table.values()):
        raise HeaderError(
            f'{MAGIC}: [{name}.…] needs quotes: write ["{name}.…"], since TOML splits names at dots'
        )
    if not NAME.fullmatch(name):
        raise HeaderError(f"{MAGIC}: {name!r} is no name: use letters, digits and . _ + -")
    return from_table(table, f"the environment {name}", KEYS)


def written(environments: dict[str, Header]) -> str:
    """The text of a cell that names these environments."""
    tables = "\n\n".join(f"[{json.dumps(n)}]\n{_lines(h)}" for n, h in environments.items())
    comment = (
        "# The environments of this notebook, with every package pinned. "
        "`%%pinned NAME` runs a cell in one."
    )
    return f"{MAGIC}\n{comment}\n{tables}"


def _lines(head: Header, width: int = 88) -> str:
    lines = [f"requires-python = {json.dumps(head.requires_python)}"]
    pins = [json.dumps(pin) + "," for pin in head.dependencies]
    rows: list[str] = []
    for pin in pins:
        if rows and len(rows[-1]) + 1 + len(pin) <= width:
            rows[-1] += f" {pin}"
        else:
            rows.append(f"    {pin}")
    lines += ["dependencies = [", *rows, "]"] if rows else ["dependencies = []"]
    if head.cuda_home:
        lines.append("cuda-home = true")
    if head.build:
        lines.append(f"build = {json.dumps(head.build)}")
    if head.env:
        lines.append(f"env = {literal(head.env)}")
    return "\n".join(lines)

"""The first line of a %%pinned cell: where the cell runs, and how it must end.

    %%pinned numba-cuda-0.7.0 --gpu --raises TypeError --match "Signature mismatch"

IPython, the site, the checks, export and grading all read the line here.
"""

import argparse
import dataclasses
import difflib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from casebook.cells import header as headers
from casebook.cells.header import Header
from casebook.errors import HeaderError

MAGIC = "%%pinned"
INTRODUCTION = "Run the cell as a script of its own, and check how it ends."
ENDING = (
    "The environments are named in the cell that begins with %%environments. "
    "A cell that names none brings its own header: a '# /// script' block (PEP 723)."
)


@dataclass(frozen=True)
class Line:
    """What one line says: `options` are keyword arguments of Header."""

    name: str | None = None
    out: str | None = None
    folder: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise HeaderError(f"{self.prog}: {message}; {self.prog}? lists the options")


class _Once(argparse.Action):
    """Stores an option's value, and refuses a second one."""

    def __call__(self, parser: Any, given: Any, value: Any, option: str | None = None) -> None:
        if getattr(given, self.dest) is not None:
            parser.error(f"{option} is given twice")
        setattr(given, self.dest, value)


def seconds(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(MAGIC, None, INTRODUCTION, ENDING, add_help=False, allow_abbrev=False)
    parser.register("action", None, _Once)
    add = parser.add_argument
    add("name", nargs="?", metavar="ENVIRONMENT", help="the environment to run in")
    add("--gpu", action="store_true", help="needs a GPU; skipped without one")
    add("--gpus", type=int, metavar="N", help="needs N GPUs")
    add("--driver", metavar="RANGE", help="needs a GPU driver in this range, such as '>=580'")
    add("--raises", metavar="TYPE", help="must end with an exception of this type")
    add("--match", metavar="PATTERN", help="whose message matches this regular expression")
    add("--signal", metavar="NAME", help="must be killed by this signal, such as SIGSEGV")
    add("--timeout", type=seconds, metavar="SECONDS", help="time limit (120)")
    add("--timeout-expected", action="store_true", help="must still be running then")
    add("--env", action="append", metavar="NAME=VALUE", help="set an environment variable")
    add("--out", metavar="NAME", help="store the output in this variable of the notebook")
    add("--folder", metavar="NAME", help="share the working folder with cells of the same name")
    return parser


PARSER = _parser()
HELP = PARSER.format_help()


def parse(text: str) -> Line:
    """The line behind `%%pinned`, read. Raises HeaderError, a sentence that says what to fix."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise HeaderError(f"{MAGIC}: {str(error).lower()} in {text.strip()}") from None
    given, rest = PARSER.parse_known_args(words)
    if rest:
        raise HeaderError(f"{MAGIC} does not know {rest[0]!r}; {_hint(rest[0])}")
    table = {
        key: value for key, value in vars(given).items() if value is not None and value is not False
    }
    name, out, folder = (table.pop(key, None) for key in ("name", "out", "folder"))
    for key, value in (("--out", out), ("--folder", folder)):
        if value is not None and not value.isidentifier():
            raise HeaderError(f"{key} {value}: not the name of a variable")
    if "env" in table:
        table["env"] = dict(map(_variable, table["env"]))
    if "gpus" in table:
        table["gpu"] = True
    options = headers.check_options(
        {key.replace("_", "-"): value for key, value in table.items()}, f"{MAGIC} --"
    )
    return Line(name, out, folder, options)


def _hint(word: str) -> str:
    known = [option for action in PARSER._actions for option in action.option_strings]
    near = difflib.get_close_matches(word.partition("=")[0], known, 1)
    if near:
        return f"did you mean {near[0]}?"
    return f"it takes one environment and {', '.join(known)}"


def _variable(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise HeaderError(f"--env {text}: write NAME=VALUE")
    return name, value


def of_source(source: str) -> Line:
    """The Line of a %%pinned cell. Raises HeaderError."""
    return parse(source.partition("\n")[0].removeprefix(MAGIC))


def header(line: Line, script: str, environments: Mapping[str, Header]) -> Header:
    """Header of a script whose first line says `line`: its own, or that of its environment.

    Raises HeaderError where both or neither are there, or no environment has the name.
    """
    if line.name is None:
        if line.options:
            raise HeaderError(
                f"{MAGIC} names no environment: write `{MAGIC} NAME --…`; "
                "in a cell with a header of its own, options belong to the header"
            )
        return headers.read(script)
    if headers.begins(script):
        raise HeaderError(
            f"the cell names the environment {line.name} and has a header of its own: keep one"
        )
    if line.name not in environments:
        near = difflib.get_close_matches(line.name, environments, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(environments)}"
        raise HeaderError(f"no environment is called {line.name}; {hint}")
    found = environments[line.name]
    env = found.env | line.options.get("env", {})
    return dataclasses.replace(found, **line.options | {"env": env})


def with_header(source: str, header: Header) -> str:
    """A %%pinned cell that stands alone: its header replaces the name of its environment."""
    line = of_source(source)
    if line.name is None:
        return source
    rest = [("--out", line.out), ("--folder", line.folder)]
    first = " ".join([MAGIC, *(f"{key} {value}" for key, value in rest if value)])
    return f"{first}\n{header.block()}\n{source.partition(chr(10))[2]}"


def without_match(source: str) -> str:
    """A %%pinned cell that still names the exception it expects, but not its message."""
    first, newline, rest = source.partition("\n")
    if first.startswith(MAGIC) and "--match" in first:
        words = shlex.split(first)
        at = next(n for n, word in enumerate(words) if word.partition("=")[0] == "--match")
        del words[at : at + (1 if "=" in words[at] else 2)]
        first = shlex.join(words)
    return first + newline + headers.without_match(rest)

"""The header of a %%pinned cell: PEP 723 inline script metadata plus a [tool.casebook] table.

Format: https://packaging.python.org/en/latest/specifications/inline-script-metadata/
"""

import difflib
import functools
import hashlib
import json
import math
import re
import signal as signals
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from casebook.cells.outcome import Expected
from casebook.errors import HeaderError

BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")

# every letter and digit, and no error's message
PANGRAM = "The five boxing wizards jump quickly: (0123456789)."


@dataclass(frozen=True)
class Header:
    """What one header says. `dependencies` are the strings as written, every one pinned with ==."""

    requires_python: str
    dependencies: tuple[str, ...]
    gpu: bool = False
    gpus: int = 1
    driver: str | None = None
    cuda_home: bool = False
    env: dict[str, str] = field(default_factory=dict, hash=False)
    build: str | None = None
    raises: str | None = None
    match: str | None = None
    signal: str | None = None
    timeout: float = 120.0
    timeout_expected: bool = False

    @property
    def environment_key(self) -> str:
        """Name of the environment: equal for the same requires-python and the same set of pins."""
        pins = sorted(
            f"{canonicalize_name(r.name)}{','.join(sorted(r.extras))}{r.specifier};{r.marker or ''}"
            for r in self.requirements
        )
        return hashlib.sha256("\n".join([self.requires_python, *pins]).encode()).hexdigest()[:16]

    @property
    def requirements(self) -> list[Requirement]:
        return [Requirement(text) for text in self.dependencies]

    @property
    def expected(self) -> Expected:
        return Expected(*(getattr(self, f.name) for f in fields(Expected)))

    @property
    def facts(self) -> str:
        """What hashes take of it: all that differs from a default, in one order."""
        bare = type(self)("", ())
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in values.items() if value != getattr(bare, name)}
        return json.dumps(given, sort_keys=True)

    def script_block(self) -> str:
        """The part of the header that describes the environment, as a PEP 723 block of its own."""
        lines = [f"# requires-python = {json.dumps(self.requires_python)}", "# dependencies = ["]
        lines += [f"#     {json.dumps(text)}," for text in self.dependencies]
        return "\n".join(["# /// script", *lines, "# ]", "# ///", ""])

    def block(self) -> str:
        """The whole header as a PEP 723 block, which `read` reads back."""
        given = {key: getattr(self, key.replace("-", "_")) for key in OPTIONS}
        bare = Header("", ())
        lines = [
            f"# {key} = {literal(value)}"
            for key, value in given.items()
            if value != getattr(bare, key.replace("-", "_"))
        ]
        head = self.script_block().removesuffix("# ///\n")
        return "\n".join([head + "# [tool.casebook]" if lines else head.rstrip(), *lines, "# ///"])


TOP = {"requires-python", "dependencies", "tool"}
OPTIONS: dict[str, Any] = {
    f.name.replace("_", "-"): f.type for f in fields(Header) if f.name.replace("_", "-") not in TOP
}
KINDS = {
    bool: "true or false",
    int: "a whole number, 1 or more",
    str | None: "a string that is not empty",
    float: "a number",
    dict[str, str]: "a table of strings",
}


def literal(value: Any) -> str:
    """A value in TOML: a string that is easy to read, a number, true, or an inline table."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {literal(one)}" for key, one in value.items()) + " }"
    if isinstance(value, str) and "\\" in value and "'" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


def begins(source: str) -> bool:
    """Whether a piece of Python source has a header."""
    return re.search(r"(?m)^# /// script\s*$", source) is not None


def without_match(source: str) -> str:
    """Source whose header names the expected exception, and not its message."""
    return re.sub(r"(?m)^# match = .*\n", "", source)


@functools.cache
def read(source: str) -> Header:
    """Header of a piece of Python source. Raises HeaderError, a sentence that says what to fix."""
    found = list(BLOCK.finditer(source + "\n"))
    starts = len(re.findall(r"(?m)^# /// script\s*$", source))
    if not starts:
        raise HeaderError(
            "the cell has no header: it must begin with a '# /// script' block (PEP 723) "
            "that names its packages"
        )
    if not found:
        raise HeaderError(
            "the header is not closed: after '# /// script' every line starts with '# ', "
            "and the last is '# ///'"
        )
    if starts > 1:
        raise HeaderError(f"the cell has {starts} '# /// script' blocks, but one is allowed")
    lines = found[0]["content"].splitlines()
    try:
        return from_block(tomllib.loads("\n".join(line[1:].removeprefix(" ") for line in lines)))
    except tomllib.TOMLDecodeError as error:
        raise HeaderError(f"the header is not valid TOML: {error}") from None


def from_block(table: dict[str, Any]) -> Header:
    """Header from the parsed TOML of a block."""
    tool = check_table(table.get("tool", {}), "[tool] of the header")
    refuse_unknown(tool, {"casebook"}, "[tool] of the header")
    options = check_options(check_table(tool.get("casebook", {}), "[tool.casebook]"))
    return replace(from_table(table, "the header", TOP), **options)


def from_table(table: dict[str, Any], where: str, known: set[str]) -> Header:
    """Header from a table with requires-python, dependencies and what `known` allows besides."""
    refuse_unknown(table, known, where)
    options = {key: value for key, value in table.items() if key in OPTIONS}
    return Header(
        check_python(table.get("requires-python"), where),
        check_dependencies(table.get("dependencies"), where),
        **check_options(options, f"{where}: "),
    )


def check_table(table: Any, where: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise HeaderError(f"{where} must be a table")
    return table


def refuse_unknown(table: dict[str, Any], known: Iterable[str], where: str) -> None:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
            raise HeaderError(f"{where} has an unknown key {key!r}; {hint}")


def check_python(text: Any, where: str) -> str:
    if not isinstance(text, str) or not text:
        raise HeaderError(f"{where} needs requires-python, a string such as '>=3.11,<3.14'")
    return check_range("requires-python", text, ">=3.11,<3.14")


def check_range(key: str, text: str, example: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise HeaderError(f"{key} = {text!r} is not a version range such as {example!r}") from None
    return text


def check_dependencies(dependencies: Any, where: str) -> tuple[str, ...]:
    """The pins as a tuple; every one `name==version`, each name once for a given marker."""
    if not isinstance(dependencies, list) or not all(isinstance(d, str) for d in dependencies):
        raise HeaderError(
            f"{where} needs dependencies, a list of strings such as ['numpy==2.4.6'] "
            "(the empty list is allowed)"
        )
    seen = set()
    for text in dependencies:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            raise HeaderError(
                f"dependency {text!r} is not a requirement such as 'numpy==2.4.6'"
            ) from None
        pins = list(requirement.specifier)
        if len(pins) != 1 or pins[0].operator != "==" or pins[0].version.endswith(".*"):
            raise HeaderError(
                f"dependency {text!r} is not pinned: write {requirement.name}==VERSION"
            )
        identity = canonicalize_name(requirement.name), str(requirement.marker)
        if identity in seen:
            raise HeaderError(f"dependency {requirement.name!r} is listed twice")
        seen.add(identity)
    return tuple(dependencies)


def check_options(table: dict[str, Any], where: str = "[tool.casebook] ") -> dict[str, Any]:
    """Options, each by its name in a header, as keyword arguments of Header.

    `where` begins a sentence about a wrong value. Raises HeaderError.
    """
    refuse_unknown(table, OPTIONS, where.strip())
    for key, value in table.items():
        if not is_a(OPTIONS[key], value):
            raise HeaderError(f"{where}{key} = {value!r} must be {KINDS[OPTIONS[key]]}")
    check_outcome(table)
    check_pattern(table.get("match"))
    if not 0 < table.get("timeout", 1) < math.inf:
        raise HeaderError(f"timeout = {table['timeout']!r} must be more than 0 seconds and finite")
    for name in table.get("env", {}):
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise HeaderError(f"{where}env has {name!r}, which is not the name of a variable")
    for key, what in (("gpus", "the number of GPUs"), ("driver", "about the GPU's driver")):
        if key in table and not table.get("gpu"):
            raise HeaderError(f"{key} is {what}: it needs gpu, too")
    check_range("driver", table.get("driver", ""), ">=580")
    return {key.replace("-", "_"): value for key, value in table.items()}


def is_a(kind: Any, value: Any) -> bool:
    if kind is int:
        return type(value) is int and value > 0
    if kind is float:
        return type(value) in (int, float)
    if kind == dict[str, str]:
        return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    return isinstance(value, kind) and value != ""


def check_outcome(table: dict[str, Any]) -> None:
    wanted = [key for key in ("raises", "signal", "timeout-expected") if table.get(key)]
    if len(wanted) > 1:
        raise HeaderError(
            f"a script ends in one way: {' and '.join(wanted)} cannot both be expected"
        )
    if "match" in table and "raises" not in table:
        raise HeaderError("match looks into the message of an exception: it needs raises = '…'")
    if "signal" in table and table["signal"] not in signals.Signals.__members__:
        raise HeaderError(
            f"signal = {table['signal']!r} is not the name of a signal such as 'SIGSEGV'"
        )


def check_pattern(pattern: str | None) -> None:
    """Refuse a pattern that any message would match."""
    if pattern is None:
        return
    try:
        search = re.compile(pattern, re.DOTALL).search
    except re.error as error:
        raise HeaderError(f"match = {pattern!r} is not a regular expression: {error}") from None
    if search(""):
        raise HeaderError(
            f"match = {pattern!r} matches the empty string, so it would check nothing"
        )
    if found := search(PANGRAM):
        raise HeaderError(
            f"match = {pattern!r} is too broad: it also matches {found[0]!r} in unrelated text"
        )

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
from dataclasses import dataclass, field, fields

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from casebook.errors import HeaderError

BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")

UNRELATED = "The five boxing wizards jump quickly: (0123456789)."  # every letter and digit, and no error's message


@dataclass(frozen=True)
class Header:
    """What one header says. `dependencies` are the strings as written, every one pinned with ==."""

    requires_python: str
    dependencies: tuple[str, ...]
    gpu: bool = False
    gpus: int = field(
        default=1, repr=False
    )  # not in repr: the rows of casebook/versions are stamped with it, and are of one GPU
    driver: str | None = None
    cuda_home: bool = False
    env: dict[str, str] = field(default_factory=dict)
    build: str | None = None
    raises: str | None = None
    match: str | None = None
    signal: str | None = None
    timeout: float = 120.0
    timeout_expected: bool = False

    @property
    def environment_key(self):
        """Name of the environment: equal for headers with the same requires-python and the same set of pins."""
        pins = sorted(
            f"{canonicalize_name(r.name)}{','.join(sorted(r.extras))}{r.specifier};{r.marker or ''}"
            for r in self.requirements
        )
        return hashlib.sha256("\n".join([self.requires_python, *pins]).encode()).hexdigest()[:16]

    @property
    def requirements(self):
        return [Requirement(text) for text in self.dependencies]

    @property
    def ending(self):
        """How the script must end, in short."""
        if self.timeout_expected:
            return f"timed out after {self.timeout:g} s"
        if self.signal:
            return f"killed by {self.signal}"
        return self.raises or "exit status 0"

    @property
    def expectation(self):
        """The outcome that the header promises, in words."""
        return self.ending + (f" with a message that matches {self.match!r}" if self.match else "")

    def script_block(self):
        """The part of the header that describes the environment, as a PEP 723 block of its own."""
        lines = [f"# requires-python = {json.dumps(self.requires_python)}", "# dependencies = ["]
        lines += [f"#     {json.dumps(text)}," for text in self.dependencies]
        return "\n".join(["# /// script", *lines, "# ]", "# ///", ""])


KEYS = {
    f.name.replace("_", "-"): f.type
    for f in fields(Header)
    if f.name not in ("requires_python", "dependencies")
}
KINDS = {
    bool: "true or false",
    int: "a whole number, 1 or more",
    str | None: "a string that is not empty",
    float: "a number",
    dict[str, str]: "a table of strings",
}


@functools.cache
def read(source):
    """Header of a piece of Python source. Raises HeaderError, a sentence that says what to mend."""
    found = list(BLOCK.finditer(source + "\n"))
    starts = len(re.findall(r"(?m)^# /// script\s*$", source))
    if not starts:
        raise HeaderError(
            "the cell has no header: it must begin with a '# /// script' block (PEP 723) that names its packages"
        )
    if not found:
        raise HeaderError(
            "the header is not closed: after '# /// script' every line starts with '# ', and the last is '# ///'"
        )
    if starts > 1:
        raise HeaderError(f"the cell has {starts} '# /// script' blocks, but one is allowed")
    content = "\n".join(
        line[2:] if line.startswith("# ") else line[1:] for line in found[0]["content"].splitlines()
    )
    try:
        table = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise HeaderError(f"the header is not valid TOML: {error}") from None
    return from_table(table)


def from_table(table):
    """Header from the parsed TOML of a block."""
    refuse_unknown(table, {"requires-python", "dependencies", "tool"}, "the header")
    tool = check_table(table.get("tool", {}), "[tool] of the header")
    refuse_unknown(tool, {"casebook"}, "[tool] of the header")
    dependencies = check_dependencies(table.get("dependencies"))
    return Header(
        check_python(table.get("requires-python")),
        dependencies,
        **check_options(tool.get("casebook", {})),
    )


def check_table(table, where):
    if not isinstance(table, dict):
        raise HeaderError(f"{where} must be a table")
    return table


def refuse_unknown(table, known, where):
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
            raise HeaderError(f"{where} has an unknown key {key!r}; {hint}")


def check_python(text):
    if not isinstance(text, str) or not text:
        raise HeaderError("the header needs requires-python, a string such as '>=3.11,<3.14'")
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise HeaderError(
            f"requires-python = {text!r} is not a version range such as '>=3.11,<3.14'"
        ) from None
    return text


def check_dependencies(dependencies):
    """The pins as a tuple; every one `name==version`, each name once for a given marker."""
    if not isinstance(dependencies, list) or not all(isinstance(d, str) for d in dependencies):
        raise HeaderError(
            "the header needs dependencies, a list of strings such as ['numpy==2.4.6'] (the empty list is allowed)"
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


def check_options(table):
    """The [tool.casebook] table as keyword arguments of Header."""
    refuse_unknown(check_table(table, "[tool.casebook]"), KEYS, "[tool.casebook]")
    for key, value in table.items():
        if not is_a(KEYS[key], value):
            raise HeaderError(f"[tool.casebook] {key} = {value!r} must be {KINDS[KEYS[key]]}")
    options = {key.replace("-", "_"): value for key, value in table.items()}
    check_outcome(options)
    check_pattern(options.get("match"))
    if not 0 < options.get("timeout", 1) < math.inf:
        raise HeaderError(
            f"timeout = {options['timeout']!r} must be more than 0 seconds and finite"
        )
    for name in options.get("env", {}):
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise HeaderError(
                f"[tool.casebook] env has {name!r}, which is not the name of a variable"
            )
    if "gpus" in options and not options.get("gpu"):
        raise HeaderError("gpus is the number of GPUs: it needs gpu = true")
    if "driver" in options:
        if not options.get("gpu"):
            raise HeaderError("driver is about the GPU's driver: it needs gpu = true")
        try:
            SpecifierSet(options["driver"])
        except InvalidSpecifier:
            raise HeaderError(
                f"driver = {options['driver']!r} is not a version range such as '>=580'"
            ) from None
    return options


def is_a(kind, value):
    if kind is bool:
        return isinstance(value, bool)
    if kind is int:
        return type(value) is int and value > 0
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == dict[str, str]:
        return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    return isinstance(value, str) and value != ""


def check_outcome(options):
    wanted = [key for key in ("raises", "signal", "timeout_expected") if options.get(key)]
    if len(wanted) > 1:
        raise HeaderError(
            f"a script ends in one way: {' and '.join(w.replace('_', '-') for w in wanted)} cannot both be expected"
        )
    if "match" in options and "raises" not in options:
        raise HeaderError("match looks into the message of an exception: it needs raises = '…'")
    if "signal" in options and options["signal"] not in signals.Signals.__members__:
        raise HeaderError(
            f"signal = {options['signal']!r} is not the name of a signal such as 'SIGSEGV'"
        )


def check_pattern(pattern):
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
    if found := search(UNRELATED):
        raise HeaderError(
            f"match = {pattern!r} matches {found[0]!r} in any text, so it would check nothing: say more of the message"
        )

"""The facts of a case, written by hand once, in NN-name.yml, and checked against facts.schema.json.

The unit is the fault: one thing that goes wrong in one library, with one thing to do. The card of
the page, the doctor's table and Find your error are written from it (authoring/publish.py).
"""

import functools
import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import jsonschema
import yaml
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from casebook import doctor
from casebook.errors import WrongUse


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML's safe loader, which refuses a key that a table has already."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise yaml.YAMLError(f"line {node.start_mark.line + 1}: the key {twice!r} stands twice")
        return super().construct_mapping(node, deep)


PARTS = {"built-in target": doctor.BUILT_IN, "driver": doctor.DRIVER}  # others are package names
LABELS = {
    "built-in target": "Numba's built-in target",
    "driver": "a driver for CUDA",
    "cupy": "CuPy",
    "numpy": "NumPy",
    "numba": "Numba",
    "nvrtc": "NVRTC",
}
SIGNS = {">=": "≥ ", "<=": "≤ ", "<": "< "}


@dataclass(frozen=True)
class Releases:
    """The affected releases of one package: `first` to `newest`, or up to `fixed`, without it."""

    package: str
    text: str
    first: str | None
    newest: str | None
    fixed: str | None
    begins: bool
    at_risk: bool

    @property
    def affected(self) -> str:
        """The range as the card shows it: `numba-cuda ≥ 0.21.0, < 0.30.1`."""
        return f"{label(self.package)} {range_text(self.text)}"

    @property
    def fixed_in(self) -> str:
        """The first release without the fault, as the card shows it."""
        if self.fixed:
            return f"{label(self.package)} {self.fixed}"
        return f"not yet in {label(self.package)} (newest looked at: {self.newest})"


@dataclass(frozen=True)
class Fault:
    """One fault. Where no package can be judged, `affected` is empty and `where` has words."""

    id: str
    see: str
    do: str
    proof: tuple[str, ...] | str = ()  # ids of cells that run it, or why none does
    kind: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    affected: tuple[Releases, ...] = ()
    where: str = ""
    read: tuple[tuple[str, str], ...] = ()  # packages and ranges: the source has it, nobody ran it
    unseen: tuple[str, ...] = ()  # packages of which nobody ran an end of the range
    heard: tuple[str, ...] = ()  # how people describe it
    beside: tuple[str, str] | None = None  # package and lowest release
    fixed_words: tuple[str, ...] = ()
    remains: str = ""
    absent: str = ""
    by_design: bool = False
    capability: str = ""  # compute capabilities of the GPUs that can have it
    installs: dict[str, str] = field(default_factory=dict)  # what to do in a host, by its id


@dataclass(frozen=True)
class Facts:
    """What NN-name.yml says. `raw` is the whole file."""

    kind: tuple[str, ...]
    libraries: tuple[str, ...]
    threads: tuple[str, ...]
    needs: str
    faults: tuple[Fault, ...]
    raw: dict[str, Any]

    @property
    def messages(self) -> list[str]:
        """The messages of all faults, word for word."""
        return [message for fault in self.faults for message in fault.messages]


@functools.cache
def schema() -> jsonschema.protocols.Validator:
    """The validator of facts.schema.json."""
    text = Path(__file__).with_name("facts.schema.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def kinds() -> list[str]:
    """The kinds of trouble, the worst first."""
    return schema().schema["properties"]["kind"]["items"]["enum"]


def load(path: Path) -> Facts:
    """The facts in a file. Raises WrongUse, one sentence with file and place, for a wrong one."""
    try:
        raw = yaml.load(path.read_text("utf-8"), Loader)
    except OSError as error:
        raise WrongUse(f"{path.name}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path.name}: not YAML: {' '.join(str(error).split())}") from None
    if wrong := sorted(schema().iter_errors(raw), key=lambda found: found.json_path):
        place = wrong[0].json_path.removeprefix("$.")
        raise WrongUse(f"{path.name}: {place}: {reason(wrong[0])}")
    try:
        faults = tuple(fault(given, raw["kind"]) for given in raw["faults"])
    except ValueError as error:
        raise WrongUse(f"{path.name}: {error}") from None
    return Facts(
        tuple(raw["kind"]),
        tuple(raw["libraries"]),
        tuple(raw["threads"]),
        raw.get("needs", ""),
        faults,
        raw,
    )


def reason(error: jsonschema.ValidationError) -> str:
    """What the schema says of a value, with what the key is for."""
    sentence = error.message if len(error.message) < 200 else f"{error.validator} is not met"
    if error.validator == "additionalProperties":
        of_a_fault = schema().schema["properties"]["faults"]["items"]["properties"]
        unknown = error.instance.keys() - error.schema["properties"].keys()
        if key := min(unknown & of_a_fault.keys(), default=""):
            sentence = f"{key!r} belongs to a fault, in the list `faults`"
    about = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    return f"{sentence} ({about})" if about else sentence


def fault(given: dict[str, Any], kind: list[str]) -> Fault:
    """A fault from its table, in a case of some kinds. Raises ValueError for a contradiction."""
    if other := set(given.get("kind", ())) - set(kind):
        raise ValueError(f"fault {given['id']}: {min(other)} is not among the kinds of the case")
    affected, fixed = given["affected"], given.get("fixed", {})
    where = affected if isinstance(affected, str) else ""
    known = {} if where else affected
    at_risk = given.get("at-risk", [])
    if fixed and given.get("by-design"):
        raise ValueError(f"fault {given['id']}: what is by design is fixed in no release")
    packages = [*(() if where else fixed), *(() if at_risk is True else at_risk)]
    for package in [*packages, *given.get("unseen", ())]:
        if package not in known:
            raise ValueError(f"fault {given['id']}: {package} is not among the affected packages")
    releases = tuple(
        parsed(
            given["id"],
            package,
            text,
            fixed.get(package),
            given.get("begins", False),
            at_risk is True or package in at_risk,
        )
        for package, text in known.items()
    )
    words = [f"{label(package)} {version}" for package, version in fixed.items()] if where else []
    beside = given.get("beside")
    proof = given.get("proof", ())
    plain = {f.name for f in fields(Fault)} - {
        "proof",
        "kind",
        "messages",
        "affected",
        "read",
        "unseen",
        "heard",
        "beside",
    }
    return Fault(
        proof=proof if isinstance(proof, str) else tuple(proof),
        kind=tuple(given.get("kind", kind)),
        messages=tuple(given.get("messages", ())),
        affected=releases,
        where=where,
        read=tuple(
            (package, bounds(given["id"], package, text))
            for package, text in given.get("read", {}).items()
        ),
        unseen=tuple(given.get("unseen", ())),
        heard=tuple(one["words"] for one in given.get("heard", ())),
        beside=next((name, text.removeprefix(">=")) for name, text in beside.items())
        if beside
        else None,
        fixed_words=tuple(words),
        by_design=given.get("by-design", False),
        **{key: value for key, value in given.items() if key in plain},
    )


def bounds(name: str, package: str, text: str) -> str:
    """A range with both ends, of releases whose source was read. Raises ValueError otherwise."""
    try:
        signs = sorted(part.operator for part in SpecifierSet(text))
    except InvalidSpecifier:
        signs = []
    if signs not in (["<", ">="], ["<=", ">="]):
        raise ValueError(f"fault {name}: read: {package} needs a range such as '>=1.0,<1.4'")
    return text


def parsed(
    name: str, package: str, text: str, fixed: str | None, begins: bool, at_risk: bool
) -> Releases:
    """One range: `>=A` at most once, and `<B` with B fixed, or `<=C`, the newest looked at.

    Raises ValueError for any other.
    """
    try:
        ends = {part.operator: part.version for part in SpecifierSet(text)}
    except InvalidSpecifier:
        raise ValueError(f"fault {name}: {text!r} is not a range of {package}") from None
    if ends.keys() - {">=", "<", "<="} or ("<" in ends) == ("<=" in ends):
        raise ValueError(f"fault {name}: the range of {package} ends with < (fixed) or <= (newest)")
    if ends.get("<") != fixed:
        raise ValueError(f"fault {name}: {package} {text} does not end at fixed ({fixed})")
    first, last = ends.get(">="), ends.get("<") or ends["<="]
    if first and Version(first) > Version(last):
        raise ValueError(f"fault {name}: the range of {package}, {text}, is empty")
    return Releases(package, text, first, ends.get("<="), fixed, begins, at_risk)


def label(package: str) -> str:
    """How the pages call a package."""
    return LABELS.get(package, package)


def range_text(text: str) -> str:
    """A range as it is read: `≥ 0.21.0, < 0.30.1`; one release alone as its number."""
    ends = {part.operator: part.version for part in SpecifierSet(text)}
    if ends.get(">=") and ends.get(">=") == ends.get("<="):
        return ends[">="]
    return ", ".join(sign + ends[operator] for operator, sign in SIGNS.items() if operator in ends)

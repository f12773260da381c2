"""The case card: every row there, and each agrees with what it is about: the cells, the receipt, the doctor's table."""

import re

from casebook import doctor
from casebook.authoring.chapters import CARD_KEYS
from casebook.authoring.checks.prose import CODE, LINK
from casebook.authoring.releases import evidence

KINDS = "wrong numbers", "crash", "hang", "slow", "does not start"
SILENT = "wrong numbers", "slow", "hang"
LIBRARIES = {  # the name on a card, and that of the package (for some, `-cu12` or the like follows) or of the module that a cell imports
    "numba's built-in cuda target": "numba",
    "numba": "numba",
    "numba-cuda": "numba-cuda",
    "numba-cuda-mlir": "numba-cuda-mlir",
    "cupy": "cupy",
    "numpy": "numpy",
    "cuda-core": "cuda-core",
    "cuda.core": "cuda-core",
    "cuda-bindings": "cuda-bindings",
    "nvrtc": "nvidia-cuda-nvrtc",
    "nvjitlink": "nvidia-nvjitlink",
    "nanobind": "nanobind",
    "pybind11": "pybind11",
    "pytorch": "torch",
    "jax": "jax",
    "scipy": "scipy",
    "rmm": "rmm",
    "nvvm": "nvidia-nvvm",
    "cuda-pathfinder": "cuda-pathfinder",
}
LABELS = {doctor.BUILT_IN: "built-in|numba(?! *-)", "cupy": "CuPy"}  # how a card calls a part
VERSION = r"\d+(?:\.\d+)+"
PYTHON = re.compile(r"Python 3\.\d+(?: (?:to|and|or) 3\.\d+)?")
DATE = r"\d{4}-\d\d-\d\d"


def card_problems(chapter):
    card = chapter.card
    yield from (f": the case card lacks {key!r}" for key in CARD_KEYS if key not in card)
    if set(CARD_KEYS) <= card.keys():
        for check in (kind, libraries, ranges, messages, needs, links):
            yield from (f", case card, {problem}" for problem in check(chapter, card))


def kind(chapter, card):
    for word in card["Kind"].split(" · "):
        if word not in KINDS:
            yield f"Kind: {word!r} is none of {', '.join(KINDS)}"


def libraries(chapter, card):
    pins = "\n".join(
        pin for cell in chapter.cells if cell.header for pin in cell.header.dependencies
    )
    sources = "\n".join(cell.source for cell in chapter.cells)
    names = re.split(
        r", | and | or |\bwith ", re.sub(r" \(.*?\)| as the consumer", "", card["Libraries"])
    )
    for name in filter(None, map(str.strip, names)):
        package = LIBRARIES.get(name.lower())
        if not package:
            yield f"Libraries: {name!r} is unknown (casebook/checks/card.py lists those that are known)"
        elif not re.search(rf"(?m)^{package}(-cu(da)?\d+x?)?==", pins) and not re.search(
            rf"(?m)^\s*(import|from) {package}\b", sources
        ):
            yield f"Libraries: no cell installs or imports {name}"


def messages(chapter, card):
    """Each message stands in a stored output or is what a release said last; a case without one is a silent one."""
    told = re.findall(r"`(.+?)`", card["You see"])
    if not told and not any(word in SILENT for word in card["Kind"].split(" · ")):
        yield f"You see: no message, though the kind is {card['Kind']}"
    said = [cell.text for cell in chapter.cells] + [row.line for row in evidence.rows(chapter)]
    shown = " ".join(" ".join(said).split())
    if chapter.receipt:
        yield from (
            f"You see: no stored output and no row of a release has {message!r}"
            for message in told
            if " ".join(message.split()) not in shown
        )


def needs(chapter, card):
    if chapter.receipt and isinstance(chapter.receipt.get("seconds"), int):
        expected = chapter.needs(chapter.receipt["seconds"])
        if card["Needs"] != expected:
            yield f"Needs: it says {card['Needs']!r}, the cells and the receipt {expected!r}"


def links(chapter, card):
    """Other pages quote the rows of a card: what leads elsewhere in the book from here leads nowhere from there."""
    yield from (
        f"{key}: a link within the book, which breaks where another page quotes the card"
        for key, text in card.items()
        for _, target in LINK.findall(CODE.sub("", text))
        if "://" not in target
    )


# --- Affected and Fixed in


def ranges(chapter, card):
    """The releases on the card are those of the doctor's table, and the other way round."""
    cases = [case for case in doctor.CASES if case.chapter == chapter.name]
    rows = {key: card[key] for key in ("Affected", "Fixed in")}
    for case in cases:
        for part in case.ranges:
            yield from (
                problem for key, text in rows.items() for problem in clause(key, text, part)
            )
        if (
            case.beside
            and case.beside.part != doctor.DRIVER
            and f"{case.beside.part} {case.beside.since}" not in rows["Affected"].lower()
        ):
            yield f"Affected: the doctor's table has it beside {case.beside.part} {case.beside.since} or later"
    known = set(re.findall(VERSION, repr(doctor.CASES))) | pinned(chapter)
    for key, text in rows.items():
        for date in re.findall(DATE, text):
            if not any(date in str(name) for name in chapter.sidecar.get("figures", {})):
                yield f"{key}: the date {date} has no reason in `figures` of the sidecar"
        for version in re.findall(VERSION, PYTHON.sub("", text)):
            if version not in known:
                yield f"{key}: the release {version} is neither in the doctor's table nor installed by a cell"


def pinned(chapter):
    """The releases that the chapter's cells run on."""
    return {
        pin.partition(";")[0].partition("==")[2].strip()
        for cell in chapter.cells
        if cell.header
        for pin in cell.header.dependencies
    }


def clause(key, text, part):
    """What a row must say of one range: in the clause that names the part."""
    label = LABELS.get(part.part, re.escape(part.part))
    clauses = [
        one
        for one in re.split(r"; ", text)
        if re.search(rf"(?i)(?<![\w-])(?:{label})(?![\w-])", one)
    ]
    if part.part == doctor.BUILT_IN:
        clauses = sorted(clauses, key=lambda one: "built-in" not in one)
    expected = (
        words(part) if key == "Affected" else [part.fixed] if part.fixed else ["never", "not fixed"]
    )
    if not clauses:
        yield f"{key}: no clause about {part.part}, which the doctor's table has ({' or '.join(expected)})"
    elif not any(
        re.search(rf"(?<![\d.]){re.escape(option)}(?![\d.]*\d)", clauses[0]) for option in expected
    ):
        yield f"{key}: the doctor's table says {' or '.join(expected)} of {part.part}, the card {clauses[0]!r}"


def words(part):
    """The ways to write the releases of a range."""
    first = max(part.since, part.oldest, key=doctor.release)
    last = part.last if part.fixed else part.newest
    if doctor.release(first) > doctor.release("0.0"):
        return [first] if first == last else [f"{first} to {last}"]
    return [f"up to {last}"] if part.fixed else [f"last looked at: {last}", f"up to {last}"]

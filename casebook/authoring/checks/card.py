"""The card and the facts behind it: written from the facts, and true of the cells and the rows."""

import functools
import re
import shlex
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from casebook import doctor
from casebook.authoring.publish import card_differences
from casebook.authoring.releases import index, probe
from casebook.cells.timed import is_timed
from casebook.chapters import Chapter, evidence, load
from casebook.chapters.card import CARD
from casebook.chapters.facts import PARTS, Fault, Releases, label

SERIOUS = {"crash", "does not start"}  # kinds of trouble with a message
# Names on a card, and the package (for some, -cu12 or the like follows) or module of a cell.
LIBRARIES = {
    "Numba's built-in CUDA target": "numba",
    "Numba": "numba",
    "NVRTC": "nvidia-cuda-nvrtc",
    "nvJitLink": "nvidia-nvjitlink",
    "NVVM": "nvidia-(?:cuda-nvcc|nvvm)",
    "PyTorch": "torch",
}
INSTALLED = re.compile(r'"([\w-]+(?:\[\w+\])?[<>=][^"]*)"')  # a requirement in what to do
ELSEWHERE = frozenset({"nvidia-cudnn-cu13", "nvidia-nccl-cu13"})  # too large for the book
EXTRAS = {"ctk", "cu12", "cu13", "cudart", "nvrtc"}
PACKAGE = re.compile(r"\[\w+\]|cupy-cuda\d+x(\[\w+\])?")
REQUIREMENT = re.compile(r'\[(?:cu\d+|ctk)\]|"[\w-]+(?:\[\w+\])?[<>=][^"]*"')
NAME = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)*")
BUILT_IN = "built-in target"  # as facts name it


def card_problems(chapter: Chapter) -> Iterator[str]:
    """Ends of sentences about the card, the libraries, the messages and what is told to do."""
    yield from card_differences(chapter)
    for check in (
        packages,
        kinds,
        libraries,
        messages,
        fixes,
        alive,
        names,
        threads,
        varying_cells,
        unjudged,
        outdated,
    ):
        yield from (f", {chapter.name}.yml: {problem}" for problem in check(chapter))


def kinds(chapter: Chapter) -> Iterator[str]:
    """The kinds of trouble are those of the faults and of the cells."""
    facts, hangs = chapter.facts, any(c.header and c.header.timeout_expected for c in chapter.cells)
    errors = [message for message in facts.messages if "Warning" not in message]
    if errors and not SERIOUS & set(facts.kind):
        yield "kind: a fault with the message of an error needs kind `crash` or `does not start`"
    if not facts.messages and SERIOUS & set(facts.kind):
        yield f"no fault has messages, though the kind is {', '.join(facts.kind)}"
    if hangs and "hang" not in facts.kind:
        yield "kind: a cell times out as expected, so it is a hang"
    if "hang" in facts.kind and not hangs and not any("never" in one.see for one in facts.faults):
        yield ("kind `hang` needs a cell with `--timeout-expected`, or a `see` that says 'never'")
    if "slow" in facts.kind and not any(is_timed(cell.source) for cell in chapter.cells):
        yield "kind: slow, but no cell measures"


def libraries(chapter: Chapter) -> Iterator[str]:
    """Each library is installed or imported by a cell, and each affected package is among them."""
    headers = [cell.header for cell in chapter.cells if cell.header]
    pins = "\n".join(str(r.name) for head in headers for r in head.requirements)
    sources = "\n".join(cell.source for cell in chapter.cells)
    for name in chapter.facts.libraries:
        package = LIBRARIES.get(name, name.lower())
        installed = re.search(rf"(?m)^{package}(-cu(da)?\d+x?)?$", pins)
        if not installed and not re.search(rf"(?m)^\s*(import|from) {package}\b", sources):
            yield f"libraries: no cell installs or imports {name}"
    names = chapter.facts.libraries
    known = {name.lower() for name in names} | {LIBRARIES.get(name) for name in names}
    for releases in (one for fault in chapter.facts.faults for one in fault.affected):
        if package_of(releases) not in known:
            yield f"libraries: {label(releases.package)} is affected, and not among them"


def messages(chapter: Chapter) -> Iterator[str]:
    """Each message stands in a stored output or in a row."""
    facts = chapter.facts
    if not chapter.receipt or chapter.pending:
        return
    texts = [cell.text for cell in chapter.cells] + [row.line for row in evidence.rows(chapter)]
    text = " ".join(" ".join(texts).split())
    for message in facts.messages:
        if " ".join(message.split()) not in text:
            yield f"no stored output and no row of a release has the message {message!r}"


def fixes(chapter: Chapter) -> Iterator[str]:
    """What a fault tells to install leaves out every release that is known to have it."""
    for fault in chapter.facts.faults:
        for requirement in map(Requirement, INSTALLED.findall(fault.do)):
            for version in let_in(fault, requirement):
                release = f"{requirement.name} {version}"
                yield f"fault {fault.id}: `do` lets {release} in, which has it"


def packages(chapter: Chapter) -> Iterator[str]:
    """A command installs packages and extras that exist: a name with a typo may be anybody's."""
    for fault in chapter.facts.faults:
        for problem in typos(fault.do):
            yield f"fault {fault.id}: `do` {problem}"


def typos(text: str) -> Iterator[str]:
    """What the `pip install` commands of a text name that no environment of the book has."""
    for command in re.findall(r"pip install ([^`\n&;|#]+)", text):
        for word in shlex.split(command):
            if word.startswith("-") or not word[0].isalpha():
                continue
            try:
                asked = Requirement(word)
            except InvalidRequirement:
                yield f"has {word!r} to install, which is no requirement"
                continue
            if asked.name not in installed_names():
                yield f"installs {asked.name}, which no environment of the book has"
            for extra in sorted(asked.extras - EXTRAS):
                yield f"asks {asked.name} for the extra {extra!r}, which nobody has seen"


@functools.cache
def installed_names() -> frozenset[str]:
    """The packages that the environments of all chapters have, and ELSEWHERE."""
    heads = [cell.header for book in load() for cell in book.cells if cell.header]
    return ELSEWHERE | {one.name for head in heads for one in head.requirements}


def alive(chapter: Chapter) -> Iterator[str]:
    """A fault without a fix or a beginning is in every release: not all users have it."""
    for fault in chapter.facts.faults:
        if any(releases.fixed for releases in fault.affected):
            continue
        for releases in fault.affected:
            if not releases.begins and not releases.at_risk:
                yield (
                    f"fault {fault.id}: every {label(releases.package)} would be affected; "
                    f"add `at-risk: [{releases.package}]`, or `begins: true` if the first is known"
                )


def names(chapter: Chapter) -> Iterator[str]:
    """Each name and number in the code of a `do` is on the page: a wrong one is a wrong cure."""
    page = text_of(chapter)
    for fault in chapter.facts.faults:
        for code in re.findall(r"`([^`]+)`", fault.do):
            if "pip install" in code or PACKAGE.fullmatch(code):
                continue
            for name in NAME.findall(REQUIREMENT.sub("", code)):
                if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", page):
                    yield f"fault {fault.id}: `do` has {name!r}, which the page does not show"


def threads(chapter: Chapter) -> Iterator[str]:
    """Each thread is linked in the text, where somebody reads what it says."""
    page = text_of(chapter)
    for thread in chapter.facts.threads:
        if not re.search(rf"github\.com/{re.escape(thread)}\b", page):
            yield f"threads: the page has no link to {thread}; is the number right?"


def text_of(chapter: Chapter) -> str:
    """All that a page says and runs, besides its card."""
    return "\n".join(CARD.sub("", node.source) for node in chapter.notebook.cells)


def let_in(fault: Fault, requirement: Requirement) -> Iterator[str]:
    """The releases with a fault that a requirement allows."""
    bad = bad_releases(fault, requirement)
    yield from sorted(version for version in bad if requirement.specifier.contains(version))


def bad_releases(fault: Fault, requirement: Requirement) -> set[str]:
    """Releases of a package with the fault: ends of its range, and what the requirement names."""
    bad = set()
    for releases in fault.affected:
        if part_of(requirement.name) == package_of(releases):
            versions = {part.version for part in requirement.specifier}
            ends = {end for end in (releases.first, releases.newest) if end}
            bad |= {v for v in versions | ends if SpecifierSet(releases.text).contains(v)}
    if fault.beside and fault.beside[0] == requirement.name:
        bad |= {fault.beside[1], f"{fault.beside[1]}.1"}
    return bad


def part_of(name: str) -> str:
    """What facts call the package with this name: `cupy` for cupy-cuda12x."""
    return next((part for part, names in doctor.WATCHED.items() if re.fullmatch(names, name)), name)


def package_of(releases: Releases) -> str:
    """The package that a range is about."""
    return "numba" if releases.package == BUILT_IN else releases.package


def varying_cells(chapter: Chapter) -> Iterator[str]:
    """Each cell of `varies` is there."""
    known = {cell.node["id"] for cell in chapter.cells}
    for cell in chapter.sidecar.get("varies", {}).keys() - known:
        yield f"varies names a cell {cell!r}, which is not there"


def unjudged(chapter: Chapter) -> Iterator[str]:
    """Each library whose releases are run has a range, against which its rows are compared."""
    packages = {one.package for fault in chapter.facts.faults for one in fault.affected}
    ranges = {PARTS.get(package, package) for package in packages}
    for library in probe.libraries(chapter):
        if not ranges & doctor.Machine("", "", {library: "1.0"}).parts().keys():
            yield f"versions: {library} is probed, but no fault lists it under `affected`"


def outdated(chapter: Chapter) -> Iterator[str]:
    """The newest release of a package that still has a fault is among those looked at."""
    listed = index.stored(chapter.path.parent)
    for fault in chapter.facts.faults:
        for releases in (one for one in fault.affected if one.newest):
            later = [
                Version(release)
                for library, release in listed
                if part_of(library) == package_of(releases)
                and SpecifierSet(f">{releases.newest}").contains(release)
            ]
            if later:
                yield (
                    f"{fault.id}: {releases.package} was looked at up to {releases.newest}, and "
                    f"{max(later)} is out; try it and raise the range"
                )

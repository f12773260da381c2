"""The releases of a library on the package index that uv uses: their days, and the Pythons that they have wheels for."""

import json
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from html.parser import HTMLParser

from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from casebook.authoring.releases.resolve import compile_closure
from casebook.errors import EnvironmentFailure

PYTHONS = (
    "3.12",
    "3.11",
    "3.10",
    "3.9",
    "3.13",
)  # the first that fits is taken: most machines with a GPU have 3.12

ACCEPTED = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"


@dataclass(frozen=True)
class Release:
    """One release: its version, the day of its first wheel ("2025-03-13"), and those of PYTHONS that have a wheel on 64-bit Linux."""

    version: str
    day: str
    pythons: tuple[str, ...]


def releases(library):
    """The final releases of a library that have a wheel for one of PYTHONS and are not withdrawn, oldest first."""
    days, pythons = {}, {}
    for file in files(library):
        if file.get("yanked") or not file.get("upload-time"):
            continue
        try:
            _, version, _, tags = parse_wheel_filename(file["filename"])
        except InvalidWheelFilename:
            continue  # a source distribution
        fitting = {
            p
            for p in PYTHONS
            if any(fits(tag, p) for tag in tags)
            and p in SpecifierSet(file.get("requires-python") or "")
        }
        if fitting and not version.is_prerelease:
            days[version] = min(days.get(version, "9999"), file["upload-time"][:10])
            pythons[version] = pythons.get(version, set()) | fitting
    return [
        Release(str(v), days[v], tuple(p for p in PYTHONS if p in pythons[v])) for v in sorted(days)
    ]


def fits(tag, python):
    """True where a wheel with this tag can be installed for a Python ("3.12") on 64-bit Linux."""
    if tag.platform != "any" and not re.fullmatch(r"(manylinux\w*|linux)_x86_64", tag.platform):
        return False
    minor = int(python.partition(".")[2])
    if tag.interpreter.startswith("py"):
        return tag.interpreter in ("py3", f"py3{minor}")
    found = re.fullmatch(r"cp3(\d+)", tag.interpreter)
    return bool(found) and (
        int(found[1]) == minor or (tag.abi == "abi3" and int(found[1]) <= minor)
    )


def files(library):
    """The index's list of a library's files: tables with filename, upload-time, requires-python and yanked.

    Asks uv which index that is. https://packaging.python.org/en/latest/specifications/simple-repository-api/
    """
    annotated = compile_closure([library], PYTHONS[0], "--no-deps", "--emit-index-annotation")
    address = re.search(r"# from (\S+)", annotated)
    if not address:
        raise EnvironmentFailure(f"uv names no index that has {library}")
    request = urllib.request.Request(
        f"{address[1].rstrip('/')}/{canonicalize_name(library)}/", headers={"Accept": ACCEPTED}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text, kind = answer.read().decode(), answer.headers.get_content_type()
    except (urllib.error.URLError, TimeoutError) as error:
        raise EnvironmentFailure(
            f"no network, or no answer: the list of releases of {library} could not be read ({error})"
        ) from None
    if kind.endswith("json"):
        return json.loads(text)["files"]
    page = Page()
    page.feed(text)
    return page.files


class Page(HTMLParser):
    """The same list from an index that answers in HTML."""

    def __init__(self):
        super().__init__()
        self.files, self.inside = [], False

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "a"
        if self.inside:
            given = {name.removeprefix("data-"): value for name, value in attributes}
            self.files.append(given | {"filename": "", "yanked": "yanked" in given})

    def handle_data(self, text):
        if self.inside:
            self.files[-1]["filename"] += text.strip()

    def handle_endtag(self, tag):
        self.inside = False

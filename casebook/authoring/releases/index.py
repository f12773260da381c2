"""The releases of a library on the package index that uv uses, and releases.json, which keeps them.

By notebooks/releases.json a release without rows, one that never was, and a wrong day are found
without a network.
"""

import functools
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from casebook.authoring.releases.resolve import compile_closure
from casebook.chapters.evidence import write
from casebook.errors import CasebookError, EnvironmentFailure

# The first that has a wheel is taken: most machines with a GPU have 3.12.
PYTHONS = ("3.12", "3.11", "3.10", "3.9", "3.13")
ACCEPTED = "application/vnd.pypi.simple.v1+json"
FILE = "releases.json"


@dataclass(frozen=True)
class Release:
    """A release, the day of its first wheel ("2025-03-13"), and those of PYTHONS with a wheel."""

    library: str
    release: str
    day: str
    pythons: tuple[str, ...]


Releases = dict[tuple[str, str], Release]  # by library and release, oldest first


def stored(folder: Path) -> Releases:
    """What the folder's releases.json has."""
    file = folder / FILE
    try:
        tables = json.loads(file.read_text("utf-8")) if file.exists() else []
        found = [Release(**table | {"pythons": tuple(table["pythons"])}) for table in tables]
    except (ValueError, TypeError, KeyError) as error:
        raise CasebookError(
            f"{FILE}: not a list of releases ({error}); restore it from git"
        ) from None
    return {(one.library, one.release): one for one in found}


def update(folder: Path, library: str) -> None:
    """Put the index's releases of a library into releases.json. What was withdrawn since stays."""
    known = stored(folder)
    found = known | {(library, one.release): one for one in releases(library)}
    if found != known:
        ordered = sorted(found.values(), key=lambda one: (one.library, Version(one.release)))
        write(folder / FILE, map(asdict, ordered))


def releases(library: str) -> Iterator[Release]:
    """The final releases with a wheel for one of PYTHONS on 64-bit Linux, if not withdrawn."""
    days: dict[Version, str] = {}
    pythons: dict[Version, set[str]] = {}
    for file in files(library):
        try:
            _, version, _, tags = parse_wheel_filename(file["filename"])
        except InvalidWheelFilename:
            continue  # a source distribution
        allowed = SpecifierSet(file.get("requires-python") or "")
        fitting = {p for p in PYTHONS if p in allowed and tags & supported(p)}
        if fitting and not version.is_prerelease and not file.get("yanked"):
            days[version] = min(days.get(version, "9999"), file["upload-time"][:10])
            pythons.setdefault(version, set()).update(fitting)
    for version, day in days.items():
        yield Release(
            library, str(version), day, tuple(p for p in PYTHONS if p in pythons[version])
        )


@functools.cache
def supported(python: str) -> frozenset[Tag]:
    """The tags of the wheels for a Python ("3.12") on 64-bit Linux."""
    version = tuple(map(int, python.split(".")))
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in range(5, 100)]
    platforms += [
        f"{name}_x86_64" for name in ("linux", "manylinux1", "manylinux2010", "manylinux2014")
    ]
    return frozenset(
        [
            *cpython_tags(version, platforms=platforms),
            *compatible_tags(version, platforms=platforms),
        ]
    )


def files(library: str) -> list[dict[str, str]]:
    """The index's list of a library's files, in JSON; uv says which index that is.

    https://packaging.python.org/en/latest/specifications/simple-repository-api/
    """
    annotated = compile_closure((library,), PYTHONS[0], "--no-deps", "--emit-index-annotation")
    address = re.search(r"# from (\S+)", annotated)
    if not address:
        raise EnvironmentFailure(f"uv names no index that has {library}")
    request = urllib.request.Request(
        f"{address[1].rstrip('/')}/{canonicalize_name(library)}/", headers={"Accept": ACCEPTED}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["files"]
    except (urllib.error.URLError, TimeoutError, ValueError) as error:
        raise EnvironmentFailure(
            f"the list of releases of {library} could not be read from the index ({error})"
        ) from None

"""The rows of NN-name.versions.json: of releases that exist, of today's probes, complete.

What a single row may look like is in chapters/versions.schema.json, and checked when it is read.
"""

from collections import Counter
from collections.abc import Iterator

from casebook.authoring.releases import index
from casebook.authoring.releases.index import Release
from casebook.authoring.releases.probe import Probe, libraries, probes, question
from casebook.chapters import Chapter, evidence
from casebook.chapters.evidence import Entry


def evidence_problems(chapter: Chapter) -> Iterator[str]:
    """Ends of sentences about rows that are wrong, there twice, or missing."""
    remedy = f"run `casebook versions {chapter.name[:2]}`"
    listed = index.stored(chapter.path.parent)
    probed = {library: probes(chapter, library) for library in libraries(chapter)}
    rows = Counter[tuple[str, str, str]]()
    for entry in evidence.entries(chapter):
        rows[entry.key] += 1
        where = f", {evidence.path(chapter).name}: {entry}"
        if entry.library not in probed:
            yield f"{where}: the sidecar names no probe of {entry.library}"
            continue
        for problem in against_list(entry, listed.get(entry.key[:2])):
            yield f"{where}: {problem}"
        for problem in against_probes(chapter, entry, probed[entry.library]):
            yield f"{where}{problem}; {remedy}"
    wanted = {(*place, as_of) for place in listed if place[0] in probed for as_of in evidence.AS_OF}
    for place in sorted(place for place, number in rows.items() if number > 1):
        library, release, as_of = place
        where = f", {evidence.path(chapter).name}: {library} {release} as of {as_of}"
        yield f"{where}: {rows[place]} rows of it, delete all but one"
    if missing := sorted(wanted - rows.keys()):
        library, release, as_of = missing[0]
        others = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        first = f"no row of {library} {release} as of {as_of}"
        yield f", {evidence.path(chapter).name}: {first}{others}; {remedy}"


def against_list(entry: Entry, release: Release | None) -> Iterator[str]:
    """What an entry says of its release, and releases.json does not."""
    if not release:
        yield f"{index.FILE} has no such release"
        return
    if entry.released != release.day:
        yield f"released on {entry.released}, but {index.FILE} says {release.day}"


def against_probes(chapter: Chapter, entry: Entry, found: dict[str, Probe]) -> Iterator[str]:
    """Why an entry is no result of the probes that the sidecar names now."""
    if entry.cannot:
        now = question(chapter, entry.library, entry.release, ()).requirements
        if entry.asked != " ".join(now):
            yield ": the requirements have changed since this row"
        return
    for level in evidence.LEVELS:
        probe, run = found.get(level), entry.run(level)
        if run and not probe:
            yield f", {level}: the sidecar names no probe"
        elif run and probe and run.probe != probe.key:
            yield f", {level}: the probe has changed since this row"
        elif probe and not run and level == "cpu":
            yield f", {level}: not run"

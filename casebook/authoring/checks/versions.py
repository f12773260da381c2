"""The doctor's table, so the facts, against what the releases did: NN-name.versions.json."""

from collections.abc import Iterator

from casebook import doctor
from casebook.authoring.releases import probe
from casebook.chapters import Chapter, evidence

EXPECTED = {
    doctor.AFFECTED: evidence.REPRODUCED,
    doctor.AT_RISK: evidence.REPRODUCED,
    doctor.NOT_AFFECTED: evidence.NOT_REPRODUCED,
}


def version_problems(chapter: Chapter) -> Iterator[str]:
    """Ends of sentences about rows that contradict the doctor."""
    yield from (
        f", {evidence.path(chapter).name}: {problem}" for problem in contradictions(chapter)
    )


def contradictions(chapter: Chapter) -> Iterator[str]:
    """Rows that ended otherwise than the doctor says of the same packages.

    The first fault of a case about a library is the one that its rows show.
    """
    judged = [case for case in doctor.CASES if case.chapter == chapter.name]
    cases = {
        library: next((case for case in judged if is_about(case, library)), None)
        for library in probe.libraries(chapter)
    }
    for row in evidence.rows(chapter):
        case = cases.get(row.library)
        if not case or row.outcome not in EXPECTED.values():
            continue
        found = case.examine(environment(row).parts())
        if EXPECTED.get(found.status, row.outcome) != row.outcome:
            day = row.released if row.as_of == "release" else "today"
            yield (
                f"{row.library} {row.release} with the packages of {day}, {row.level}: "
                f"{row.outcome}, but the doctor says {found.status} ({found.why})"
            )


def is_about(case: doctor.Case, library: str) -> bool:
    """True where a range of the doctor's case is about this package."""
    parts = doctor.Machine("", "", {library: "1.0"}).parts()
    return any(judged.part in parts for judged in case.ranges)


def environment(row: evidence.Row) -> doctor.Machine:
    """What the doctor would find where the row was run."""
    packages = dict(pin.split("==") for pin in row.closure)
    cuda = row.driver and ("13.0" if int(row.driver.partition(".")[0]) >= 580 else "12.9")
    return doctor.Machine("", row.python or "", packages, row.driver, cuda)

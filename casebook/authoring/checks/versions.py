"""The doctor's table against what the releases did: NN-name.versions.json. The card is held to the doctor's table, so to both."""

from casebook import doctor
from casebook.authoring.releases import evidence, probe

EXPECTED = {
    doctor.AFFECTED: evidence.REPRODUCED,
    doctor.AT_RISK: evidence.REPRODUCED,
    doctor.NOT_AFFECTED: evidence.NOT_REPRODUCED,
}


def version_problems(chapter):
    yield from (
        f", {evidence.path(chapter).name}: {problem}" for problem in contradictions(chapter)
    )


def contradictions(chapter):
    """Rows that ended otherwise than the doctor says of the same packages."""
    judged = [case for case in doctor.CASES if case.chapter == chapter.name]
    cases = {
        library: [case for case in judged if is_about(case, library)][:1]  # what is run shows it
        for library in probe.libraries(chapter)
    }
    for row in evidence.rows(chapter):
        if row.outcome not in EXPECTED.values() or not cases.get(row.library):
            continue
        parts = environment(row).parts()
        for case in cases[row.library]:
            found = case.examine(parts)
            if EXPECTED.get(found.status, row.outcome) != row.outcome:
                day = row.released if row.as_of == "release" else "today"
                yield (
                    f"{row.library} {row.release} with the packages of {day}, {row.level}: {row.outcome}, "
                    f"but the doctor says {found.status} ({found.why})"
                )


def is_about(case, library):
    """True where a range of the doctor's case is about this package."""
    parts = doctor.Machine("", "", {library: "1.0"}).parts()
    return any(judged.part in parts for judged in case.ranges)


def environment(row):
    """What the doctor would find where the row was run."""
    packages = dict(pin.split("==") for pin in row.closure)
    cuda = row.driver and ("13.0" if int(row.driver.partition(".")[0]) >= 580 else "12.9")
    return doctor.Machine("", row.python or "", packages, row.driver, cuda)

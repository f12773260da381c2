"""`python -m casebook versions`: resolve and run what is missing or stale, store each result."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from packaging.version import Version

from casebook.authoring.chapters import Chapter
from casebook.authoring.chapters import load as chapters
from casebook.authoring.releases import evidence, index
from casebook.authoring.releases.evidence import Entry, Run
from casebook.authoring.releases.executor import Each, team
from casebook.authoring.releases.probe import Probe, libraries, probes, question
from casebook.authoring.releases.progress import MISSING, Progress
from casebook.authoring.releases.resolve import Question, resolve
from casebook.authoring.releases.worker import Answer, Job, perform
from casebook.environments import gpu
from casebook.errors import CasebookError


@dataclass
class Place:
    """One entry of a chapter's file, stored or new, and what an installer is asked for it."""

    chapter: Chapter
    entry: Entry
    question: Question

    def __post_init__(self) -> None:
        self.was = self.entry

    @property
    def resolved(self) -> bool:
        asked = " ".join(self.question.requirements)
        return self.entry.closure is not None or self.entry.asked == asked

    def name(self, *more: str) -> str:
        return ", ".join([self.chapter.name, str(self.entry), *more])

    def before(self, level: str) -> str | None:
        """The outcome at first, or else that of the release before this one; None for none.

        That a Python was missing is no outcome.
        """
        older = (
            entry
            for entry in evidence.entries(self.chapter)
            if (entry.library, entry.as_of) == (self.was.library, self.was.as_of)
            and Version(entry.release) < Version(self.was.release)
        )
        runs = [run for entry in (*older, self.was) if (run := entry.run(level))]
        outcomes = [run.outcome for run in runs if run.outcome != evidence.NO_PYTHON]
        return outcomes[-1] if outcomes else None

    def put(self, entry: Entry) -> str:
        """Store the entry in a new form; returns "", or why the disk refuses."""
        try:
            if entry != self.entry:
                evidence.store(self.chapter, entry)
                self.entry = entry
        except OSError as error:
            return f"could not be stored: {error.strerror}"
        return ""

    def stale(self, level: str) -> Iterator[Probe]:
        """The probe of this level where it was not run, or another was, or a Python was missing."""
        probe, run = probes(self.chapter, self.entry.library).get(level), self.entry.run(level)
        fresh = probe and run and run.probe == probe.key and run.outcome != evidence.NO_PYTHON
        if probe and not fresh and self.entry.closure is not None:
            yield probe


def versions(
    names: list[str],
    release: str | None = None,
    as_of: str | None = None,
    cluster: str | None = None,
) -> int:
    """Bring the files of the chapters up to date. Returns 1 where something is missing at the end.

    Closures are resolved where there is none, and anew for `as_of="today"`. Without an index
    (UV_OFFLINE or UV_NO_INDEX is set) the stored closures are run. `release` may be "newest", of
    each library. `cluster` is that of executor.team.
    """
    online = not (os.environ.get("UV_OFFLINE") or os.environ.get("UV_NO_INDEX"))
    books = chapters(names)
    if online:
        for folder, library in {(b.path.parent, name) for b in books for name in libraries(b)}:
            index.update(folder, library)
    places = [
        place
        for chapter in books
        for library in libraries(chapter)
        for place in chosen(chapter, library, release)
        if as_of in (None, place.entry.as_of)
    ]
    if not places:
        raise CasebookError(
            "nothing to run: `versions` in the file beside a notebook names libraries, the index "
            "their releases"
        )
    with Progress() as progress:
        if online:
            resolve_all([p for p in places if as_of == "today" or not p.resolved], progress)
        with team(cluster) as each:
            run_all(places, each, progress)
    return bool(progress.lost)


def chosen(chapter: Chapter, library: str, release: str | None) -> Iterator[Place]:
    """A place for each release of a library and each day: all, one release, or the "newest"."""
    found = {entry.place: entry for entry in evidence.entries(chapter)}
    listed = [one for one in index.stored(chapter.path.parent).values() if one.library == library]
    if release == "newest":
        listed = listed[-1:]
    for one in listed:
        if release in (None, "newest", one.release):
            for as_of in evidence.AS_OF:
                new = Entry(library, one.release, one.day, as_of)
                day = one.day if as_of == "release" else None
                asked = question(chapter, library, one.release, one.pythons, day)
                yield Place(chapter, found.get(new.place, new), asked)


def resolve_all(places: Iterable[Place], progress: Progress) -> None:
    """Give places a closure. Those that ask the same, of several cases, ask once."""
    asked = evidence.gathered((place.question, place) for place in places)
    progress.begin("resolve", sum(map(len, asked.values())))
    with team() as each:
        for number, answer, why in each(resolve, list(asked)):
            for place in list(asked.values())[number]:
                wrong = why or place.put(with_closure(place.entry, answer))
                if wrong:
                    progress.count(place.name(), MISSING, wrong)
                elif "cannot" in answer:
                    progress.count(
                        place.name(), evidence.CANNOT, answer["cannot"], place.before("cpu")
                    )
                else:
                    progress.count(place.name(), "resolved")


def run_all(places: Iterable[Place], each: Each, progress: Progress) -> None:
    """Run what is missing or stale. Probes of several cases share an environment."""
    levels = evidence.LEVELS if has_gpu(each) else evidence.LEVELS[:1]
    work = evidence.gathered(
        ((level, str(place.entry.python), str(place.entry.closure)), (place, probe))
        for level in levels
        for place in places
        for probe in place.stale(level)
    )
    jobs = [
        Job(*key, tuple(dict.fromkeys(probe for _, probe in wanted)))
        for key, wanted in work.items()
    ]
    progress.begin("run", sum(map(len, work.values())))
    for number, answers, why in each(perform, jobs):
        job = jobs[number]
        found = dict(zip(job.probes, answers or (), strict=not why))
        for place, probe in list(work.values())[number]:
            answer = found.get(probe) or Answer(trouble=why)
            wrong = answer.trouble or place.put(with_run(place.entry, job.level, probe, answer))
            outcome, line = (MISSING, wrong) if wrong else (answer.outcome, answer.line)
            before = place.before(job.level)
            progress.count(place.name(job.level), outcome, line, before, answer.took)
            answer.took = {}  # of several cases, the first alone


def with_closure(entry: Entry, answer: dict[str, Any]) -> Entry:
    """The entry with a closure, or with why there is none. What was run with another one goes."""
    if answer.items() <= entry.table().items():
        return entry
    bare = Entry(entry.library, entry.release, entry.released, entry.as_of)
    return replace(bare, **answer, date=evidence.today() if "cannot" in answer else None)


def with_run(entry: Entry, level: str, probe: Probe, answer: Answer) -> Entry:
    """The entry with what came of a probe. The day stays that of the first time."""
    run = Run(
        outcome=answer.outcome,
        line=answer.line,
        date=evidence.today(),
        driver=answer.driver,
        gpu=answer.gpu,
        probe=probe.key,
    )
    old = entry.run(level)
    if old and old == replace(run, date=old.date):
        return entry
    return replace(entry, cpu=run) if level == "cpu" else replace(entry, gpu=run)


def has_gpu(each: Each) -> bool:
    """True where the work is done on machines with a GPU."""
    ((_, found, why),) = each(look_for_gpu, [None])
    if why:
        raise CasebookError(why)
    return found


def look_for_gpu(_: None) -> bool:
    return bool(gpu.find())

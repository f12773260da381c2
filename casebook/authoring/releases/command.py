"""`casebook versions`: resolve and run what is missing or stale, store each result."""

import functools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from casebook.authoring.releases import index
from casebook.authoring.releases.executor import Each, executor
from casebook.authoring.releases.probe import Probe, libraries, probes, question
from casebook.authoring.releases.progress import Progress
from casebook.authoring.releases.resolve import InstallRequest, resolve
from casebook.authoring.releases.worker import Job, perform
from casebook.cells.header import Header
from casebook.chapters import Chapter, evidence
from casebook.chapters import load as chapters
from casebook.chapters.evidence import Entry, Run
from casebook.environments import gpu
from casebook.environments.create import installed_pythons
from casebook.errors import CasebookError


@dataclass
class Pending:
    """One entry of a chapter's file, stored or new, and what an installer is asked for it.

    `history`: the entries of older releases for the same day, and this one as it was.
    """

    chapter: Chapter
    entry: Entry
    question: InstallRequest
    history: tuple[Entry, ...]

    @property
    def resolved(self) -> bool:
        asked = " ".join(self.question.requirements)
        return self.entry.closure is not None or self.entry.asked == asked

    def name(self, level: str = "") -> str:
        return ", ".join(filter(None, [self.chapter.name, str(self.entry), level]))

    def before(self, level: str) -> str | None:
        """The outcome at first, or else that of the release before this one; None for none."""
        runs = [run for entry in self.history if (run := entry.run(level))]
        return runs[-1].outcome if runs else None

    def finish(self, entry: Entry, progress: Progress, level: str = "") -> None:
        """Store the entry in a new form, and show what came of a level, or of the installer."""
        if entry != self.entry:
            evidence.store(self.chapter, entry)
        self.entry = entry
        run = entry.run(level or "cpu")
        if run and (level or entry.cannot):
            progress.show(self.name(level), run.outcome, run.line, self.before(level or "cpu"))
        else:
            progress.show(self.name(), "resolved")

    def stale(self, level: str) -> Iterator[Probe]:
        """The probe of this level where it was not run, or another was."""
        probe, run = probes(self.chapter, self.entry.library).get(level), self.entry.run(level)
        fresh = probe and run and run.probe == probe.key
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
    each library. `cluster` is that of executor.executor().
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
            "nothing to run: no `versions:` section in NN-name.yml matches, or the index has no "
            "such release"
        )
    levels = evidence.LEVELS if cluster or gpu.find() else ("cpu",)
    with Progress() as progress:
        if online:
            resolve_all([p for p in places if as_of == "today" or not p.resolved], progress)
        with executor(cluster) as each:
            run_all(places, levels, each, progress)
    return bool(progress.lost)


def chosen(chapter: Chapter, library: str, release: str | None) -> Iterator[Pending]:
    """A place for each release of a library and each day: all, one release, or the "newest"."""
    found = {one.key: one for one in evidence.entries(chapter)}
    listed = [one for one in index.stored(chapter.path.parent).values() if one.library == library]
    wanted = listed[-1].release if listed and release == "newest" else release
    for as_of in evidence.AS_OF:
        history: tuple[Entry, ...] = ()
        for one in listed:
            new = Entry(library, one.release, one.day, as_of)
            history = (*history, found.get(new.key, new))
            if wanted in (None, one.release):
                day = one.day if as_of == "release" else None
                pythons = tuple(sorted(one.pythons, key=missing))  # what is here comes first
                asked = question(chapter, library, one.release, pythons, day)
                yield Pending(chapter, history[-1], asked, history)


@functools.cache
def missing(python: str) -> bool:
    """Whether this machine has no such Python, "3.12"."""
    return not installed_pythons(Header(f"=={python}.*", ()))


def resolve_all(places: Iterable[Pending], progress: Progress) -> None:
    """Give places a closure. Those that ask the same, of several cases, ask once."""
    asked = evidence.grouped((place.question, place) for place in places)
    progress.begin(sum(map(len, asked.values())))
    with executor() as each:
        for number, answer, why in each(resolve, list(asked)):
            for place in list(asked.values())[number]:
                if why:
                    progress.fail(place.name(), why)
                else:
                    place.finish(with_closure(place.entry, answer), progress)


def run_all(
    places: Iterable[Pending], levels: Iterable[str], each: Each, progress: Progress
) -> None:
    """Run what is missing or stale. Probes of several cases share an environment."""
    work = evidence.grouped(
        ((level, str(place.entry.python), str(place.entry.closure)), (probe, place))
        for level in levels
        for place in places
        for probe in place.stale(level)
    )
    wanted = [evidence.grouped(pairs) for pairs in work.values()]
    jobs = [Job(*key, tuple(found)) for key, found in zip(work, wanted, strict=True)]
    progress.begin(sum(map(len, work.values())))
    for number, runs, why in each(perform, jobs):
        level = jobs[number].level
        runs = runs or [why] * len(wanted[number])
        for found, run in zip(wanted[number].values(), runs, strict=True):
            for place in found:
                if isinstance(run, str):
                    progress.fail(place.name(level), run)
                else:
                    place.finish(with_run(place.entry, level, run), progress, level)


def with_closure(entry: Entry, answer: dict[str, Any]) -> Entry:
    """The entry with a closure, or with why there is none. What was run with another one goes."""
    if answer.items() <= entry.table().items():
        return entry
    bare = Entry(entry.library, entry.release, entry.released, entry.as_of)
    return replace(bare, **answer, date=evidence.today() if "cannot" in answer else None)


def with_run(entry: Entry, level: str, run: Run) -> Entry:
    """The entry with what came of a level. The day stays that of the first time."""
    old = entry.run(level)
    if old and old == replace(run, date=old.date):
        return entry
    return replace(entry, cpu=run) if level == "cpu" else replace(entry, gpu=run)

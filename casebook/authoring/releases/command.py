"""`python -m casebook versions`: resolve what is missing, run what is missing or stale, and store each result as it comes."""

import datetime
import functools
import os
from dataclasses import asdict, dataclass

from packaging.version import Version

from casebook.authoring.chapters import Chapter
from casebook.authoring.chapters import load as chapters
from casebook.authoring.releases import evidence
from casebook.authoring.releases.executor import team
from casebook.authoring.releases.index import releases
from casebook.authoring.releases.probe import libraries, probes, template
from casebook.authoring.releases.progress import Progress
from casebook.authoring.releases.resolve import CannotBeInstalled, closure
from casebook.authoring.releases.worker import perform
from casebook.environments import gpu
from casebook.errors import CasebookError

known = functools.cache(releases)


@dataclass
class Place:
    """One entry of a chapter's file, and its chapter."""

    chapter: Chapter
    entry: dict

    def __post_init__(self):
        self.was = self.entry

    @property
    def resolved(self):
        return bool({"closure", "cannot"} & self.entry.keys())

    def name(self, *more):
        as_of = self.entry["as_of"]
        return ", ".join(
            [
                f"{self.chapter.name}, {self.entry['library']} {self.entry['release']} as of {as_of}",
                *more,
            ]
        )

    def before(self, level):
        """The outcome that was stored at first, or else that of the release before this one; None for none. No Python is no outcome."""
        same = level, self.was["library"], self.was["as_of"]
        outcomes = [
            row.outcome
            for row in evidence.rows(self.chapter)
            if (row.level, row.library, row.as_of) == same
            and Version(row.release) < Version(self.was["release"])
        ]
        outcomes.append(self.was.get(level, {}).get("outcome"))
        return next(
            (
                outcome
                for outcome in reversed(outcomes)
                if outcome not in (None, evidence.NO_PYTHON)
            ),
            None,
        )

    def put(self, entry):
        """Store the entry in a new form; returns what an answer without success has, where the disk is full."""
        try:
            if entry != self.entry:
                evidence.store(self.chapter, entry)
                self.entry = entry
        except OSError as error:
            return {"trouble": f"could not be stored: {error.strerror}"}
        return {}


def versions(names, release=None, as_of=None, cluster=None):
    """Bring the files of the chapters up to date. Returns 1 where something is missing at the end.

    Closures are resolved where there is none, and anew for `as_of="today"`. Without an index (UV_OFFLINE or UV_NO_INDEX is set) the
    stored closures are run. `release` may be "newest", of each library. `cluster` is that of spread.team.
    """
    places = [
        Place(chapter, entry)
        for chapter in chapters(names)
        for library in libraries(chapter)
        for entry in chosen(entries(chapter, library), release)
        if as_of in (None, entry["as_of"])
    ]
    if not places:
        raise CasebookError(
            "nothing to run: `versions` in the file beside a notebook names libraries, the index their releases"
        )
    with Progress() as progress:
        if online():
            resolve_all(
                places if as_of == "today" else [place for place in places if not place.resolved],
                progress,
            )
        with team(cluster) as each:
            run_all(places, each, progress)
    return bool(progress.lost)


def resolve_all(places, progress):
    """Give places a closure. Those that ask the same, of several cases, ask once."""
    asked = evidence.gathered((question(place), place) for place in places)
    progress.begin("resolve", len(places))
    with team() as each:
        for number, answer in each(resolve, list(asked)):
            for place in list(asked.values())[number]:
                stored = {} if "trouble" in answer else place.put(with_closure(place.entry, answer))
                progress.count(
                    place.name(),
                    answer | stored,
                    place.before("cpu") if "cannot" in answer else None,
                )


def run_all(places, each, progress):
    """Run what is missing or stale. What needs the same environment, of several cases, runs in it one after the other."""
    levels = evidence.LEVELS if has_gpu(each) else evidence.LEVELS[:1]
    work = evidence.gathered(
        ((level, place.entry["python"], place.entry["closure"]), (place, probe))
        for level in levels
        for place in places
        for probe in stale(place, level)
    )
    different = [list(dict.fromkeys(probe for _, probe in wanted)) for wanted in work.values()]
    jobs = [
        {
            "level": level,
            "python": python,
            "closure": closure,
            "probes": [asdict(probe) for probe in found],
        }
        for (level, python, closure), found in zip(work, different, strict=True)
    ]
    progress.begin("run", sum(map(len, work.values())))
    for number, answer in each(perform, jobs):
        answers = dict(zip(different[number], answer.get("answers", []), strict=False))
        for place, probe in list(work.values())[number]:
            level, one = jobs[number]["level"], answers.get(probe, answer)
            took = one.pop("took", {})
            stored = (
                {} if "trouble" in one else place.put(with_outcome(place.entry, level, probe, one))
            )
            progress.count(place.name(level), one | stored, place.before(level), took)


def online():
    return not (os.environ.get("UV_OFFLINE") or os.environ.get("UV_NO_INDEX"))


def entries(chapter, library):
    """An entry for each release and dependency set: the stored ones, and new ones for what else the index has."""
    stored = [entry for entry in evidence.entries(chapter) if entry["library"] == library]
    if not online():
        return stored
    fresh = [
        {"library": library, "release": r.version, "released": r.day, "as_of": as_of}
        for r in known(library)
        for as_of in evidence.AS_OF
    ]
    return stored + [
        entry for entry in fresh if not any(evidence.same(entry, old) for old in stored)
    ]


def chosen(entries, release):
    """Those of a library's entries that are about one release, a version or "newest"; all without one."""
    if release == "newest":
        release = max((entry["release"] for entry in entries), key=Version, default=None)
    return [entry for entry in entries if release in (None, entry["release"])]


def question(place):
    """What `resolve` needs to know of a place."""
    entry = place.entry
    pythons = next(
        (r.pythons for r in known(entry["library"]) if r.version == entry["release"]),
        (entry.get("python"),),
    )
    asked, kept = template(place.chapter, entry["library"])
    return (
        asked,
        entry["release"],
        pythons,
        kept,
        entry["released"] if entry["as_of"] == "release" else None,
    )


def resolve(question):
    """The closure on the first Python for which there is one: {"python", "closure"}, or {"cannot": why}."""
    asked, release, pythons, kept, day = question
    reasons = []
    for python in pythons:
        try:
            return {"python": python, "closure": closure(asked, release, python, kept, day)}
        except CannotBeInstalled as error:
            reasons.append(f"Python {python}: {error}")
    return {"cannot": reasons[0]}


def with_closure(entry, answer):
    """The entry with a closure, or with why there is none. What was run with another one goes."""
    if answer.items() <= entry.items():
        return entry
    bare = {key: entry[key] for key in evidence.IDENTITY} | answer
    return bare | {"date": today()} if "cannot" in answer else bare


def stale(place, level):
    """The probe of this level where it was not run yet, or another one was, or a Python was missing."""
    probe = probes(place.chapter, place.entry["library"]).get(level)
    found = place.entry.get(level, {})
    if (
        probe
        and "closure" in place.entry
        and (found.get("probe") != probe.key or found["outcome"] == evidence.NO_PYTHON)
    ):
        yield probe


def with_outcome(entry, level, probe, answer):
    """The entry with what came of a probe. The day stays that of the first time."""
    old = dict(entry.get(level, {}))
    day, new = old.pop("date", None), answer | {"probe": probe.key}
    return entry | {
        level: {"outcome": None, "line": None, "date": day if old == new else today()} | new
    }


def today():
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def has_gpu(each):
    """True where the work is done on machines with a GPU."""
    ((_, answer),) = each(look_for_gpu, [None])
    if "trouble" in answer:
        raise CasebookError(answer["trouble"])
    return answer["gpu"]


def look_for_gpu(_):
    return {"gpu": bool(gpu.find())}

"""`casebook installs`: resolve the book's install lines in the environments that readers have.

uv reads metadata alone, and nothing is installed. A line is right in a host if it resolves, the
fault that it cures is gone, no fault is new, and what the host keeps has all that it requires.
"""

import functools
import re
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from packaging.version import Version

from casebook import doctor
from casebook.authoring.releases import index
from casebook.authoring.releases.executor import executor
from casebook.authoring.releases.progress import Progress
from casebook.authoring.releases.resolve import CannotBeInstalled, compile_closure
from casebook.chapters import Chapter, installs, load
from casebook.chapters.evidence import today, write
from casebook.chapters.installs import Host, Trial

PACKAGES = {"cupy": "cupy-cuda12x", doctor.BUILT_IN: "numba"}  # others have the part's name


def command(names: list[str], anew: bool) -> int:
    """Try the lines of chapters that were not tried, or all of them with their hosts `anew`.

    Results are stored as they come. Returns 1 where a result is missing.
    """
    with Progress() as progress, executor() as each:
        hosts = installs.hosts()
        wanted = [host for host in hosts.values() if anew or not host.date]
        progress.begin(len(wanted))
        for number, host, why in each(resolve_host, wanted):
            if why:
                progress.fail(wanted[number].title, why)
                del hosts[wanted[number].id]
                continue
            hosts[host.id] = host
            progress.show(host.title, f"{len(host.pins)} packages")
        before = installs.trials()
        found = dict(before)
        needs = all_needs(load())
        chosen = {line for book in load(names) for line in installs.of_chapter(book)}
        if not chosen:
            print("nothing to try: there is no install line")
        jobs = [
            (need, host)
            for line, need in needs.items()
            if not names or line in chosen
            for host in hosts.values()
            if host.fits(line) and (anew or not fresh(before.get((line, host.id)), host))
        ]
        progress.begin(len(jobs))
        for number, trial, why in each(lambda job: tried(*job), jobs):
            (line, *_), host = jobs[number]
            if why:
                progress.fail(f"{line} in {host.id}", why)
                continue
            found[line, host.id] = trial
            if number % 20 == 0:
                store(hosts, found)
            progress.show(f"{line} in {host.id}", trial.run or "no way", trial.problem)
            old = before.get((line, host.id))
            if old and old.run != trial.run:
                progress.new.append(f"{line} in {host.id}: {trial.run}, before: {old.run}")
        store(hosts, {k: one for k, one in found.items() if k[0] in needs and k[1] in hosts})
    return bool(progress.lost)


class Need(NamedTuple):
    """A line, the faults that it cures as the doctor names them, and a release that has each fault
    of its pages: who needs the line has one of these."""

    line: str
    cures: frozenset[str]
    faulty: dict[str, str]


def all_needs(books: list[Chapter]) -> dict[str, Need]:
    """Every line of the book with what it is for."""
    found = {line: Need(line, frozenset(), {}) for line in installs.general()}
    for book in books:
        releases = faulty_releases(book)
        for line, faults in installs.of_chapter(book).items():
            _, cures, faulty = found.get(line, Need(line, frozenset(), {}))
            names = {f"{book.name[:2]}-{fault}" for fault in faults}
            found[line] = Need(line, cures | names, faulty | releases)
    return found


def faulty_releases(book: Chapter) -> dict[str, str]:
    """For each package with a fault of a chapter the newest release that has it."""
    found = {}
    known = index.stored(book.path.parent)
    for case in doctor.CASES:
        for given in case.ranges if case.chapter == book.name else ():
            name = PACKAGES.get(given.part, given.part)
            for library, release in known:
                if library == name and given.judge(name, release)[0] in doctor.FOUND:
                    found[name] = release
    return found


def fresh(trial: Trial | None, host: Host) -> bool:
    return bool(trial and trial.key == installs.key(host))


def store(hosts: dict[str, Host], trials: dict[tuple[str, str], Trial]) -> None:
    """Write the hosts and the trials, a line each."""
    tables = [{"id": h.id, "date": h.date, "pins": " ".join(h.pins)} for h in hosts.values()]
    write(installs.stored(), tables + [asdict(trials[place]) for place in sorted(trials)])
    installs.tables.cache_clear()


def resolve_host(host: Host) -> Host:
    """The host with the packages that an installer chooses today."""
    pins = closure(host, host.requirements) if host.requirements else ()
    return replace(host, pins=pins, date=today())


def closure(host: Host, wanted: tuple[str, ...] | list[str], *options: str) -> tuple[str, ...]:
    """What an installer chooses for some requirements, and prefers of what the host has.

    Raises CannotBeInstalled.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "chosen.txt")
        file.write_text("\n".join(host.pins), "utf-8")
        options = (*options, "--output-file", str(file))
        compile_closure(tuple(wanted), host.python, *options, platform=host.platform)
        return tuple(line for line in file.read_text("utf-8").split("\n") if "==" in line)


def tried(need: Need, host: Host) -> Trial:
    """What a line does in a host: of its forms the first that is right, or why none is."""
    line = need.line
    made = functools.partial(Trial, line, host.id, installs.key(host), today())
    problem, first = "", {}
    for form in forms(line, host):
        changes, wrong = outcome(need._replace(line=form), host)
        if not wrong:
            return made(form, changes, problem)
        if not problem:
            problem, first = wrong, changes
    if need.cures and need.cures <= installs.absent(host.packages):
        return made("", {}, installs.NOT_NEEDED)
    return made("", first, problem)


def forms(line: str, host: Host) -> Iterator[str]:
    """The line; for a host with CUDA 13 that for CUDA 13; without the extras where the package is
    there; and each with what the host keeps."""
    if "nvidia-cuda-runtime" in host.packages:
        line = line.replace("[cu12]", "[cu13]").replace("cupy-cuda12x", "cupy-cuda13x")
    found = [line]
    if host.packages.keys() >= {r.name for r in installs.requirements(line) if r.extras}:
        found.append(re.sub(r"\[(cu12|cu13|ctk)\]", "", line))
    kept = "".join(f' "{one}"' for one in host.kept)
    yield from dict.fromkeys([*found, *(form + kept for form in found)])


def outcome(need: Need, host: Host) -> tuple[dict[str, str], str]:
    """The packages that a line changes in a host, and why this is not right; "" if it is."""
    line, cures, faulty = need
    wanted = installs.requirements(line)
    names = (
        [r.name for r in wanted] if re.search(r"\s(-U|--upgrade|--force-reinstall)\s", line) else []
    )
    upgraded = [part for name in names for part in ("--upgrade-package", name)]
    try:
        chosen = installs.versions(closure(host, [str(r) for r in wanted], *upgraded))
    except CannotBeInstalled as error:
        return {}, f"it cannot be resolved: {short(error)}"
    here = host.packages
    after = here | chosen
    changes = {
        name: f"{here[name]} → {version}" if name in here else version
        for name, version in chosen.items()
        if here.get(name) != version
    }
    known = installs.certain(after)
    own = sorted({str(r) for r in wanted} - {*host.kept})
    alone = chosen_alone(" ".join(own), host.python, host.platform)
    old = [r.name for r in wanted if r.name in changes and older(chosen, alone, r.name)]
    before = [{}, *({name: release} for name, release in faulty.items())]
    problem = broken_requirement(host, after)
    if old:
        name = old[0]
        problem = problem or f"it takes {name} {chosen[name]} instead of {alone[name]}"
    elif left := known & cures:
        problem = f"the fault {min(left)} stays"
    elif new := known.difference(*(installs.certain(here | one) for one in before)):
        problem = problem or f"it brings the fault {min(new)}"
    return changes, problem


@functools.cache
def chosen_alone(wanted: str, python: str, platform: str) -> dict[str, str]:
    """What an installer chooses for some requirements where nothing else is; {} for nothing."""
    try:
        return installs.versions(closure(Host("", "", python, platform), wanted.split(" ")))
    except CannotBeInstalled:
        return {}


def older(chosen: dict[str, str], alone: dict[str, str], name: str) -> bool:
    """Whether a package is of an older release than it would be alone."""
    return name in alone and Version(chosen[name]) < Version(alone[name])


def broken_requirement(host: Host, after: dict[str, str]) -> str:
    """Why what the host keeps does not find what it requires any more; "" if it does."""
    if not host.keep:
        return ""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(f"{name}=={version}" for name, version in after.items()))
        file.flush()
        try:
            closure(replace(host, pins=()), host.kept, "--constraints", file.name)
        except CannotBeInstalled as error:
            return short(error)
    return ""


def short(error: CannotBeInstalled) -> str:
    """The first requirement in uv's long sentence: "torch 2.15.0 needs cuda-bindings<14"."""
    text = re.sub(r"\{[^}]*\}", "", str(error))
    if found := re.search(r"(\S+?)[=>]=(\S+) depends on (.+?)(?:,? and |, we )", text):
        return f"{found[1]} {found[2]} needs {found[3]}"
    return text[:200]

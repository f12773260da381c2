"""What is run to see whether a release has the fault: cells of the notebook, named in NN-name.yml.

    versions:
      cupy-cuda12x:                     # a library, by its name on the index
        cpu:                            # the cell without a GPU, and what its output and end say
          cell: 0355e31b-1
          fails: 'float32 \\+ 1.0 .* second'
          works: 'float32 \\+ 1.0 .* first'
          seconds: 8                    # a time limit in place of the header's
        gpu: 9b3aa1f3-1                 # a cell alone: it ends as its header says, or with status 0
        with: [scipy, cmake==4.4.4]     # more that the cells need; a pin stays as it is
        extra: ctk                      # what the library is installed with: cupy-cuda12x[ctk]
        cuda-home: true                 # for old releases, where the cells' headers have none
        env: {LD_LIBRARY_PATH: …}       # variables for all releases; those of a header win

The header is the template of the environment: its library's pin becomes the release, its wheels of
the CUDA toolkit and of the toolkit's bindings stay as they are (they stand for the machine), and
everything else is what an installer chooses.
"""

import json
import re
from dataclasses import dataclass, replace

from packaging.requirements import Requirement

from casebook.authoring.releases.resolve import InstallRequest
from casebook.cells.hashes import digest
from casebook.cells.header import BLOCK, Header
from casebook.cells.outcome import describe, matches
from casebook.chapters import Chapter
from casebook.chapters.evidence import (
    DIFFERENT,
    LEVELS,
    NOT_REPRODUCED,
    REPRODUCED,
)
from casebook.errors import CasebookError
from casebook.execution.script import Outcome

TOOLKIT = re.compile(r"nvidia-.*|cuda-(bindings|pathfinder|python)")
LONGEST = 200  # characters of a line
PINNED = re.compile(r"==[^*,]+")
TIMED_OUT = "still running when its time was up"  # in rows and in patterns of probes


@dataclass(frozen=True)
class Probe:
    """One cell as a probe: its source, and what its output and end say (None: as its header)."""

    source: str
    head: Header
    fails: str | None = None
    works: str | None = None
    cuda_home: bool = False
    seconds: float | None = None
    env: tuple[tuple[str, str], ...] = ()  # they stand for the machine, and are not in the key

    @property
    def key(self) -> str:
        """Changes when the cell, or the reading of its end, does; not with the template's pins."""
        head = replace(self.template, requires_python="", dependencies=())
        code = BLOCK.sub("", self.source).strip()
        reading = json.dumps([self.fails, self.works, self.cuda_home])
        return digest("\n".join([code, head.facts, reading]))[:8]

    @property
    def template(self) -> Header:
        """The header of the cell, with the probe's own time limit."""
        return replace(self.head, timeout=self.seconds or self.head.timeout)

    def header(self, python: str, closure: str) -> Header:
        """Header of the probe in an environment with these pins, in one string."""
        template = self.template
        return replace(
            template,
            requires_python=f"=={python}.*",
            dependencies=tuple(closure.split()),
            cuda_home=self.cuda_home or template.cuda_home,
            env=dict(self.env) | template.env,
        )


def libraries(chapter: Chapter) -> list[str]:
    """Names of the libraries over whose releases a chapter's case is run."""
    return list(chapter.sidecar.get("versions", {}))


def probes(chapter: Chapter, library: str) -> dict[str, Probe]:
    """The Probe at each level: {"cpu": Probe, "gpu": Probe}, either may be missing."""
    given = chapter.sidecar["versions"][library]
    cells = {cell.node["id"]: cell for cell in chapter.cells}
    found = {}
    for level in LEVELS:
        if level in given:
            asked = given[level] if isinstance(given[level], dict) else {"cell": given[level]}
            cell = cells[asked["cell"]]
            if not cell.header:
                raise CasebookError(f"{chapter.name}, cell [{cell.number}]: {cell.header_error}")
            found[level] = Probe(
                cell.script,
                cell.header,
                **{name: value for name, value in asked.items() if name != "cell"},
                cuda_home=given.get("cuda-home", False),
                env=tuple(given.get("env", {}).items()),
            )
    return found


def question(
    chapter: Chapter, library: str, release: str, pythons: tuple[str, ...], day: str | None = None
) -> InstallRequest:
    """What an installer is asked for, at all levels: the release, what else is needed, and pins."""
    given = chapter.sidecar["versions"][library]
    more = [Requirement(text) for text in given.get("with", [])]
    pins = {
        r.name: str(r)
        for probe in probes(chapter, library).values()
        for r in probe.head.requirements
        if TOOLKIT.fullmatch(r.name)
    }
    pins |= {r.name: str(r) for r in more if PINNED.fullmatch(str(r.specifier))}
    wanted = f"{library}[{given['extra']}]" if "extra" in given else library
    free = [str(r) for r in more if r.name not in pins]
    requirements = (f"{wanted}=={release}", *free, *sorted(pins.values()))
    return InstallRequest(requirements, (library, *sorted(pins)), pythons, day)


def judge(probe: Probe, header: Header, outcome: Outcome) -> tuple[str, str]:
    """What a probe's end means: (outcome, the line that shows it)."""
    timed_out = outcome.status is None
    ended = TIMED_OUT if timed_out else describe(outcome.status, outcome.error, header.timeout)
    account = f"{outcome.output}\n{ended}"
    if probe.fails and (line := re.search(rf".*(?:{probe.fails}).*", account)):
        return REPRODUCED, tidy(line[0])
    if not probe.fails and matches(header.expected, outcome.status, outcome.error):
        return REPRODUCED, last_line(outcome, ended)
    if re.search(probe.works, account) if probe.works else outcome.status == 0:
        return NOT_REPRODUCED, ""
    return DIFFERENT, last_line(outcome, ended)


def last_line(outcome: Outcome, ended: str) -> str:
    """The final exception with its message up to an empty line, or the last line of the output.

    From the output, because paths are shortened there; how it `ended` where that says nothing.
    """
    if outcome.error and outcome.status == 1:
        name = outcome.error.type.rpartition(".")[2]
        found = re.findall(rf"(?m)^(?:[\w.]+\.)?{re.escape(name)}\b(?:.*\n?.+)*", outcome.output)
        return tidy(found[-1] if found else ended)
    if outcome.status != 0:
        return ended
    return tidy(next((line for line in reversed(outcome.output.splitlines()) if line.strip()), ""))


def tidy(text: str) -> str:
    return " ".join(text.split())[:LONGEST]

"""What is run to see whether a release has the fault: cells of the case's notebook, named in the file beside it, NN-name.yml.

    versions:
      cupy-cuda12x:                     # a library, by its name on the index
        cpu:                            # the cell that shows the fault without a GPU, and what its output and end say
          cell: 0355e31b-1
          fails: 'float32 \\+ 1.0 .* second'
          works: 'float32 \\+ 1.0 .* first'
          seconds: 8                    # a time limit in place of the header's
        gpu: 9b3aa1f3-1                 # a cell alone: it fails as its header tells, or it works and exits with status 0
        with: [scipy, cmake==4.4.4]     # more that the cells need, beside the library and what it brings; a pin stays as it is
        extra: ctk                      # what the library is installed with: cupy-cuda12x[ctk]
        cuda-home: true                 # where old releases want one that the cells' headers do not
        env: {LD_LIBRARY_PATH: …}       # variables, likewise, for all releases; what a header sets is stronger

The header is the template of the environment: its library's pin becomes the release, its wheels of the CUDA toolkit and of the
toolkit's bindings stay as they are (they stand for the machine), and everything else is what an installer chooses.
"""

import dataclasses
import re
from dataclasses import dataclass

from packaging.requirements import Requirement

from casebook.authoring.releases.evidence import DIFFERENT, LEVELS, NOT_REPRODUCED, REPRODUCED
from casebook.cells.header import BLOCK, read
from casebook.cells.outcome import describe, matches
from casebook.cells.stamp import digest

TOOLKIT = re.compile(r"nvidia-.*|cuda-(bindings|pathfinder|python)")
PINNED = re.compile(r"==[^*,]+")
TIMED_OUT = "still running when its time was up"  # in rows and in patterns of probes


@dataclass(frozen=True)
class Probe:
    """One cell as a probe: its source with the template's header, and what an output and end mean (None: as the header tells)."""

    cell: str
    source: str
    fails: str | None = None
    works: str | None = None
    cuda_home: bool = False
    seconds: float | None = None
    env: tuple = ()  # pairs; they stand for the machine, so that a change of them makes no row stale

    @property
    def key(self):
        """Changes when the cell, or the reading of its end, does; not with the template's pins."""
        told = dataclasses.replace(self.told, dependencies=(), requires_python="")
        return digest(
            "\n".join(
                [
                    BLOCK.sub("", self.source).strip(),
                    repr(told),
                    repr((self.fails, self.works, self.cuda_home)),
                ]
            )
        )[:8]

    @property
    def told(self):
        """The header of the cell, with the probe's own time limit."""
        header = read(self.source)
        return dataclasses.replace(header, timeout=self.seconds or header.timeout)

    def header(self, python, closure):
        """Header of the probe in an environment with these pins, in one string."""
        return dataclasses.replace(
            self.told,
            requires_python=f"=={python}.*",
            dependencies=tuple(closure.split()),
            cuda_home=self.cuda_home or self.told.cuda_home,
            env=dict(self.env) | self.told.env,
        )


def libraries(chapter):
    """Names of the libraries over whose releases a chapter's case is run."""
    return list(chapter.sidecar.get("versions", {}))


def probes(chapter, library):
    """The Probe at each level: {"cpu": Probe, "gpu": Probe}, either may be missing."""
    given = chapter.sidecar["versions"][library]
    cells = {cell.node["id"]: cell for cell in chapter.cells}
    found = {}
    for level in LEVELS:
        if level in given:
            told = given[level] if isinstance(given[level], dict) else {"cell": given[level]}
            source = cells[told["cell"]].script
            found[level] = Probe(
                told["cell"],
                source,
                told.get("fails"),
                told.get("works"),
                given.get("cuda-home", False),
                told.get("seconds"),
                tuple(given.get("env", {}).items()),
            )
    return found


def template(chapter, library):
    """(what is asked for, at all levels: the library itself and requirements that an installer is free in; pins that stay)."""
    pins = {
        r.name: str(r)
        for probe in probes(chapter, library).values()
        for r in read(probe.source).requirements
        if TOOLKIT.fullmatch(r.name)
    }
    given = chapter.sidecar["versions"][library]
    more = [Requirement(text) for text in given.get("with", [])]
    pins |= {r.name: str(r) for r in more if PINNED.fullmatch(str(r.specifier))}
    asked = f"{library}[{given['extra']}]" if "extra" in given else library
    return (asked, *(str(r) for r in more if r.name not in pins)), tuple(sorted(pins.values()))


def judge(probe, header, outcome):
    """What a probe's end means: (outcome, the line that shows it)."""
    timed_out = outcome.status is None
    ended = TIMED_OUT if timed_out else describe(outcome.status, outcome.error, header.timeout)
    account = f"{outcome.output}\n{ended}"
    if probe.fails and (shown := re.search(rf".*(?:{probe.fails}).*", account)):
        return REPRODUCED, tidy(shown[0])
    if not probe.fails and matches(header.expected, outcome.status, outcome.error):
        return REPRODUCED, last_line(outcome, ended)
    if re.search(probe.works, account) if probe.works else outcome.status == 0:
        return NOT_REPRODUCED, ""
    return DIFFERENT, last_line(outcome, ended)


def last_line(outcome, ended):
    """The final exception and its message up to an empty line, or how the script ended, or the last line of its output.

    From the output, because paths are masked there.
    """
    if outcome.error and outcome.status == 1:
        name = outcome.error.type.rpartition(".")[2]
        found = re.findall(rf"(?m)^(?:[\w.]+\.)?{re.escape(name)}\b(?:.*\n?.+)*", outcome.output)
        return tidy(found[-1] if found else ended)
    if outcome.status != 0:
        return ended
    return tidy(next((line for line in reversed(outcome.output.splitlines()) if line.strip()), ""))


def tidy(text):
    return " ".join(text.split())[:200]

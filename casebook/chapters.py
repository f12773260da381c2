"""The chapters as data: their cells, headers and case cards, and the receipts that tie stored outputs to a GPU run."""
import functools
import re
import tomllib

import nbformat
import yaml

from . import notebook
from .build import ROOT, tree
from .errors import WrongUse
from .stamp import digest, of_outputs

RECEIPT_KEYS = ("gpu", "compute_capability", "driver", "python", "date", "seconds", "environment", "cells")
CARD_KEYS = ("Libraries", "Kind", "Affected", "Fixed in", "You see", "Upstream", "Needs")
CLAIMS = re.compile(r"(?m)^## What the (?:article|threads) said$")         # above the table of claims and verdicts
MACHINE_PATH = re.compile(r"/(?:home|root|Users)/\S+|/tmp/\w\S+")


class Cell(notebook.Cell):
    """One code cell of a chapter."""

    def stamp(self):
        """Two hashes: of the source (right-stripped lines, any address of the repository), and of everything stored below it."""
        source = "\n".join(line.rstrip() for line in self.source.replace(address(), "ADDRESS").rstrip().splitlines())
        return f"{digest(source)} {of_outputs(self.node.outputs)}"


class Chapter(notebook.Notebook):
    """One notebook of the book."""

    cell = Cell

    def read(self):
        return nbformat.read(self.path, as_version=4)

    @property
    def origin(self):
        return f"the GPU Python Casebook, {self.name}"

    @property
    def address(self):
        return address()

    @functools.cached_property
    def sidecar(self):
        """What stands beside the notebook, in NN-name.yml: {'figures': {…}, 'wordings': […], 'varies': {…}}, all optional."""
        path = self.path.with_suffix(".yml")
        return yaml.safe_load(path.read_text("utf8")) or {} if path.exists() else {}

    def needs(self, seconds):
        """Row Needs of the card after a run of `seconds`: the GPU cells, whatever stands between, and the minutes."""
        gpu, two = sum(cell.needs_gpu for cell in self.cells), sum(cell.gpus > 1 for cell in self.cells)
        between = self.card.get("Needs", "").split("; ")[1:-1]
        minutes = max(1, round(seconds / 60))
        return "; ".join([f"a GPU for {gpu} of {len(self.cells)} cells{f', two for {two}' * (two > 0)}" if gpu else "no GPU", *between,
                          f"about {minutes} minute{'s' * (minutes > 1)}"])

    def headers(self, gpu):
        """One header for each environment and build that the chapter uses; those of GPU cells only where there is a GPU."""
        return distinct(c.header for c in self.cells if c.header and (gpu or not c.needs_gpu))

    def environment(self):
        """Hash of what the outputs depend on beside the cells: the pins of the GPU libraries, and native/ where it is built."""
        folders = sorted({c.header.build for c in self.cells if c.header and c.header.build})
        return digest("\n".join([*gpu_pins(), *(tree(ROOT / folder) for folder in folders)]))


def distinct(headers):
    """One header for each environment, and for each build in it (a header with a GPU builds for it, others for the host)."""
    return list({(h.environment_key, h.build, bool(h.build) and h.gpu): h for h in headers}.values())


def load(names=()):
    """The chapters with these names (`01-default-arguments` or `01`), or all of them, in order."""
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    if names:
        unknown = [n for n in names if not any(p.stem.startswith(n) for p in paths)]
        if unknown:
            raise WrongUse(f"no chapter {unknown[0]!r}; there are {', '.join(p.stem for p in paths)}")
        paths = [p for p in paths if any(p.stem.startswith(n) for n in names)]
    return [Chapter(p) for p in paths]


def gpu_pins():
    """Pins of the libraries that chapters run on: the extra `gpu` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["gpu"]


@functools.cache
def address():
    """Public address of the repository: it is written once, in _config.yml."""
    return yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]


def receipt_problems(chapter):
    """What a receipt and the cells beside it say differently: the ends of sentences that begin with the chapter's name."""
    receipt = chapter.receipt
    if not receipt:
        yield ": no receipt; `make execute` on a machine with a GPU makes one"
        return
    if missing := [key for key in RECEIPT_KEYS if key not in receipt]:
        yield f": the receipt lacks {', '.join(missing)}"
        return
    if receipt["environment"] != chapter.environment():
        yield ": the receipt is stale, the pins of the GPU libraries or native/ have changed since; run `make execute`"
    stamps = dict(receipt["cells"])
    for cell in chapter.cells:
        stamp, now = stamps.pop(cell.node.id, None), cell.stamp()
        if stamp is None:
            yield f", cell [{cell.number}]: not in the receipt, so it was added after the run, or the receipt is another notebook's"
        elif stamp.split()[0] != now.split()[0]:
            yield f", cell [{cell.number}]: edited since the run that the receipt is for; run `make execute`"
        elif stamp != now:
            yield f", cell [{cell.number}]: its stored output is not the one that the run produced"
    if stamps:
        yield f": the receipt has {len(stamps)} cells that the notebook lacks: {', '.join(stamps)}"

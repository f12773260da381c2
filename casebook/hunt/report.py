"""What was found, as drafts of entries of *Found here*: a file each, which a person completes."""

import re
import textwrap
from pathlib import Path

import yaml

from casebook.hunt.search import Difference
from casebook.hunt.targets import Target

PROJECTS = {"cupy-cuda12x": "cupy", "cuda-core": "cuda-python"}  # others are named as the package


class _Block(str):
    """Text of several lines, which YAML writes as it is."""


yaml.SafeDumper.add_representer(
    _Block, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, "|")
)


def write(target: Target, found: list[Difference], folder: Path) -> None:
    """Write a draft for each difference, in the place of those of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.yml"):
        old.unlink()
    for number, difference in enumerate(found, 1):
        file = folder / f"{number:02}.yml"
        file.write_text(draft(target, difference), encoding="utf-8")
        print(f"{difference.verdict.kind}: {file}")


def draft(target: Target, difference: Difference) -> str:
    """The entry for a difference: what a person must add is empty."""
    package, _, version = target.dependencies[0].partition("==")
    package = re.sub(r"\[.*", "", package)
    verdict = difference.verdict
    entry = {
        "title": f"{difference.program.splitlines()[-1]}: {verdict.kind}"[:80],
        "project": PROJECTS.get(package, package),
        "kind": "bug",
        "harm": "numbers",
        "versions": f"{package} {version}",
        "about": "",
        "expected": "",
        "known": "",
        "program": _Block(program(target, difference)),
        "prints": _Block(f"{verdict.got}\n"),
        "right": _Block(f"{verdict.right}\n"),
    }
    return yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=100)


def program(target: Target, difference: Difference) -> str:
    """The program that shows a difference, below a line with its packages."""
    *lines, last = difference.program.splitlines()
    inside = textwrap.indent("\n".join([*lines, f"return {last}"]), "    ")
    pins = f"# Python {target.python}: {' '.join(target.dependencies)}\n"
    return pins + target.frame.format(program=inside)

"""`casebook new SLUG`: the files of a new case, from the template, with the next free number."""

import re
from collections import Counter

from casebook.authoring import publish
from casebook.authoring.checks.form import TEMPLATE
from casebook.cells import environments_cell
from casebook.cells.header import Header
from casebook.cells.repository import ROOT
from casebook.chapters import Chapter, load
from casebook.errors import WrongUse


def new(slug: str, library: str = "", exercise: bool = False) -> int:
    """Write notebook and yml, add the case to _toc.yml, and print what to do next.

    The cells run in the environment that most chapters with the library share, or in NumPy's. With
    an exercise come its task, check and solution, and its answers in the yml.

    Raises WrongUse for a name that is taken or no name for a file, and for a library that no
    chapter has; nothing is written then.
    """
    given = re.fullmatch(r"(?:(\d\d)-)?([a-z][a-z0-9.]*(?:-[a-z0-9.]+)*)", slug)
    if not given:
        raise WrongUse(f"{slug!r}: use lower-case letters, digits and hyphens, as in lost-stream")
    folder = ROOT / "notebooks"
    taken = {path.stem[:2]: path.stem for path in folder.glob("*.ipynb")}
    number, name = given[1] or free_number(taken), given[2]
    if number in taken:
        raise WrongUse(f"the number {number} is taken by {taken[number]}")
    if other := next((stem for stem in taken.values() if stem[3:] == name), ""):
        raise WrongUse(f"the name {name} is taken by {other}")
    shared = shared_environment(library) if library else {}
    path = folder / f"{number}-{name}.ipynb"
    facts, _, answers = TEMPLATE.with_suffix(".yml").read_text("utf-8").partition("answers:\n")
    facts = facts.replace("[new-", f"[{name}-") + f"answers:\n{answers}" * exercise
    path.with_suffix(".yml").write_text(facts, "utf-8")
    path.write_text(TEMPLATE.read_text("utf-8").replace('"new-', f'"{name}-'), "utf-8")
    chapter = Chapter(path)
    if not exercise:
        cells = chapter.notebook.cells
        cells[:] = [cell for cell in cells if not cell.id.startswith(f"{name}-exercise")]
    if shared:
        put_in(shared, chapter)
    chapter.write()
    list(publish.publish(load()))
    print(
        f"notebooks/{path.name}, its .yml, and a line in _toc.yml.\n"
        f"Next: edit both files, then run\n"
        f"  casebook pin {number} && casebook facts && casebook execute {number}\n"
        f"  casebook check {number} && casebook installs {number}\n"
        f"  pytest notebooks/{path.name} tests/content tests/unit/test_workshop.py -k {number}"
    )
    return 0


def shared_environment(library: str) -> dict[str, Header]:
    """The environment of a library that most chapters have, by its name; a tie is the template's.

    Raises WrongUse, with the names of all libraries, where no chapter has one.
    """
    uses = Counter(
        environments_cell.written({name: head})
        for chapter in (Chapter(TEMPLATE), *load())
        for name, head in chapter.environments().items()
    )
    libraries: dict[str, dict[str, Header]] = {}
    for text, _ in uses.most_common():
        environment = environments_cell.read(text.partition("\n")[2])
        if fits := re.fullmatch(r"([a-z-]+[a-z0-9]*)-\d[\d.]*", next(iter(environment))):
            libraries.setdefault(fits[1], environment)
    if library not in libraries:
        raise WrongUse(f"no chapter has {library!r}: name one of {', '.join(sorted(libraries))}")
    return libraries[library]


def put_in(environment: dict[str, Header], chapter: Chapter) -> None:
    """Let the cells of the chapter run in this environment instead of the template's."""
    (old,), (new,) = chapter.environments(), environment
    for cell in chapter.notebook.cells:
        cell.source = cell.source.replace(f"%%pinned {old}", f"%%pinned {new}")
        if cell.source.startswith(environments_cell.MAGIC):
            cell.source = environments_cell.written(environment)


def free_number(taken: dict[str, str]) -> str:
    """The number after the highest that is taken."""
    highest = max(map(int, taken), default=9)
    if highest == 99:
        raise WrongUse("all numbers to 99 are taken: name a free one, as in 42-lost-stream")
    return f"{highest + 1:02}"

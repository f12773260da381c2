"""`casebook pin NN`: the environments of a chapter, with every package that they need.

uv resolves, as it does for `versions`: from what the index has today, or as of the day on which the
first package of an environment was released.
"""

import dataclasses

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from casebook import chapters
from casebook.authoring.releases import index
from casebook.authoring.releases.resolve import CannotBeInstalled, InstallRequest, closure
from casebook.cells import environments_cell
from casebook.cells.header import Header
from casebook.chapters import Chapter
from casebook.environments.wheels import missing_wheels
from casebook.errors import WrongUse


def pin(name: str, as_of: str | None = None) -> int:
    """Complete the environments of a chapter in its notebook.

    Status 1 where a pin has no wheel for a Python that requires-python promises. Raises WrongUse
    for a chapter without environments, or where no set of packages fits.
    """
    (book,) = chapters.load([name])
    chapter = Chapter(book.path)
    cell = next((one for one in chapter.cells if one.names_environments), None)
    if cell is None:
        raise WrongUse(f"{chapter.name} has no cell that begins with {environments_cell.MAGIC}")
    complete = {}
    for title, head in chapter.environments().items():
        complete[title] = completed(title, head, as_of == "release")
        added = len(complete[title].dependencies) - len(head.dependencies)
        print(f"{title}: {len(complete[title].dependencies)} packages, {added} of them added")
    cell.node.source = environments_cell.written(complete)
    chapter.write()
    problems = [line for head in complete.values() for line in missing_wheels(head)]
    print("\n".join(problems), end="\n" * bool(problems))
    return bool(problems)


def completed(title: str, head: Header, as_of_release: bool) -> Header:
    """The environment with all that its packages need, for each Python that it allows."""
    pythons = [one for one in index.PYTHONS if SpecifierSet(head.requires_python).contains(one)]
    if not pythons or not head.dependencies:
        return head
    day = day_of(head) if as_of_release else None
    pins = list(head.dependencies)
    for python in sorted(pythons, key=lambda text: int(text[2:])):  # an old one has least choice
        question = InstallRequest(tuple(pins), (), (python,), day)
        try:
            answer = closure(question, python).split()
        except CannotBeInstalled as error:
            raise WrongUse(f"{title}: Python {python}: {error}; narrow requires-python") from None
        known = {canonicalize_name(Requirement(pin).name) for pin in pins}
        pins += [pin for pin in answer if canonicalize_name(Requirement(pin).name) not in known]
    return dataclasses.replace(head, dependencies=tuple(pins))


def day_of(head: Header) -> str:
    """The day on which the first package of an environment was released."""
    first = head.requirements[0]
    version = next(iter(first.specifier)).version
    for release in index.releases(first.name):
        if release.release == version:
            return release.day
    raise WrongUse(f"the index has no release {version} of {first.name}")

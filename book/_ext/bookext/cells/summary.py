"""What the header of a %%pinned cell says, in a few words: packages, Pythons, needs, outcome."""

import re
from collections.abc import Sequence

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from casebook.cells.header import Header

from .. import libraries

SUBJECTS = (  # of the book
    "nanobind",
    "numba-cuda-mlir",
    "numba-cuda",
    "numba",
    "cupy-cuda12x",
    "cuda-core",
    "cuda-bindings",
)
# Named where they make the difference between two cells.
TOOLS = ("numpy", "llvmlite", "nvrtc", "nvjitlink", "nvvm", "nvcc")
NVIDIA = re.compile(r"^nvidia-(?:cuda-)?|(?<!cuda)-cu\d+$")  # around the name of a tool
NAMED = 2  # so many packages are named
MINORS = range(8, 31)  # Python versions that a requires-python is tried with


def pins(header: Header) -> dict[str, str]:
    """Version of each package of a header, by normalised name."""
    return {canonicalize_name(r.name): next(iter(r.specifier)).version for r in header.requirements}


def packages(
    header: Header, neighbours: Sequence[Header] = (), case: Sequence[str] = ()
) -> list[str]:
    """The pins that matter: `numba 0.59.0`, at most NAMED. `case` names the case's libraries.

    First what differs from a neighbouring cell that has the same package in another version, then
    the case's library, then a tool that differs, then the book's other subjects; where there is
    none of them, the first pin.
    """
    mine = pins(header)
    others = [pins(other) for other in neighbours]
    differs = {
        name
        for name, version in mine.items()
        for other in others
        if other.get(name, version) != version
    }
    own = [name for library in case for name in libraries.LIBRARIES[library].packages]
    order = [name for name in dict.fromkeys([*own, *SUBJECTS]) if name in mine]
    tools = []
    if not differs & set(order):
        tools = [name for name in mine if name in differs and any(tool in name for tool in TOOLS)]
    order.sort(key=lambda name: name not in differs)
    names = [*order[:1], *tools, *order[1:]][:NAMED] or list(mine)[:1]
    return [f"{NVIDIA.sub('', name)} {mine[name]}" for name in names] or ["standard library"]


def pythons(header: Header) -> str:
    """`Python 3.11–3.12` for '>=3.11,<3.13'; `Python 3.11+` where there is no upper end."""
    fit = [minor for minor in MINORS if SpecifierSet(header.requires_python).contains(f"3.{minor}")]
    if not fit:
        return f"Python {header.requires_python}"
    if fit[-1] == MINORS[-1]:
        return f"Python 3.{fit[0]}+"
    return f"Python 3.{fit[0]}" + (f"–3.{fit[-1]}" if fit[-1] > fit[0] else "")


def needs(header: Header) -> list[str]:
    """What the cell needs besides packages."""
    driver = f", driver {header.driver}" if header.driver else ""
    build = [f"builds {header.build}/"] if header.build else []
    return build + ([f"GPU{driver}"] if header.gpu else [])


def outcome(header: Header) -> tuple[str, bool]:
    """What the cell must do, in a few words, and whether that is a failure."""
    if header.raises:
        return f"must raise {header.raises}", True
    if header.signal:
        return f"must die by {header.signal}", True
    if header.timeout_expected:
        return f"must hang for {header.timeout:g} s", True
    return "must exit with 0", False

"""What the header of a %%pinned cell says, in a few words: Pythons, needs, outcome."""

from packaging.specifiers import SpecifierSet

from casebook.cells.header import Header

MINORS = range(8, 31)  # Python versions that a requires-python is tried with


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

"""A cell as a class gets it: it runs as before, and does not say what will come out."""

import ast
import functools
import itertools

from casebook.cells.line import MAGIC, of_source, without_match
from casebook.errors import HeaderError

# What an assert may call and be left out: it looks at values and does nothing else.
PURE = {"abs", "all", "allclose", "any", "array_equal", "isinstance", "len", "max", "min", "set"}
PURE |= {"round", "sorted", "sum", "tuple", "list", "dict", "endswith", "startswith", "count"}


@functools.cache  # a cell is compared with those of all chapters
def for_class(source: str) -> str:
    """Source without the expected message, and without the asserts that end it.

    They stay where nothing else would show a result, where they are what the cell is about, and
    where they do more than to compare.
    """
    source = without_match(source)
    if "assert" not in source or "print(" not in source:
        return source
    lines = source.splitlines(keepends=True)
    try:
        if source.startswith(MAGIC) and of_source(source).options.get("raises") == "AssertionError":
            return source
        tree = ast.parse("".join("\n" if line[:1] in "%!" else line for line in lines))
    except (SyntaxError, HeaderError):
        return source
    last = [*itertools.takewhile(only_compares, reversed(tree.body))]
    first = last[-1].lineno - 1 if last else len(lines)
    alone = not last or lines[first].startswith("assert")
    return "".join(lines[:first]).rstrip("\n") + "\n" * source.endswith("\n") if alone else source


def only_compares(statement: ast.stmt) -> bool:
    """Whether it is an assert that calls nothing but pure functions, and gives no name."""
    return isinstance(statement, ast.Assert) and all(
        not isinstance(node, ast.NamedExpr)
        and (not isinstance(node, ast.Call) or ast.unparse(node.func).split(".")[-1] in PURE)
        for node in ast.walk(statement)
    )

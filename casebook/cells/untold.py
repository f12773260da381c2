"""A cell as a class gets it: it runs as before, and does not say what will come out."""

import ast
import functools
from collections.abc import Iterator

from casebook.cells.line import MAGIC, of_source, without_match
from casebook.errors import HeaderError


@functools.cache  # a cell is compared with those of all chapters
def untold(source: str) -> str:
    """Source without the expected message, and without its asserts where it prints something."""
    return _without_asserts(without_match(source))


def _without_asserts(source: str) -> str:
    if "assert" not in source:
        return source
    written = source.splitlines()
    lines = list(written)
    try:
        if source.startswith(MAGIC) and of_source(source).options.get("raises") == "AssertionError":
            return source
        tree = ast.parse("\n".join("" if line[:1] in "%!" else line for line in lines))
    except (SyntaxError, HeaderError):
        return source
    shown = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _prints(n)]
    if not shown or any(n.args and all(isinstance(a, ast.Constant) for a in n.args) for n in shown):
        return source  # it would show nothing, or say what it no longer asserts
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    if any(_works(node, own) for one in asserts for node in ast.walk(one)):
        return source  # it does more than to assert
    for block in _blocks(tree):
        told = [one for one in block if isinstance(one, ast.Assert)]
        for one in told:
            first, last = one.lineno - 1, one.end_lineno or one.lineno
            alone = lines[first].lstrip().startswith("assert")
            if not alone or any(b is not one and b.lineno == last for b in block):
                return source  # it shares its line
            lines[first:last] = [""] * (last - first)
            if len(told) == len(block) and one is told[0]:
                lines[first] = " " * one.col_offset + "pass"
    kept = [line for line, was in zip(lines, written, strict=True) if line or not was.strip()]
    return "\n".join(kept) + "\n" * source.endswith("\n")


def _prints(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("print", "display")


def _works(node: ast.AST, own: set[str]) -> bool:
    """Whether a part of an assert gives a name, or calls a function of the cell."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in own
    return called or isinstance(node, ast.NamedExpr)


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a tree."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(node, name, None), list):
                yield block

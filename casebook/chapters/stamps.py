"""The stamp of a cell: hashes of all that made its output.

`own` covers its source, the environment that its first line names, the helper modules that it
imports, the folder that it builds, and, for a cell of the kernel that uses a GPU library, the pins
of these libraries. `taken` covers the same of the earlier cells that it takes something from: those
that define a name which it uses, or share its folder, and what these take in turn.
"""

import ast
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from casebook.cells import environments_cell, line
from casebook.cells.hashes import digest, of_outputs, tree
from casebook.cells.repository import ADDRESS, ROOT
from casebook.chapters.chapter import Cell, Chapter
from casebook.errors import HeaderError
from casebook.execution.modules import imported, sources

EVERY_SCRIPT = "sitecustomize"  # loaded by each %%pinned cell without an import
GPU_LIBRARY = re.compile(r"\b(?:numba|cupyx?|cuda|llvmlite|nanobind)\b")


@dataclass(frozen=True)
class Stamp:
    """`taken` is empty for a cell that takes nothing; `givers` are the cells it takes from, each
    with the names of what it gives, of which those that come through others have none."""

    own: str
    taken: str
    givers: Mapping[int, tuple[str, ...]]

    def __str__(self) -> str:
        return f"{self.own}+{self.taken}" if self.taken else self.own

    def fits(self, stored: str) -> bool:
        """Whether a receipt's entry for the cell was made from the same."""
        return stored.partition(" ")[0] == str(self)

    def fits_own(self, stored: str) -> bool:
        """The same of the cell alone, whatever it takes."""
        return stored.partition(" ")[0].partition("+")[0] == self.own


def stamps(chapter: Chapter) -> dict[str, Stamp]:
    """The stamp of each code cell, by the cell's id."""
    texts, pins = sources(), gpu_pins()
    own = {cell.number: own_hash(cell, texts, pins) for cell in chapter.cells}
    from_cells = givers(chapter.cells)
    found = {}
    for cell in chapter.cells:
        gave = from_cells[cell.number]
        taken = digest(str([own[number] for number in sorted(gave)])) if gave else ""
        found[cell.node.id] = Stamp(own[cell.number], taken, gave)
    return found


def entries(chapter: Chapter) -> dict[str, str]:
    """What a receipt says of each cell: its stamp and the hash of its output."""
    made = stamps(chapter)
    return {cell.node.id: entry(cell, made[cell.node.id]) for cell in chapter.cells}


def entry(cell: Cell, stamp: Stamp) -> str:
    return f"{stamp} {of_outputs(cell.node.outputs)}"


def own_hash(cell: Cell, texts: Mapping[str, str], pins: list[str]) -> str:
    """Spaces at the ends of lines and the address of the repository do not count; of the cell that
    names all environments counts the magic alone."""
    source = environments_cell.MAGIC if cell.names_environments else cell.source
    parts = [text.rstrip() for text in source.replace(ADDRESS, "ADDRESS").rstrip().splitlines()]
    if cell.header and line.of_source(cell.source).name:
        parts.append(cell.header.facts)
    modules = imported(source, texts)
    if cell.pinned:
        modules[EVERY_SCRIPT] = texts[EVERY_SCRIPT]
    elif cell.needs_gpu or any(map(GPU_LIBRARY.search, (source, *modules.values()))):
        parts += pins
    parts += [f"{name} {digest(text)}" for name, text in sorted(modules.items())]
    if cell.header and cell.header.build:
        parts.append(tree(ROOT / cell.header.build))
    return digest("\n".join(parts))


def gpu_pins() -> list[str]:
    """Pins of the libraries that chapters run on: the extra `gpu` of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project["optional-dependencies"]["gpu"]


def givers(cells: list[Cell]) -> dict[int, dict[int, tuple[str, ...]]]:
    """For each cell the earlier ones that it takes from, and the names that it takes."""
    names = {cell.number: Names(cell) for cell in cells}
    found: dict[int, dict[int, tuple[str, ...]]] = {}
    for cell in cells:
        direct: dict[int, list[str]] = {}
        for name in sorted(names[cell.number].used):
            for giver in reversed(cells[: cell.number - 1]):
                changes = names[giver.number]
                if name in changes.defined | changes.altered:
                    direct.setdefault(giver.number, []).append(name)
                    if name in changes.defined:
                        break
        through = {number: () for giver in direct for number in found[giver]}
        found[cell.number] = through | {number: tuple(what) for number, what in direct.items()}
    return found


class Names(ast.NodeVisitor):
    """The names of the notebook that a cell uses, defines, and alters without defining them anew.

    A folder that %%pinned cells share is a name, too. What a function of a cell uses, the cell
    uses, and so does whoever takes the function from it. A name that the cell itself has bound on
    every way to its use does not count as used.
    """

    def __init__(self, cell: Cell) -> None:
        self.used: set[str] = set()
        self.defined: set[str] = set()
        self.altered: set[str] = set()
        self.scopes: list[set[str]] = [set()]  # bound so far: by the cell, by its functions
        if cell.pinned:
            self.read_line(cell)
        elif not cell.names_environments:
            self.visit(parsed(cell.source))

    def read_line(self, cell: Cell) -> None:
        try:
            options = line.of_source(cell.source)
        except HeaderError:  # a problem of its own
            return
        if options.folder:
            self.used.add(f"folder {options.folder}")
            self.altered.add(f"folder {options.folder}")
        if options.out:
            self.defined.add(options.out)

    def bind(self, name: str) -> None:
        self.scopes[-1].add(name)
        if len(self.scopes) == 1:
            self.defined.add(name)

    def visit_all(self, *parts: Any) -> None:
        for part in parts:
            for node in part if isinstance(part, list) else [part]:
                if node is not None:
                    self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bind(node.id)
        elif not any(node.id in scope for scope in self.scopes):
            self.used.add(node.id)

    def visit_alias(self, node: ast.alias) -> None:
        self.bind((node.asname or node.name).partition(".")[0])

    def visit_Subscript(self, node: ast.Subscript | ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and not isinstance(node.ctx, ast.Load):
            self.altered.add(node.value.id)
        self.generic_visit(node)

    visit_Attribute = visit_Subscript

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit_all(node.value, node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign | ast.NamedExpr) -> None:
        self.visit_all(node.value, node.target)

    visit_NamedExpr = visit_AnnAssign

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.visit(ast.Name(node.target.id, ast.Load()))
        self.visit_all(node.value, node.target)

    def visit_sometimes(self, *parts: Any) -> None:
        """What may not run at all binds nothing for what follows."""
        before = set(self.scopes[-1])
        self.visit_all(*parts)
        self.scopes[-1] = before

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.visit_sometimes(node.target, node.body)
        self.visit_sometimes(node.orelse)

    def visit_If(self, node: ast.If | ast.While) -> None:
        self.visit(node.test)
        self.visit_sometimes(node.body)
        self.visit_sometimes(node.orelse)

    visit_While = visit_If

    def visit_Try(self, node: ast.Try) -> None:
        self.visit_sometimes(node.body, node.orelse)
        for handler in node.handlers:
            self.visit_sometimes(handler)
        self.visit_all(node.finalbody)

    def visit_inside(self, bound: set[str], *parts: Any) -> None:
        self.scopes.append(bound)
        self.visit_all(*parts)
        self.scopes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.bind(node.name)
        self.visit_all(node.decorator_list, node.args.defaults, node.args.kw_defaults)
        self.visit_inside(own_names(node), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit_all(node.args.defaults, node.args.kw_defaults)
        self.visit_inside(own_names(node), node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bind(node.name)
        self.visit_all(node.decorator_list, node.bases, node.keywords)
        self.visit_inside(set(), node.body)

    def visit_ListComp(self, node: Any) -> None:
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        parts = [part for one in node.generators for part in (one.iter, one.target, one.ifs)]
        self.visit_inside(set(), *parts, results)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp


def own_names(function: ast.AST) -> set[str]:
    """The parameters of a function, and what its body assigns."""
    nodes = list(ast.walk(function))
    outer = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    stored = (
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return {*stored, *(node.arg for node in nodes if isinstance(node, ast.arg))} - outer


def parsed(source: str) -> ast.Module:
    """The tree of a cell, its magics left out. Empty for a cell that is no Python."""
    code = re.sub(r"(?m)^([ \t]*)[%!].*$", r"\1pass", source)
    try:
        return ast.parse(code)
    except SyntaxError:
        return ast.Module([], [])

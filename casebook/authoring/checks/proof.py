"""What a fault tells to do is what the cells of its `proof` run: its values, calls and names."""

import re
from collections.abc import Iterator

from casebook.chapters import Chapter
from casebook.chapters.chapter import Cell

# Code, behind words that tell that it is to go.
CODE = re.compile(
    r"(?i)(\b(?:instead of|in place of|for|rather than|not|never|don't|remove|delete the argument)"
    r"(?: use| the| let)?\s*)?`([^`]+)`"
)
# What the rows of the installs prove, and bare packages and extras.
INSTALL = re.compile(
    r"`(?:(?:\S*/)?(?:uv )?pip (?:install|list)[^`]*|conda [^`]*|cupy-cuda\d+x"
    r"|\"[\w-]+(?:\[\w+\])?[<>=][^`]*|\[?cu\d+\]?)`"
)
PAIR = r"\w+=(?!=|…|[A-Za-z]\b)(?:[\w.]*\([^()]*\)|[^\s,()\[\]{}]+)"
CALL = r"\w+\((?:(?:'[^'…]*'|-?\d[\d.]*|True|False|None),?)+\)"
# Dotted, behind the variable if that has one letter, or of three letters or more; neither Python's
# word nor what stands for a reader's own.
NAME = (
    r"(?:(?<!\.)|(?<=\b[a-z]\.)|(?<=[)\]]\.))"
    r"(?![a-z]\.|(?:assert|signature|code|name|python|program)\b)"
    r"(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w{2,})"
)
PART = re.compile(rf"(?<!\w)(?=({PAIR}|{CALL}|{NAME}))")


def proof_problems(chapter: Chapter) -> Iterator[str]:
    """Ends of sentences about faults whose cure is not what the cells of their proof run."""
    cells = {cell.node["id"]: plain(cell.source) for cell in chapter.cells if runs(cell)}
    for fault in chapter.facts.faults:
        start = f", {chapter.name}.yml: fault {fault.id}:"
        pieces = CODE.findall(INSTALL.sub("", fault.do))
        if pieces and not fault.proof:
            yield f"{start} add `proof`: ids of the cells that run what to `do`, or why none does"
        if not fault.proof or isinstance(fault.proof, str):
            continue
        for name in set(fault.proof) - cells.keys():
            yield f"{start} proof: {name!r} is no code cell that all readers run and that succeeds"
        run = "\n".join(cells.get(name, "") for name in fault.proof)
        for old, code in pieces:
            for part in PART.findall(plain(code)):
                # `…` stands for anything
                stands = re.search(rf"\b{re.escape(part).replace('…', '.*?')}(?!\w)", run)
                if bool(old) == bool(stands) and ("=" in part or not old):
                    how = "runs" if old else "does not run"
                    yield f"{start} `do` has {part!r}, which its proof {how}"


def runs(cell: Cell) -> bool:
    """Whether everybody who runs the notebook runs a cell, to its end."""
    head = cell.header
    fails = head and (head.raises or head.signal or head.timeout_expected)
    return not fails and not {"exercise", "check", "solution"} & set(cell.tags)


def plain(code: str) -> str:
    """Code without comments, spaces around signs, and differences between quotes."""
    code = re.sub(r"(?m)(^|\s)# .*", "", code).replace('"', "'")
    return re.sub(r" *([=,()\[\]+*/%<>|&-]) *", r"\1", code)

"""The form of a page: its answer first, and lengths that a visitor and a student can read."""

import ast
import re
import textwrap
from collections.abc import Iterator

from packaging.requirements import Requirement

from casebook.authoring.checks.card import INSTALLED, let_in, typos
from casebook.chapters import Chapter
from casebook.chapters.card import CARD
from casebook.chapters.facts import Fault
from casebook.chapters.questions import QUESTION

NOW = "## If you have this now\n"
BLOCK = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
COMMENT = re.compile(r"(?s)<!--.*?-->")
WORDS = {"chapter": 4500, "short case": 1400}  # without the card


def page_problems(chapter: Chapter) -> Iterator[str]:
    texts = [cell.source for cell in chapter.notebook.cells if cell.cell_type == "markdown"]
    kind = "chapter" if chapter.long else "short case"
    yield from too_long(kind, CARD.sub("", "\n".join(texts)))
    yield from sections_without_gpu(chapter)
    second = "".join(cell.source for cell in chapter.notebook.cells[1:2])
    if second.startswith(NOW):
        yield from now_problems(chapter, second.removeprefix(NOW))
    else:
        yield f": its second cell does not begin with the line {NOW.strip()!r}"


def now_problems(chapter: Chapter, text: str) -> Iterator[str]:
    """What is to be copied is one block, and one of the cells runs it if it is Python."""
    blocks = BLOCK.findall(text)
    if [language for language, _ in blocks] not in (["bash"], ["python"]):
        yield ", If you have this now: must contain exactly one ```bash or ```python block"
    for language, block in blocks:
        if language == "bash":
            yield from (
                f", If you have this now: {one}" for one in install_problems(chapter, block)
            )
        if language == "python":
            yield from code_of_block(chapter, block)


def code_of_block(chapter: Chapter, block: str) -> Iterator[str]:
    """Python to copy is complete, and a cell has its lines one after the other."""
    try:
        ast.parse(textwrap.dedent(block))
    except SyntaxError as error:
        yield f", If you have this now: its block is no Python, line {error.lineno}: {error.msg}"
    wanted = f"\n{bare(block)}\n"
    if not any(wanted in f"\n{bare(cell.body)}\n" for cell in chapter.cells):
        yield ", If you have this now: no cell runs the lines of its block as they stand"


def sections_without_gpu(chapter: Chapter) -> Iterator[str]:
    """Where a page promises cells that run without a GPU, it has one."""
    cells, inside, found = {cell.node.id: cell for cell in chapter.cells}, False, []
    for node in chapter.notebook.cells:
        if node.cell_type == "markdown":
            headings = re.findall(r"(?m)^## (.+)$", node.source)
            inside = headings[-1] == "Without a GPU" if headings else inside
        elif inside:
            found.append(cells[node.id])
    if found and all(cell.needs_gpu for cell in found):
        yield ", Without a GPU: every cell of this section needs one"


def install_problems(chapter: Chapter, block: str) -> Iterator[str]:
    """Packages that the block names wrongly, and releases with the fault that it lets in."""
    yield from (f"the block {problem}" for problem in typos(block))
    for line in block.splitlines():
        if "pip install" not in line:
            continue
        for requirement in map(Requirement, INSTALLED.findall(line)):
            for fault in filter(avoidable, chapter.facts.faults):
                for bad in let_in(fault, requirement):
                    yield f"the block lets {requirement.name} {bad} in, which has {fault.id}"


def avoidable(fault: Fault) -> bool:
    """Whether one package's release decides, and some release is without the fault."""
    return not fault.beside and not any(releases.at_risk for releases in fault.affected)


def bare(code: str) -> str:
    """Code without its indentation and empty lines."""
    return "\n".join(line.strip() for line in code.splitlines() if line.strip())


def too_long(what: str, text: str) -> Iterator[str]:
    if (count := len(COMMENT.sub("", QUESTION.sub("", text)).split())) > WORDS[what]:
        yield f", {what}: {count} words, at most {WORDS[what]}"

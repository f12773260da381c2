"""The messages of the book: what a reader may paste, what it says, and where the book shows it.

They come from the facts of the cases (the faults' messages, and wordings seen elsewhere) and from
the failing cells with their stored outputs. In a message `…` stands for what differs from reader
to reader.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from casebook.cells.header import Header
from casebook.chapters import Cell, Chapter

from .. import libraries
from .general import General, general

OWN = ("The symptom", "Without a GPU")  # sections whose failures are the case itself
FOLDED = re.compile(r"… \d+ frames? in (.*)")
TYPE = re.compile(r"^(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning): ")
SUGGESTED = re.compile(r"\. Did you mean: '\w+'\?$")  # by Python, from 3.12 on for modules
PLACE = re.compile(r"^\S+\(\d+\): ")  # of a compiler: `default_program(5): `
TYPES = re.compile(r"\b[Aa]rray\([^()]*\)|\b(?:u?int|float|complex)\d+\b|0x…|\$…|/tmp/\S+")
WORD = re.compile(r"[A-Za-z_][\w:]*")
CALLED = re.compile(r"Call to \w+ results in|<CUresult\.|CUDA_ERROR_|cudaError")
IDENTIFIER = re.compile(r"[A-Za-z]_+[A-Za-z]|^_|[a-z][A-Z]|[A-Z]{2}[a-z]|::")
IMPORTED = re.compile(r"import name '(\w+)'")
COMMON = set(
    re.findall(
        r"\w+",
        """
a an and are argument arguments as at attribute be but by cannot class division does error
exactly expected failed for found from function given got has import in index int float instance
is it keyword list missing module name no none nonetype not object of on or out positional range
required str takes that the this to type types unexpected was with zero cuda cupy numpy numba
python
""",
    )
)
COMPILER = re.compile(
    r"^CompileException|\berror: |source file|Unsupported \.version|File uses too much|"
    r"^ptxas|^nvlink"
)
MODULE = re.compile(r"module '(\w+)[\w.]*' has no attribute")
SHORT = 10  # letters of a message that are too few to be searched without its type
# Words of Python and of CUDA, which any library may pass on.
VAGUE = re.compile(
    r"object has no attribute|^got an unexpected|an exception set|"
    r"CUDA_ERROR_|cudaError[A-Z]|NoneType"
)
CALL = re.compile(r"\(\) (?:got an unexpected keyword argument|missing \d+ required|takes )")


@dataclass
class Message:
    """One thing that a reader may see.

    text       the words as they are shown
    said       the words as they are searched: without the exception's type, which a log may omit
    level      2: they tell this fault from others; 1: they need a frame of the library; 0: any
               program may print them
    own        whether they are the case itself; else they stand beside it
    libraries  whose frames they come with: those with the fault, if a card has the message
    wider      what else may print these words: the other libraries of the case, another module
    needs      whether they were raised outside of these libraries, and say nothing without them
    signal     a signal's name, where a process died by it
    condition  what must be true beside, in words
    compiler   whether a compiler says it: then the source must be the library's
    cells      as (number, section) the cells that show it
    link       where it was seen elsewhere
    fault      id of the fault whose card has it, if any
    general    id of the general error that says the same, if any
    """

    text: str
    said: str = ""
    level: int = 1
    own: bool = True
    libraries: list[str] = field(default_factory=list)
    wider: list[str] = field(default_factory=list)
    needs: bool = False
    signal: str = ""
    condition: str = ""
    compiler: bool = False
    cells: list[tuple[int, str]] = field(default_factory=list)
    link: str = ""
    fault: str = ""
    general: str = ""


def messages(chapter: Chapter) -> list[Message]:
    """The messages of a chapter, each once: of its cells, its faults, and those seen elsewhere."""
    subjects = libraries.of_chapter(chapter)
    card = {words: fault for fault in chapter.facts.faults for words in fault.messages}
    found: dict[str, Message] = {}
    for cell, section in sections(chapter):
        if cell.header and (cell.header.raises or cell.header.signal):
            made = ending(cell, cell.header, subjects)
            if not made.level and not made.signal:  # everyday words, or a check of the book's own
                continue
            message = found.setdefault(made.text, made)
            message.own = (
                bool(message.cells and message.own)
                or section in OWN
                or any(words in made.text for words in card)
            )
            message.cells.append((cell.number, section))
    wordings = [from_words(words, subjects) for words in card]
    for seen in chapter.sidecar.get("wordings", ()):
        text, condition = seen["text"].strip(), seen.get("if", "")
        wordings.append(from_words(text, subjects, seen["link"], condition))
    for message in wordings:
        found.setdefault(message.text, message)
    for message in found.values():
        message.compiler = bool(COMPILER.search(message.text))
        message.general = next((one.id for one in general() if says_no_more(message, one)), "")
        text = TYPES.sub("…", message.text)
        if fault := next((card[words] for words in card if TYPES.sub("…", words) in text), None):
            message.fault = fault.id
            message.needs = message.needs and message.level < 2
            packages = ", ".join(releases.package for releases in fault.affected)
            if home := [name for name in libraries.of_text(packages) if name in message.libraries]:
                message.wider = [name for name in message.libraries if name not in home]
                message.libraries = home
        if len(re.sub("[^A-Za-z]", "", message.said)) < SHORT:
            message.said = message.text
        # Anybody's code may ask a module for what it lacks.
        lacking = MODULE.findall(message.text)
        if not libraries.of_packages(lacking):
            message.wider = [*message.wider, *lacking]
    return list(found.values())


def says_no_more(message: Message, general: General) -> bool:
    """Whether a message has the words of a general error, and none of weight beside."""
    words = re.compile(general.words, re.IGNORECASE)
    rest = CALLED.sub("", words.sub("", message.said))
    return bool(words.search(message.text)) and weight(rest) < 2


def sections(chapter: Chapter) -> Iterator[tuple[Cell, str]]:
    """Each code cell with the heading of the section that it stands in."""
    numbered, section = iter(chapter.cells), ""
    for node in chapter.notebook.cells:
        if node.cell_type == "code":
            yield next(numbered), section
        else:
            section = (re.findall(r"(?m)^## (.+)$", node.source) or [section])[-1]


def ending(cell: Cell, header: Header, subjects: list[str]) -> Message:
    """What a failing cell ends with."""
    if header.signal:
        return Message(
            f"killed by {header.signal}", own=False, libraries=subjects[:1], signal=header.signal
        )
    kind = header.raises or ""
    raised = cell.text.rpartition("Traceback (most recent call last):\n")[2]
    message = SUGGESTED.sub("", line_of(last_message(raised), header.match))
    folded = [name for names in FOLDED.findall(raised) for name in names.split(", ")]
    # The package that the exception's type belongs to.
    home = re.findall(rf"(?m)^(\w+)\.[\w.]*\b{kind}\b", raised)
    within = libraries.of_packages([*folded, *home])
    bare = anonymous(message, cell)
    text = f"{kind}: {bare}" if message else kind
    if not within and kind == "AssertionError":  # the cell's own check, in the book's own words
        return Message(text, level=0)
    within = [name for name in within if name in subjects] or within
    return Message(
        text,
        bare or text,
        level(bare),
        own=False,
        libraries=within or (subjects if message else []),
        needs=not within and not CALL.search(bare),
    )


def last_message(raised: str) -> str:
    """Message of the exception that a traceback ends with."""
    found = re.search(r"(?ms)^[\w.]+: (.*?)\n*^(?:exit status 1|as expected: .*)$", raised)
    found = found or re.search(r"(?ms)^[\w.]+(?:Error|Exception|Warning)\w*: (.*)", raised)
    return found[1].strip() if found else ""


def line_of(message: str, match: str | None) -> str:
    """The line of a message that its header's pattern begins in; without one its first two."""
    found = match and re.search(match, message, re.DOTALL)
    if found:
        return message[message.rfind("\n", 0, found.start()) + 1 :].splitlines()[0].strip()
    return "" if match else "\n".join(message.splitlines()[:2])


def anonymous(text: str, cell: Cell) -> str:
    """A message without the reader's own: types of arrays, places in a file, names of the cell."""
    try:
        tree = ast.parse(cell.body)
    except SyntaxError:
        tree = ast.Module([], [])
    own = {
        getattr(node, "name", None) or getattr(node, "arg", None)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.arg))
    }
    text = TYPES.sub("…", PLACE.sub("", text))
    return re.sub(
        r"(?<=')\w+(?=')|(?<=<function )\w+", lambda word: "…" if word[0] in own else word[0], text
    )


def weight(text: str) -> int:
    """A library's names weigh most, common words nothing."""
    words = [
        word
        for word in WORD.findall(text.replace("…", " "))
        if word.lower() not in COMMON and len(word) > 1
    ]
    names = {word for word in words if IDENTIFIER.search(word)} | {*IMPORTED.findall(text)}
    return sum((3 if word.isupper() else 4) if word in names else 1 for word in words)


def level(text: str) -> int:
    """The level of words, by their weight."""
    weighed = weight(text)
    return 2 if weighed >= 4 and not VAGUE.search(text) else 1 if weighed >= 2 else 0


def from_words(words: str, subjects: list[str], link: str = "", condition: str = "") -> Message:
    """A message that is given by its words."""
    bare = PLACE.sub("", TYPE.sub("", words))
    names_module = any(f"'{name}" in bare for one in subjects for name in packages(one))
    least = 1 if condition and "…" in bare and names_module else 0  # which name is missing, is open
    return Message(
        words, bare, max(level(bare), least), libraries=subjects, link=link, condition=condition
    )


def packages(library: str) -> Sequence[str]:
    """What a library is imported as."""
    return libraries.LIBRARIES[library].folded

"""Below a case's first answer: what its install lines do in the environments that readers have."""

from collections.abc import Iterator
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

from casebook.chapters import Chapter, installs
from casebook.chapters.evidence import grouped
from casebook.chapters.installs import NOT_NEEDED, Host, Trial

from . import notebook

FOLD = """<details class="installs"><summary><code>{line}</code> where you are</summary>
<table class="table"><thead><tr><th>Environment</th><th>What to run there</th></tr></thead>
<tbody>{rows}</tbody></table></details>"""
ROW = "<tr><td>{where}</td><td>{run}<br>{changes}</td></tr>"


def show_installs(app: Sphinx, tree: nodes.document) -> None:
    """Add the trials of the lines after the block to copy, the first one of the page."""
    chapter = notebook.chapter(tree)
    block = next(tree.findall(nodes.literal_block), None)
    if not chapter or not block or not (found := list(trials(chapter))):
        return
    app.env.note_dependency(str(installs.stored()))
    parts = [sentence(chapter, found[0][1]), *(fold(chapter, *one) for one in found)]
    place = block.parent if isinstance(block.parent, nodes.container) else block
    place.parent.insert(place.parent.index(place) + 1, notebook.html("\n".join(parts)))


def trials(chapter: Chapter) -> Iterator[tuple[str, list[tuple[Host, Trial]]]]:
    """The lines of a chapter, those of the first answer first, each with its trials."""
    hosts, known = installs.hosts(), installs.trials()
    lines = installs.of_chapter(chapter)
    for line in sorted(lines, key=lambda line: line not in installs.answer(chapter)):
        found = [
            (host, known[line, host.id]) for host in hosts.values() if (line, host.id) in known
        ]
        if found:
            yield line, found


def sentence(chapter: Chapter, found: list[tuple[Host, Trial]]) -> str:
    """When the line was tried, and what to run beside PyTorch if that is something else."""
    day = max(trial.date for _, trial in found)
    parts = [f"We resolved this line in {len(found)} environments on {day}."]
    for host, trial in found:
        if host.id in ("torch-cuda-13", "torch-cuda-12") and trial.run not in ("", trial.line):
            parts.append(f"Next to {escape(host.title)}, run {advice(chapter, host, trial)}.")
    return f'<p class="installs">{" ".join(parts)}</p>'


def fold(chapter: Chapter, line: str, found: list[tuple[Host, Trial]]) -> str:
    """The trials of a line as a table, a row for the environments in which it does the same."""
    same = grouped(((advice(chapter, *one), changes(one[1])), one[0].title) for one in found)
    rows = "".join(
        ROW.format(where=sentence_case(escape("; ".join(titles))), run=run, changes=changed)
        for (run, changed), titles in same.items()
    )
    return FOLD.format(line=escape(line), rows=rows)


def sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def advice(chapter: Chapter, host: Host, trial: Trial) -> str:
    """What to run in a host, in HTML."""
    if trial.run:
        return f"<code>{escape(trial.run)}</code>"
    if trial.problem == NOT_NEEDED:
        return "nothing, because it does not have the fault"
    instructions = (f.installs[host.id] for f in chapter.facts.faults if host.id in f.installs)
    return f"{code(next(instructions, host.instead))} ({escape(trial.problem)})"


def changes(trial: Trial) -> str:
    """The packages that change: each that is replaced, and of the others those of the line."""
    if not trial.run:
        return ""
    names = {one.name for one in installs.requirements(trial.run)}
    replaced = [f"{name} {text}" for name, text in trial.changes.items() if "→" in text]
    added = {name: text for name, text in trial.changes.items() if "→" not in text}
    known = [f"{name} {text}" for name, text in added.items() if name in names]
    if more := len(added) - len(known):
        known = [f"{', '.join(known)} and {more} more" if known else f"{more} packages"]
    parts = [f"replaces {', '.join(replaced)}"] if replaced else []
    parts += [f"adds {', '.join(known)}"] if known else []
    return escape("; ".join(parts) or "changes nothing")


def code(text: str) -> str:
    """Markdown with code alone, as HTML."""
    parts = escape(text, quote=False).split("`")
    return "".join(f"<code>{p}</code>" if n % 2 else p for n, p in enumerate(parts))


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", show_installs)

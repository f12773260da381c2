"""The page *Found here*: the entries of book/found/, the worst first, through the directive
`found`.
"""

from html import escape
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.chapters import Chapter
from casebook.reports import Entry, Run, entries, runs
from casebook.reports.entry import FOLDER, HARMS, KINDS, RUNS
from casebook.reports.issue import issue

from . import notebook
from .cells.export import LINK, markup

ISSUE = """
<div class="export"><button type="button" data-copies="issue-{name}">Copy as issue</button>
<span role="status"></span></div>
<details class="issue"><summary>The issue, to be copied</summary>
<pre id="issue-{name}" tabindex="0">{text}</pre></details>
"""


class Found(SphinxDirective):
    """A section for each harm, and in it one for each entry."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(RUNS))
        last = {(run.name, run.pin): run for run in runs()}
        chapters = {notebook.number(one.name): one for one in notebook.chapters(self.env)}
        sections: list[nodes.Node] = []
        for harm, some in groupby(entries(), lambda entry: entry.harm):
            section = nodes.section("", nodes.title("", HARMS[harm]), ids=[f"harm-{harm}"])
            for entry in some:
                self.env.note_dependency(str(FOLDER / f"{entry.name}.yml"))
                others = [run for (name, pin), run in last.items() if name == entry.name and pin]
                section += self.entry(entry, last.get((entry.name, "")), others, chapters)
            sections.append(section)
        return sections

    def entry(
        self, entry: Entry, run: Run | None, others: list[Run], chapters: dict[str, Chapter]
    ) -> nodes.section:
        title = nodes.title("", "", *self.parse_inline(entry.title)[0])
        section = nodes.section("", title, ids=[entry.name])
        section += self.parse_text_to_nodes(text(entry, run, others))
        if entry.case:
            section += proof(self, entry, chapters[entry.case])
        if entry.program and entry.kind == "bug":
            report = escape(issue(entry, run))
            section += notebook.html(ISSUE.format(name=entry.name, text=report))
        return section


def text(entry: Entry, run: Run | None, others: list[Run]) -> str:
    """The entry in Markdown, without its title and its links into the book."""
    parts = [f"*{KINDS[entry.kind]}* · {entry.versions}", entry.about]
    parts += [
        f"**No longer:** {one.pin} prints what is right ({one.date})."
        for one in others
        if one.outcome == "right"
    ]
    if entry.program:
        parts.append(f"```python\n{entry.program}```")
        parts.append(f"It prints:\n\n```text\n{entry.prints}```")
        parts.append(f"{entry.expected} So it would print:\n\n```text\n{entry.right}```")
    else:
        parts.append(entry.expected)
    parts += [
        entry.cause and f"**Cause:** {entry.cause}",
        entry.workaround and f"**Meanwhile:** {entry.workaround}",
        f"**Upstream:** {entry.known}",
    ]
    if run:
        parts.append(f"Last run on {run.date}, {run.gpu or 'without a GPU'}.")
    return "\n\n".join(filter(None, parts))


def proof(directive: SphinxDirective, entry: Entry, chapter: Chapter) -> nodes.Node:
    """The case that tells the entry, and its cells as files."""
    parts: list[str | nodes.Node] = ["More in "]
    parts.append(notebook.link(directive.env, chapter, "", f"case {entry.case}"))
    for cell in chapter.cells:
        if cell.node["id"] in entry.cells:
            parts += [" · ", notebook.html(markup(LINK, chapter, cell))]
    return notebook.element(nodes.paragraph, *parts)


def setup(app: Sphinx) -> None:
    app.add_directive("found", Found)

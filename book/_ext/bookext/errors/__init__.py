"""Find your error: the box that matches a pasted text with the book's messages (`find-error`), and
the list of all of them (`error-index`), which needs no script.

The box is errors.js and match.js. They search cases.js, which the build writes: a script, so that
it loads from a disk too.
"""

import json
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.chapters import Chapter, card

from .. import libraries, notebook
from . import packages
from .general import answers, general
from .messages import Message, messages

BOX = """<form class="lookup" role="search" aria-label="Find your error">
<label for="traceback">Paste a traceback or a <code>pip list</code>, or say what you see</label>
<textarea id="traceback" rows="{rows}" spellcheck="false" autocomplete="off"
 placeholder="TypeError: … or: my kernel never ends"
 aria-describedby="traceback-note"></textarea>
<div class="answer" role="status" aria-live="polite"></div>
<p id="traceback-note">It is matched in this page. Nothing that you paste leaves it.</p>
<template><section class="finding unknown">
<p class="mark">Say more</p>
<p>It is probably not in this book. Ask in the issues of <span class="where">the library that raised
it</span>, with the whole traceback, your <code>pip list</code> and <code>nvidia-smi</code>, and the
smallest program that shows it. The <a href="{doctor}">doctor</a> finds known faults without a
message. If you know a release with the problem and one without,
<a href="{report}">report it here</a>, too.</p>
<div class="near"></div>
</section></template>
</form>
<script defer src="../_static/vendor/minisearch-7.2.0.js"></script>
<script defer src="../_static/match.js"></script>
<script defer src="../_static/nearest.js"></script>
<script defer src="../_static/packages.js"></script>
<script defer src="../_static/cases.js"></script>
<script defer src="../_static/machine.js"></script>
<script defer src="../_static/environment.js"></script>
<script defer src="../_static/errors.js"></script>
"""


class FindError(SphinxDirective):
    """The box."""

    required_arguments = 1  # lines of the box

    def run(self) -> list[nodes.Node]:
        report = f"{self.config.html_theme_options['repository_url']}/issues/new"
        page = self.env.app.builder.get_relative_uri(self.env.docname, "book/run")
        doctor = f"{page}#check-your-machine"
        box = BOX.format(report=escape(report), doctor=doctor, rows=self.arguments[0])
        return [notebook.html(box)]


class ErrorIndex(SphinxDirective):
    """A section for the general errors, and one for each case with its messages."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        cases = [(chapter, messages(chapter)) for chapter in notebook.chapters(self.env)]
        return [self.general(), self.answers(), *(self.section(*case) for case in cases)]

    def general(self) -> nodes.section:
        """What to do about each general error, with a command, and its usual cause."""
        parts: list[nodes.Node] = [nodes.title("", "Errors with many causes")]
        for one in general():
            parts += [
                self.fact(f"**{one.title}**. **Do:** {one.do}:"),
                nodes.literal_block("", one.command.rstrip(), language="text"),
                self.fact(one.cause),
            ]
        return nodes.section("", *parts, ids=["general"])

    def answers(self) -> nodes.section:
        """What to do about each message that no case is about, and how we know."""
        parts: list[nodes.Node] = [nodes.title("", "Messages without a case")]
        for one in answers():
            known = "Source only" if one.known == "read" else f"Run: {one.known[5:]}"
            name = one.link.removeprefix("https://")
            parts += [
                self.fact(f"**{one.title}**. **Do:** {one.do}:"),
                nodes.literal_block("", one.command.rstrip(), language="text"),
                self.fact(f"{one.cause} {known}."),
            ]
            parts[-1] += [nodes.Text(" See "), nodes.reference("", name, refuri=one.link)]
        return nodes.section("", *parts, ids=["answers"])

    def section(self, chapter: Chapter, found: list[Message]) -> nodes.section:
        number = notebook.number(chapter.name)
        title = nodes.title(
            "",
            f"Case {number}: ",
            notebook.link(self.env, chapter, "", *self.parse_inline(chapter.title)[0]),
        )
        facts = [self.fact(f"{one.see}. **Do:** {one.do}") for one in chapter.facts.faults]
        items = [self.item(chapter, message) for message in found]
        listed = [nodes.bullet_list("", *items, classes=["messages"])] if items else []
        return nodes.section(
            "",
            title,
            *facts,
            *listed,
            ids=[f"case-{number}"],
        )

    def fact(self, text: str) -> nodes.paragraph:
        return nodes.paragraph("", "", *self.parse_inline(text)[0], classes=["fact"])

    def item(self, chapter: Chapter, message: Message) -> nodes.list_item:
        """A message, and where it is shown or was seen."""
        where: list[str | nodes.Node] = []
        for number, section in message.cells:
            link = notebook.link(self.env, chapter, f"cell-{number}", f"cell {number}")
            where += [", " if where else "Shown in ", link, f" ({section})"]
        if message.cells:
            beside = ". It stands beside the case: that place says what helps."
            where.append("." if message.own else beside)
        elif message.link:
            name = message.link.removeprefix("https://")
            where += ["Seen in ", nodes.reference("", name, refuri=message.link)]
        else:
            where.append("On the card of the case.")
        text = nodes.paragraph("", "", nodes.literal("", message.text))
        return nodes.list_item("", text, notebook.element(nodes.paragraph, *where))


def data(chapters: list[Chapter]) -> dict[str, Any]:
    """What the page searches: the libraries, and each case with its messages."""
    return {
        "libraries": libraries.for_page(),
        "general": [asdict(one) for one in general()],
        "answers": [asdict(one) for one in answers()],
        "cases": [case(chapter) for chapter in chapters],
        "doctor": packages.data(),
    }


def case(chapter: Chapter) -> dict[str, Any]:
    """A case as the page searches and shows it."""
    faults = {
        fault.id: {
            "see": fault.see,
            "do": fault.do,
            "heard": list(fault.heard),
            "affected": card.affected(fault),
            **({"capability": fault.capability} if fault.capability else {}),
            "fixed": card.fixed(fault),
        }
        for fault in chapter.facts.faults
    }
    return {
        "number": notebook.number(chapter.name),
        "href": f"../notebooks/{chapter.name}.html",
        "title": chapter.title,
        "kind": ", ".join(chapter.facts.kind),
        "faults": faults,
        "libraries": libraries.of_chapter(chapter),
        "messages": [searched(message) for message in messages(chapter)],
    }


def searched(message: Message) -> dict[str, Any]:
    """A message as the page searches it: without most of what is empty."""
    kept = {"said", "level", "libraries", "cells"}
    fields = asdict(message)
    fields["beside"] = not fields.pop("own") and not message.fault
    return {name: value for name, value in fields.items() if value or name in kept}


def write_data(app: Sphinx, out: Path) -> None:
    found = data(notebook.chapters(app.env))
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    (out / "_static/cases.js").write_text(f"const BOOK = {text};\n", "utf8")


def setup(app: Sphinx) -> None:
    app.add_directive("find-error", FindError)
    app.add_directive("error-index", ErrorIndex)
    notebook.when_built(app, write_data)

"""The error index, through the directive `error-index`: every message of the book, and a box that finds a pasted one among them.

The box is errors.js; the patterns stand in the page, by the id of the message. Without a script the list remains.
"""
import json
from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from . import notebook
from .messages import messages

BOX = """<form class="lookup">
<label for="traceback">Paste a traceback, or its last line</label>
<textarea id="traceback" rows="7" spellcheck="false" autocomplete="off" aria-describedby="traceback-note"></textarea>
<p id="traceback-note">It is matched in this page. Nothing that you paste leaves it.</p>
<div class="answer" role="status" aria-live="polite"></div>
<template><p><strong>Not in this book.</strong> No message of the book fits. If a GPU library of Python raised it and you can say
on which release, <a href="{report}">report it</a>: it may become a case.</p></template>
</form>
<script type="application/json" id="patterns">{patterns}</script>
"""


class ErrorIndex(SphinxDirective):
    """The box, and a section for each case with its messages."""

    def run(self):
        self.env.note_reread()
        cases = [(chapter, messages(chapter)) for chapter in notebook.chapters(self.env)]
        patterns = {identity(chapter, n): m.pattern for chapter, found in cases for n, m in enumerate(found, 1) if m.pattern}
        report = f"{self.config.html_theme_options['repository_url']}/issues/new"
        box = BOX.format(report=escape(report), patterns=json.dumps(patterns).replace("<", "\\u003c"))
        return [notebook.html(box), *(self.section(*case) for case in cases)]

    def section(self, chapter, found):
        number = notebook.number(chapter.name)
        title = nodes.title("", f"Case {number}: ", notebook.link(self.env, chapter, "", *self.parse_inline(chapter.title)[0]))
        facts = [self.fact(key, chapter.card[key]) for key in ("Affected", "Fixed in") if key in chapter.card]
        items = [self.item(chapter, n, message) for n, message in enumerate(found, 1)]
        return nodes.section("", title, *facts, nodes.bullet_list("", *items, classes=["messages"]), ids=[f"case-{number}"])

    def fact(self, key, text):
        words = self.parse_inline(text)[0]
        return nodes.paragraph("", "", nodes.strong("", key), nodes.Text(" "), *words, nodes.Text("."), classes=["fact"])

    def item(self, chapter, n, message):
        where = nodes.paragraph("", "" if message.cells else "On the case card.")
        for place, (number, section) in enumerate(message.cells):
            where += [nodes.Text(", " if place else "Shown in "),
                      notebook.link(self.env, chapter, f"cell-{number}", nodes.Text(f"cell {number}")), nodes.Text(f" ({section})")]
        if message.cells:
            where += nodes.Text("." if message.own else ". It stands beside the case: that place says what helps.")
        return nodes.list_item("", nodes.paragraph("", "", nodes.literal("", message.text)), where, ids=[identity(chapter, n)])


def identity(chapter, n):
    """Id of a message on the page."""
    return f"message-{notebook.number(chapter.name)}-{n}"


def load_script(app, pagename, templatename, context, doctree):
    if pagename == "book/errors":
        app.add_js_file("errors.js", loading_method="defer")


def setup(app):
    app.add_directive("error-index", ErrorIndex)
    app.connect("html-page-context", load_script)

"""The lessons on the page *Learn*: a table of them, with ticks that this browser remembers."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook.chapters.lessons import Lesson

from . import notebook
from .status import table

COLUMNS = ("Lesson", "Minutes", "Exercises", "On Colab", "Done")
COLAB = "https://colab.research.google.com/github/"
DONE = '<input type="checkbox" data-lesson="{0}" aria-label="Lesson {1} is done">'


class Lessons(SphinxDirective):
    """A row for each lesson."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        rows = [self.lesson(one) for one in notebook.lessons(self.env)]
        return [table("lessons", COLUMNS, rows)]

    def lesson(self, one: Lesson) -> list[str | nodes.Node]:
        page = notebook.link(self.env, one, "", one.title.removeprefix("Lesson "))
        address = one.address.replace("https://github.com/", COLAB)
        opened = notebook.element(nodes.reference, "open", refuri=address)
        tick = notebook.html(DONE.format(one.name, one.number))
        return [page, str(one.minutes), str(len(one.exercises)), opened, tick]


def setup(app: Sphinx) -> None:
    app.add_directive("lessons", Lessons)
    app.add_js_file("lessons.js", loading_method="defer")

"""The questions before results: in a class's copy they are asked, on the site they introduce the
answer. In the notebook they stand in a comment, `<!-- result: Does it? -->`."""

import re

from sphinx.application import Sphinx

ASKED = re.compile(r"""<!-- result: (.*?) -->(?!\\n",\s*"#)""")  # in JSON; no answer is a heading


def show(app: Sphinx, docname: str, source: list[str]) -> None:
    if docname.startswith("notebooks/"):
        source[0] = ASKED.sub(r"*\1*", source[0])


def setup(app: Sphinx) -> None:
    app.connect("source-read", show)

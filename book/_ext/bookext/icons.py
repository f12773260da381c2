"""The icon fonts, cut down to the icons that pages use: the theme brings 300 KB of them.

With the whole fonts, Lighthouse (mobile) gives pages a performance score of 78; with these, 95.
"""

import logging
import re
from pathlib import Path

from fontTools import subset
from sphinx.application import Sphinx

from . import notebook

RULE = re.compile(r'((?:\.fa-[\w-]+:{1,2}before,?)+)\{content:"\\([0-9a-f]+)"\}')


def finish(app: Sphinx, out: Path) -> None:
    """Replace each icon font by its part that is in use."""
    folders = "*.html", "*/*.html", "_static/scripts/*.js"
    text = "".join(path.read_text("utf8") for folder in folders for path in out.glob(folder))
    used = set(re.findall(r"\bfa-[a-z][\w-]*", text))
    sheet = (out / "_static/styles/pydata-sphinx-theme.css").read_text("utf8")
    codes = [
        code for names, code in RULE.findall(sheet) if used & set(re.findall(r"fa-[\w-]+", names))
    ]
    for font in (out / "_static/vendor/fontawesome/webfonts").glob("*.woff2"):
        subset.main(
            [
                str(font),
                f"--unicodes={','.join(codes)}",
                "--layout-features=",
                "--flavor=woff2",
                f"--output-file={font}",
            ]
        )


def setup(app: Sphinx) -> None:
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    notebook.when_built(app, finish, 900)

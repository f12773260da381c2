"""The built pages: what the theme leaves out (names, a policy) is added, and what no page needs
is removed."""

import html
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from casebook.chapters.questions import ASK

from . import notebook

# fontawesome.js (1.5 MB) draws the icons that a web font draws too.
UNUSED = (
    "scripts/fontawesome.js*",
    "scripts/*.map",
    "styles/*.map",
    "sphinx-thebe*",
    "images/logo_[bdj]*",
    "*macros.html",
)
REPLACEMENTS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    # The sidebar shows the cases' numbers.
    (
        r'(<a class="(?:current )?reference internal") (href="(?:[^"]*/)?(\d\d)-[^"#]+\.html")',
        r'\1 data-case="\3" \2',
    ),
    # The theme's colours wait for its script: give them to readers without one, and to the others
    # without a flash.
    (r'(<html[^>]*) data-theme="auto"', r'\1 data-theme="light"'),
    (
        r'(dataset\.theme = localStorage\.getItem\("theme"\) \|\|) "auto"',
        r'\1 (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")',
    ),
    (r'(<div[^>]*class="bd-sidebar-primary\b[^"]*")', r'\1 role="region" aria-label="Site"'),
    (r'<summary>(?=<span class="toctree-toggle")', '<summary aria-label="Sub-pages">'),
    (r'(<button class="btn search-button-field[^>]*?) aria-label="Search"', r"\1"),
    # Names and marks have the colour of plain text: half of a chapter's elements say nothing.
    (r'<span class="(?:n|nn|nx|p|pm|w)">([^<]*)</span>', r"\1"),
    # An empty corner of a table is no heading.
    (r'<th class="head"><p></p></th>', "<td></td>"),
    # A plot leads to itself: alone on a page it can be enlarged.
    (
        r'<img [^>]*src="((?:\.\./)*_images/[^"]+)"[^>]*>',
        r'<a class="plot" href="\1">\g<0></a>',
    ),
    # A long name may break after an underline.
    (
        r'(?<=<span class="pre">)[^<\s]{18,}(?=</span>)',
        lambda word: word[0].replace("_", "_<wbr>"),
    ),
    # Who searches for an error message is better served elsewhere.
    (
        r'(?=<div id="search-results">)',
        '<p class="pointer">An error message? Paste it into <a href="book/errors.html">Find your '
        "error</a>: it knows messages that a search for words does not find.</p>\n"
        # The search ranks by the same messages.
        '<script defer src="_static/vendor/minisearch-7.2.0.js"></script>'
        '<script defer src="_static/match.js"></script>'
        '<script defer src="_static/nearest.js"></script>'
        '<script defer src="_static/cases.js"></script>',
    ),
    (r"<(?:script|link)[^>]*fontawesome\.js[^>]*>(?:</script>)?", ""),
]
# The words of a drawing for white paper: black, or nearly, so that a dark page swallows them.
DARK_WORDS = re.compile(
    r'<text\b(?![^>]*fill\s*[:=])|<text\b[^>]*fill\s*[:=]\s*"?(?:black|#[0-4]\w?[0-4]\w?[0-4])'
)
# Nothing is loaded from elsewhere. The theme has scripts and styles inside its pages.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'"
)


def state_policy(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Put the policy before all that a page loads."""
    tag = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}" />'
    context["metatags"] = tag + context.get("metatags", "")


def describe_plots(app: Sphinx, tree: nodes.document, docname: str) -> None:
    """A drawing has a description of its own; a plot's is the paragraph before its cell, as the
    chapters' authors are told.

    A question about the plot does not describe it, and marks are not read out.
    """
    for _, container in notebook.cells(tree):
        above = container.parent[: container.parent.index(container)]
        others = [node for node in above if not node.astext().startswith(ASK.strip("*"))]
        described = others and isinstance(others[-1], nodes.paragraph)
        text = re.sub("<!--.*?--> ?", "", others[-1].astext()) if described else ""
        for image in container.findall(nodes.image):
            own = own_description(Path(app.srcdir, image["uri"]))
            image["alt"] = own or text or "Picture of the cell above"


def own_description(picture: Path) -> str:
    """What an SVG file says of itself; empty where it says nothing, or is another kind of file."""
    if picture.suffix != ".svg":
        return ""
    label = re.search(r'<svg[^>]*? aria-label="([^"]+)"', picture.read_text("utf8"))
    return html.unescape(label[1]) if label else ""


def finish(app: Sphinx, out: Path) -> None:
    for page in out.rglob("*.html"):
        rewrite(page)
    for unused in (path for name in UNUSED for path in out.glob(f"_static/{name}")):
        shutil.rmtree(unused) if unused.is_dir() else unused.unlink()


def rewrite(page: Path) -> None:
    """Apply the replacements to a page, and mark its plots for white paper."""
    text = page.read_text("utf8")
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    if re.match(r"\d\d-", page.name):
        current = '<a class="current reference internal"'
        text = text.replace(current, f'{current} data-case="{page.name[:2]}"')
    for name in set(re.findall(r'src="((?:\.\./)*_images/[^"]+\.svg)"', text)):
        if DARK_WORDS.search((page.parent / name).read_text("utf8")):
            link = f'<a class="plot" href="{name}">'
            text = text.replace(link, link.replace("plot", "plot paper", 1))
    page.write_text(text, "utf8")


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", describe_plots)
    app.connect("html-page-context", state_policy, priority=900)
    notebook.when_built(app, finish)

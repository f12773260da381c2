"""What is left after the build: weight that no page needs, names for what had none, the 404 page, the site map."""

import re
import shutil
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes

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
NUMBER = re.compile(
    r'(<a class="(?:current )?reference internal") (href="(?:[^"]*/)?(\d\d)-[^"#]+\.html")'
)
MENDS = [
    # The sidebar shows the cases' numbers.
    (NUMBER, r'\1 data-case="\3" \2'),
    # The theme's colours wait for its script: give them to readers without one, and to the others without a flash.
    (re.compile(r'(<html[^>]*) data-theme="auto"'), r'\1 data-theme="light"'),
    (
        re.compile(r'(dataset\.theme = localStorage\.getItem\("theme"\) \|\|) "auto"'),
        r'\1 (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")',
    ),
    (
        re.compile(r'(<div[^>]*class="bd-sidebar-primary\b[^"]*")'),
        r'\1 role="region" aria-label="Site"',
    ),
    (re.compile(r'<summary>(?=<span class="toctree-toggle")'), '<summary aria-label="Sub-pages">'),
    (re.compile(r'(<button class="btn search-button-field[^>]*?) aria-label="Search"'), r"\1"),
    # Names and marks have the colour of plain text: half of a chapter's elements say nothing.
    (re.compile(r'<span class="(?:n|nn|nx|p|pm|w)">([^<]*)</span>'), r"\1"),
    # A plot leads to itself: alone on a page it can be enlarged.
    (
        re.compile(r'<img [^>]*src="((?:\.\./)?_images/[^"]+)"[^>]*>'),
        r'<a class="plot" href="\1">\g<0></a>',
    ),
    # A long name may break after an underline.
    (
        re.compile(r'(?<=<span class="pre">)[^<\s]{18,}(?=</span>)'),
        lambda word: word[0].replace("_", "_<wbr>"),
    ),
    # Who searches for an error message is better served elsewhere.
    (
        re.compile(r'(?=<div id="search-results">)'),
        '<p class="pointer">An error message? Paste it into <a href="book/errors.html">Find '
        "your error</a>: it knows messages that a search for words does not find.</p>\n",
    ),
    (re.compile(r"<(?:script|link)[^>]*fontawesome\.js[^>]*>(?:</script>)?"), ""),
]


# Nothing is loaded from elsewhere. The theme has scripts and styles inside its pages.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'"
)


FIRST_PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>GPU Python Casebook</title>
<meta http-equiv="refresh" content="0; url=book/index.html"></head>
<body><p><a href="book/index.html">The first page</a></p></body></html>
"""


def state_policy(app, pagename, templatename, context, doctree):
    """The policy stands before all that a page loads."""
    tag = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}" />'
    context["metatags"] = tag + context.get("metatags", "")


def describe_plots(app, tree, docname):
    """A plot's description is the paragraph before its cell, as the chapters' authors are told."""
    chapter = notebook.chapter(app, docname)
    for _, container in notebook.cells(tree, chapter) if chapter else ():
        before = container.parent[max(container.parent.index(container) - 1, 0)]
        for image in container.findall(nodes.image):
            image["alt"] = (
                before.astext() if isinstance(before, nodes.paragraph) else "Plot of the cell above"
            )


def describe_page(app, pagename, templatename, context, doctree):
    """The page's first paragraph describes it to search engines."""
    first = (
        next((p for p in doctree.findall(nodes.paragraph) if not p["classes"]), None)
        if doctree
        else None
    )
    if first:
        text = " ".join(first.astext().split())
        context["metatags"] = (
            context.get("metatags", "")
            + f'<meta name="description" content="{escape(text[:300])}" />'
        )


def keep_paper(path):
    """Mark the plots of a page that were drawn for white paper: with words too dark for a dark page, and no ground of their own."""
    text = path.read_text("utf8")
    for name in set(re.findall(r'src="((?:\.\./)?_images/[^"]+\.svg)"', text)):
        if dark_words((path.parent / name).read_text("utf8")):
            text = text.replace(
                f'<a class="plot" href="{name}">', f'<a class="plot paper" href="{name}">'
            )
    path.write_text(text, "utf8")


def dark_words(drawing):
    """Whether words of an SVG are drawn in a colour that a dark page swallows (black, where none is said)."""
    words = re.findall(r"<text\b[^>]*>", drawing)
    colours = [re.search(r"fill\s*[:=]\s*\"?(#[0-9a-fA-F]{3,6}|\w+)", word) for word in words]
    return any(brightness(found[1] if found else "black") < 0.1 for found in colours)


def brightness(colour):
    """Relative luminance of a CSS colour, as WCAG defines it; black and what is not known count as 0."""
    digits = (
        colour.removeprefix("#")
        if colour.startswith("#")
        else {"white": "ffffff", "gray": "808080"}.get(colour, "000000")
    )
    parts = [
        int(part * 2 if len(digits) == 3 else part, 16) / 255
        for part in re.findall("." if len(digits) == 3 else "..", digits)
    ]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def finish(app, exception):
    if exception or app.builder.name != "html":
        return
    out, site = Path(app.outdir), app.config.html_baseurl
    for page in out.rglob("*.html"):
        mend(page)
        keep_paper(page)
    for unused in (path for name in UNUSED for path in out.glob(f"_static/{name}")):
        shutil.rmtree(unused) if unused.is_dir() else unused.unlink()
    missing = Path(__file__).with_name("404.html").read_text("utf8")
    for name, value in {
        "title": app.config.html_title,
        "root": urlsplit(site).path,
        "policy": POLICY,
    }.items():
        missing = missing.replace(f"{{{name}}}", value)
    (out / "404.html").write_text(missing, "utf8")
    (out / "index.html").write_text(FIRST_PAGE, "utf8")
    (out / "sitemap.txt").write_text(
        "".join(f"{site}{name}.html\n" for name in sorted(app.env.found_docs)), "utf8"
    )


def mend(page):
    text = page.read_text("utf8")
    for pattern, better in MENDS:
        text = pattern.sub(better, text)
    if re.match(r"\d\d-", page.name):
        text = text.replace(
            '<a class="current reference internal"',
            f'<a class="current reference internal" data-case="{page.name[:2]}"',
        )
    page.write_text(text, "utf8")


def setup(app):
    app.connect("doctree-resolved", describe_plots)
    app.connect("html-page-context", describe_page)
    app.connect("html-page-context", state_policy, priority=900)
    app.connect("build-finished", finish)

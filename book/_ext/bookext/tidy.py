"""What is left after the build: weight that no page needs, names for what had none, the 404 page, the site map."""
import re
import shutil
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes

from . import notebook

# fontawesome.js (1.5 MB) draws the icons that a web font draws too.
UNUSED = ("scripts/fontawesome.js*", "scripts/*.map", "styles/*.map", "sphinx-thebe*", "images/logo_[bdj]*")
MENDS = [
    # The theme's colours wait for its script: give them to readers without one, and to the others without a flash.
    (re.compile(r'(<html[^>]*) data-theme="auto"'), r'\1 data-theme="light"'),
    (re.compile(r'(dataset\.theme = localStorage\.getItem\("theme"\) \|\|) "auto"'),
     r'\1 (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")'),
    (re.compile(r'<summary>(?=<span class="toctree-toggle")'), '<summary aria-label="Sub-pages">'),
    (re.compile(r'(<button class="btn search-button-field[^>]*?) aria-label="Search"'), r"\1"),
    # A plot leads to itself: on a phone it scrolls in its box, and alone on a page it can be enlarged.
    (re.compile(r'<img [^>]*src="((?:\.\./)?_images/[^"]+)"[^>]*>'), r'<a class="plot" href="\1">\g<0></a>'),
    (re.compile(r"<(?:script|link)[^>]*fontawesome\.js[^>]*>(?:</script>)?"), ""),
]


def describe_plots(app, tree, docname):
    """A plot's description is the paragraph before its cell, as the chapters' authors are told."""
    chapter = notebook.chapter(app, docname)
    for _, container in notebook.cells(tree, chapter) if chapter else ():
        before = container.parent[max(container.parent.index(container) - 1, 0)]
        for image in container.findall(nodes.image):
            image["alt"] = before.astext() if isinstance(before, nodes.paragraph) else "Plot of the cell above"


def describe_page(app, pagename, templatename, context, doctree):
    """The page's first paragraph describes it to search engines."""
    first = next((p for p in doctree.findall(nodes.paragraph) if not p["classes"]), None) if doctree else None
    if first:
        text = " ".join(first.astext().split())
        context["metatags"] = context.get("metatags", "") + f'<meta name="description" content="{escape(text[:300])}" />'


def finish(app, exception):
    if exception or app.builder.name != "html":
        return
    out, site = Path(app.outdir), app.config.html_baseurl
    for page in out.rglob("*.html"):
        mend(page)
    for unused in (path for name in UNUSED for path in out.glob(f"_static/{name}")):
        shutil.rmtree(unused) if unused.is_dir() else unused.unlink()
    missing = Path(__file__).with_name("404.html").read_text("utf8")
    (out / "404.html").write_text(missing.replace("{title}", app.config.html_title).replace("{root}", urlsplit(site).path), "utf8")
    (out / "sitemap.txt").write_text("".join(f"{site}{name}.html\n" for name in sorted(app.env.found_docs)), "utf8")


def mend(page):
    text = page.read_text("utf8")
    for pattern, better in MENDS:
        text = pattern.sub(better, text)
    page.write_text(text, "utf8")


def setup(app):
    app.connect("doctree-resolved", describe_plots)
    app.connect("html-page-context", describe_page)
    app.connect("build-finished", finish)

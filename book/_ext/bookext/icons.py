"""The icons that pages use, and no others: the theme brings 2,500 of them, 270 KB of fonts and a third of its style sheet."""

import logging
import re
from pathlib import Path

from fontTools import subset

RULE = re.compile(r'((?:\.fa-[\w-]+:{1,2}before,?)+)\{content:"[^"]+"\}')
FONT = re.compile(
    r'url\(([^)]+/)(fa-[\w-]+)\.woff2\) format\("woff2"\),url\([^)]+\) format\("truetype"\)'
)


def keep_used(out):
    """Drop unused icons from the style sheet and from the fonts of a built site."""
    text = "".join(
        path.read_text("utf8")
        for folder in ("*.html", "*/*.html", "_static/scripts/*.js")
        for path in out.glob(folder)
    )
    used = set(re.findall(r"\bfa-[a-z][\w-]*", text))
    sheet = out / "_static/styles/pydata-sphinx-theme.css"
    css = RULE.sub(
        lambda rule: rule[0] if used & set(re.findall(r"fa-[\w-]+", rule[1])) else "",
        sheet.read_text("utf8"),
    )
    sheet.write_text(FONT.sub(r'url(\1\2.woff) format("woff")', css), "utf8")
    left = "".join(path.read_text("utf8") for path in out.glob("_static/**/*.css"))
    for font in (out / "_static/vendor/fontawesome/webfonts").glob("*.ttf"):
        cut(
            font, "".join(chr(int(code, 16)) for code in re.findall(r"\\([ef][0-9a-f]{3})\b", left))
        )


def cut(font, characters):
    """Replace a font, in all its forms, by a .woff that holds these characters."""
    options = subset.Options(
        flavor="woff", layout_features=[], notdef_outline=False, glyph_names=False
    )
    face = subset.load_font(font, options)
    cutter = subset.Subsetter(options)
    cutter.populate(text=characters)
    cutter.subset(face)
    subset.save_font(face, font.with_suffix(".woff"), options)
    for form in (".ttf", ".woff2"):
        font.with_suffix(form).unlink(missing_ok=True)


def finish(app, exception):
    if not exception and app.builder.name == "html":
        keep_used(Path(app.outdir))


def setup(app):
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    app.connect("build-finished", finish, priority=900)

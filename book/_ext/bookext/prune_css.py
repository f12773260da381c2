"""What a page waits for: one style sheet, of the rules that some page can use, and no script.

The theme's sheets are eight files, and nine tenths of their rules are about things that this site does not have.
"""

import re
from itertools import pairwise
from pathlib import Path

import tinycss2

LINK = re.compile(r'<link\b[^>]*\bhref="((?:\.\./)?_static/[^"?]+\.css)[^"]*"[^>]*>\s*')
SCRIPT = re.compile(r'<script (?=src="(?:(?:\.\./)?_static/(?!documentation_options)|searchindex))')
OPTIONS = re.compile(r'<script src="(?:\.\./)?_static/documentation_options\.js[^"]*"></script>')
SHEET = "_static/styles/site.css"
CONDITIONS = ("media", "supports")


def one_sheet(out):
    """Join the style sheets of a built site, in their order, into SHEET. Pages that an earlier build left as they are have it already."""
    pages = {
        path: path.read_text("utf8")
        for folder in ("*.html", "*/*.html")
        for path in out.glob(folder)
    }
    scripts = [
        path.read_text("utf8")
        for folder in ("_static/*.js", "_static/scripts/*.js")
        for path in out.glob(folder)
    ]
    used = set(re.findall(r"[\w-]+", "\n".join([*pages.values(), *scripts])))
    linked = dict.fromkeys(
        out / name.removeprefix("../") for text in pages.values() for name in LINK.findall(text)
    )
    linked.pop(out / SHEET, None)
    if linked:
        (out / SHEET).write_text("".join(sheet(path, used) for path in linked), "utf8")
    options = (out / "_static/documentation_options.js").read_text("utf8")
    for path, text in pages.items():
        if found := LINK.search(text):
            up = "../" * (len(path.relative_to(out).parts) - 1)
            head, rest = text[: found.start()], LINK.sub("", text[found.start() :])
            text = f'{head}<link rel="stylesheet" href="{up}{SHEET}" />\n{rest}'
        text = OPTIONS.sub(lambda _: f"<script>{options}</script>", text)
        path.write_text(SCRIPT.sub("<script defer ", text), "utf8")
    for path in {*linked, out / "_static/basic.css"}:
        path.unlink(missing_ok=True)


def sheet(path, used):
    """The rules of a sheet that can apply, with those it imports; addresses as seen from the folder of SHEET."""
    text = ""
    for rule in tinycss2.parse_stylesheet(
        path.read_text("utf8"), skip_comments=True, skip_whitespace=True
    ):
        if rule.type == "at-rule" and rule.lower_at_keyword == "import":
            text += sheet(
                path.parent
                / next(token.value for token in rule.prelude if token.type in ("string", "url")),
                used,
            )
        else:
            text += kept(rule, used)
    return (
        text
        if path.parent.name == "styles"
        else re.sub(r'url\((["\']?)(?!data:|["\']|/|#)', r"url(\1../", text)
    )


def kept(rule, used):
    """A rule without the selectors that fit nothing; an empty text where none is left."""
    if rule.type == "at-rule" and rule.lower_at_keyword in CONDITIONS:
        inside = "".join(
            kept(one, used)
            for one in tinycss2.parse_rule_list(
                rule.content, skip_comments=True, skip_whitespace=True
            )
        )
        return f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inside}}}" if inside else ""
    if rule.type != "qualified-rule":
        return rule.serialize()
    selectors, one = [], []
    for token in [*rule.prelude, None]:
        if token is None or (token.type == "literal" and token.value == ","):
            selectors, one = [*selectors, one], []
        else:
            one.append(token)
    fitting = [
        tinycss2.serialize(tokens).strip() for tokens in selectors if classes(tokens) <= used
    ]
    return f"{','.join(fitting)}{{{tinycss2.serialize(rule.content).strip()}}}\n" if fitting else ""


def classes(tokens):
    """The classes that a selector asks for, outside of brackets."""
    return {
        name.value
        for dot, name in pairwise(tokens)
        if dot.type == "literal" and dot.value == "." and name.type == "ident"
    }


def finish(app, exception):
    if not exception and app.builder.name == "html":
        one_sheet(Path(app.outdir))


def setup(app):
    app.connect("build-finished", finish, priority=950)

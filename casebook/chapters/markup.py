"""HTML and SVG in stored outputs: what a page may show of them.

A page shows stored HTML as it is, so an allow-list decides: nh3 removes the rest when outputs are
stored, and `check` and the site's build refuse what it would remove. A plot is shown as an image,
in which no script runs; its list keeps it from loading anything.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import nh3

_CELL = {"colspan", "rowspan", "scope"}
ATTRIBUTES = {"th": _CELL, "td": _CELL}
TAGS = {*ATTRIBUTES, "table", "caption", "thead", "tbody", "tfoot", "tr", "p", "br", "pre", "code"}
TAGS |= {"b", "strong", "i", "em", "sub", "sup", "ul", "ol", "li"}
DRAWN = {"svg", "defs", "g", "path", "rect", "circle", "line", "polyline", "polygon", "use"}
DRAWN |= {"text", "tspan", "title", "desc", "clipPath", "marker", "style"}
DRAWN |= {"metadata", "RDF", "Work", "type", "date", "format", "creator", "Agent"}


def clean(html: str) -> str:
    """HTML without what is not on the list. If all of it is, unchanged: nbval compares the text."""
    cleaned = nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES, link_rel=None)
    return html if cleaned == _whole(html) else cleaned


def problems(kind: str, text: str) -> Iterator[str]:
    """What an output of this MIME type has that a page must not show: ends of sentences."""
    if kind == "text/html" and clean(text) != text:
        names = sorted({*_names(text)[0]} - TAGS) or sorted(_names(text)[1])
        yield f"has HTML that is not allowed in a page: {', '.join(names)}"
    if kind == "image/svg+xml":
        yield from _drawn(text)


def _names(html: str) -> tuple[set[str], set[str]]:
    tags = {name.lower() for name in re.findall(r"<([A-Za-z][\w:-]*)", html)}
    return tags, {name.lower() for name in re.findall(r"[\s\"'/]([A-Za-z][\w:-]*)\s*=", html)}


def _whole(html: str) -> str:
    """HTML in nh3's normal form with every tag and attribute that it has."""
    tags, attributes = _names(html)
    return nh3.clean(
        html,
        tags=tags | TAGS,
        clean_content_tags=set(),
        attributes=dict.fromkeys(tags | TAGS, attributes),
        url_schemes={"http", "https", "data", "javascript", "mailto"},
        strip_comments=False,
        link_rel=None,
    )


def _drawn(text: str) -> Iterator[str]:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        yield f"is no SVG: {error}"
        return
    for node in root.iter():
        name = node.tag.rpartition("}")[2]
        if name not in DRAWN:
            yield f"has an element that is not allowed in a plot: {name}"
        for attribute, value in node.attrib.items():
            bare = attribute.rpartition("}")[2]
            if bare.startswith("on") or (bare == "href" and not value.startswith("#")):
                yield f"has an attribute that is not allowed in a plot: {bare}={value[:40]!r}"
        for value in (*node.attrib.values(), node.text or ""):
            if re.search(r"(?i)@import|url\(\s*['\"]?(?!['\"]?#)", value):
                yield f"loads something into a plot: {value.strip()[:40]!r}"

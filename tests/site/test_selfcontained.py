"""The built site: it builds, and no page asks anybody else for anything. Links that a reader clicks lead where they like."""

import re
from html.parser import HTMLParser

import pytest

ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z+.-]*:)?//", re.IGNORECASE)
LOADS = {
    "src",
    "srcset",
    "data",
    "poster",
    "background",
    "action",
    "formaction",
    "ping",
    "manifest",
    "imagesrcset",
    "classid",
    "codebase",
    "xlink:href",
}
HREF_IS_A_LINK = {"a", "area"}
RELATIONS = {"canonical", "license", "author", "alternate"}  # of a link element that loads nothing
STYLE_LOADS = re.compile(
    r"""(?:url\(|@import|image-set\()\s*["']?\s*(?:[a-z]+:)?//[^"')\s]*""", re.IGNORECASE
)
SCRIPT_LOADS = re.compile(
    r"""(?:fetch|import|importScripts|open|sendBeacon|EventSource|WebSocket|Worker|Request|URL)\s*\(\s*[^)]{0,60}?"""
    r"""["'`](?:[a-z]+:)?//[^"'`]*|(?:from|import|src\s*=|href\s*=)\s*["'`](?:https?:)?//[^"'`]*"""
)
POLICY = "default-src 'self'"


class Page(HTMLParser):
    """What a page loads from elsewhere, as it would be written, and its Content-Security-Policy."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.outside, self.policy, self.inside, self.kind = [], "", "", ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        self.inside, self.kind = tag, given.get("type", "")
        loads = {
            name: value
            for name, value in given.items()
            if name in LOADS and not (name == "data" and tag != "object")
        }
        if tag not in HREF_IS_A_LINK and not (
            tag == "link" and set(given.get("rel", "").split()) & RELATIONS
        ):
            loads |= {name: value for name, value in given.items() if name == "href"}
        for name, value in loads.items():
            if any(
                ELSEWHERE.match(part)
                for part in (value.split(",") if "srcset" in name else [value])
            ):
                self.outside.append(f"<{tag} {name}={value}>")
        self.outside += [
            f"<{tag} style={found}>" for found in STYLE_LOADS.findall(given.get("style", ""))
        ]
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.outside += [
                f"<meta refresh {found}>"
                for found in re.findall(r"(?i)(?:[a-z]+:)?//\S+", given.get("content", ""))
            ]
        if tag == "meta" and given.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = given.get("content", "")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, text):
        if self.inside == "style":
            self.outside += [f"<style> {found}" for found in STYLE_LOADS.findall(text)]
        if self.inside == "script" and "json" not in self.kind:
            self.outside += [f"<script> {found}" for found in SCRIPT_LOADS.findall(text)]


@pytest.fixture(scope="module")
def read(site):
    return {
        path.relative_to(site).as_posix(): Page(path.read_text("utf-8"))
        for path in site.rglob("*.html")
        if "_templates" not in path.parts and path.name != "index.html" or path.parent != site
    }


def test_the_site_builds(built):
    if why := built[1]:
        pytest.fail(f"the site does not build:\n{why}", pytrace=False)


def test_no_page_loads_anything_from_elsewhere(read):
    assert len(read) > 5
    assert not [f"{name}: {found}" for name, page in read.items() for found in page.outside]


def test_no_style_sheet_and_no_script_loads_anything_from_elsewhere(site):
    loads = {".css": STYLE_LOADS, ".js": SCRIPT_LOADS, ".svg": STYLE_LOADS}
    assert not [
        f"{path.relative_to(site)}: {found}"
        for path in site.rglob("*")
        if path.suffix in loads
        for found in loads[path.suffix].findall(path.read_text("utf-8"))
    ]


def test_every_page_tells_the_browser_to_load_nothing_from_elsewhere(read):
    assert not [name for name, page in read.items() if POLICY not in page.policy]
    assert not [
        f"{name}: {page.policy}"
        for name, page in read.items()
        if re.search(r"https?:|\*|wss?:", page.policy)
    ]


@pytest.mark.parametrize(
    "markup",
    [
        '<script src="https://example.org/x.js"></script>',
        '<script src="//example.org/x.js"></script>',
        '<img src="HTTPS://example.org/x">',
        '<div style="background: url(https://example.org/x)">',
        "<div style=\"background:url('//example.org/x')\">",
        '<object data="https://example.org/x">',
        '<embed src="https://example.org/x">',
        '<video poster="https://example.org/x">',
        '<audio src="https://example.org/x">',
        '<video><source src="https://example.org/x"></video>',
        '<track src="https://example.org/x">',
        '<img srcset="x.png 1x, https://example.org/x 2x">',
        '<link rel="preconnect" href="https://example.org">',
        '<link rel="dns-prefetch" href="//example.org">',
        '<link rel="stylesheet" href="https://example.org/x.css">',
        '<link rel="preload" as="image" imagesrcset="https://example.org/x 2x">',
        '<form action="https://example.org/x">',
        '<button formaction="https://example.org/x">',
        '<a ping="https://example.org/x" href="x">',
        '<iframe src="https://example.org/x">',
        '<svg><image href="https://example.org/x"/></svg>',
        '<svg><use xlink:href="https://example.org/x#y"/></svg>',
        '<meta http-equiv="refresh" content="0; url=https://example.org">',
        "<style>@import 'https://example.org/x';</style>",
        "<style>@import url(//example.org/x);</style>",
        '<style>p { background: url( "https://example.org/x" ) }</style>',
        "<script>fetch('https://example.org/x')</script>",
        "<script>new WebSocket(`wss://example.org`)</script>",
        "<script>import 'https://example.org/x.js'</script>",
        "<script type=module>import x from '//example.org/x.js'</script>",
        "<script>image.src = 'https://example.org/x'</script>",
        "<script>navigator.sendBeacon('//example.org')</script>",
        "<script>request.open('GET', 'https://example.org/x')</script>",
        '<base href="https://example.org/">',
    ],
)
def test_what_loads_from_elsewhere_is_seen(markup):
    (found,) = Page(f"<p>before</p>{markup}<p>after</p>").outside
    assert "example.org" in found


@pytest.mark.parametrize(
    "markup",
    [
        '<meta http-equiv="refresh" content="0; url=book/index.html">',
        '<a href="https://example.org">',
        '<link rel="canonical" href="https://example.org/x">',
        '<img src="../x.png">',
        '<img src="data:x">',
        '<script type="application/json">{"link": "fetch(\'https://example.org\')"}</script>',
        "<p>fetch('https://example.org')</p>",
        "<script>const name = 'http://www.w3.org/2000/svg'</script>",
        '<meta property="og:url" content="https://example.org">',
        '<div style="background: url(x.png)">',
        '<svg xmlns="http://www.w3.org/2000/svg"><use href="#x"/></svg>',
    ],
)
def test_what_loads_nothing_is_left_alone(markup):
    assert Page(markup).outside == []


def test_the_policy_is_read():
    assert Page(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">').policy == POLICY

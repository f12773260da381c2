"""The built site: it builds, its links lead somewhere, and no page asks anybody else for anything.

The browser tests prove the last by what Chromium asks for; this looks at every page as written.
"""

import re
from html import unescape
from urllib.parse import unquote, urlsplit

import pytest
from sample import LOST_LINES, complaints

from casebook.cells.repository import ADDRESS

POLICY = "default-src 'self'"
ROOT = f"/{ADDRESS.rpartition('/')[2]}/"  # of the site on its server: the 404 page names it
TAG = re.compile(r"""<([a-zA-Z]+)((?:[^<>"']|"[^"]*"|'[^']*')*)>""")
ATTRIBUTE = re.compile(r"""([\w:-]+)=(?:"([^"]*)"|'([^']*)')""")
ADDRESSES = {"href", "src", "data", "poster", "action", "formaction", "xlink:href", "srcset"}
# Links that a reader follows, and relations of a link element that loads nothing.
FOLLOWED = {"a", "area"}
RELATIONS = {"canonical", "next", "prev", "search"}


class Page:
    """The ids of a page, its policy, and its addresses: those that it loads, and those of links."""

    def __init__(self, text):
        self.ids, self.loaded, self.links, self.policy = set(), [], [], ""
        for tag, attributes in TAG.findall(text):
            given = {name: unescape(a or b) for name, a, b in ATTRIBUTE.findall(attributes)}
            self.ids.add(given.get("id"))
            link = tag in FOLLOWED or given.get("rel") in RELATIONS
            found = [given[name].split()[0] for name in given.keys() & ADDRESSES if given[name]]
            (self.links if link else self.loaded).extend(found)
            if given.get("http-equiv") == "Content-Security-Policy":
                self.policy = given["content"]


def problems(name, pages, site):
    """What is wrong with the addresses of a page."""
    for address in [*pages[name].loaded, *pages[name].links]:
        parts = urlsplit(address)
        elsewhere = (parts.scheme or parts.netloc) and parts.scheme != "data"
        if parts.scheme == "javascript" or (elsewhere and address in pages[name].loaded):
            yield f"{name}: {address}"
        elif not parts.scheme and not parts.netloc:
            folder = site if parts.path.startswith(ROOT) else (site / name).parent
            path = unquote(parts.path).removeprefix(ROOT)
            file = (folder / path).resolve() if path else site / name
            there = file.exists()
            if there and parts.fragment and file.suffix == ".html":
                ids = pages[file.relative_to(site.resolve()).as_posix()].ids
                there = unquote(parts.fragment) in ids
            if not there:
                yield f"{name}: {address} leads nowhere"


@pytest.fixture(scope="module")
def pages(site):
    files = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    return {path.relative_to(site).as_posix(): Page(path.read_text("utf8")) for path in files}


def test_the_site_builds(built):
    found = complaints(built[1])
    wrong = [line for line in found if not any(word in line for word in LOST_LINES)]
    if wrong or not (built[0] / "index.html").exists():
        why = "\n".join(wrong or built[1].splitlines()[-20:])
        pytest.fail(f"the site does not build:\n{why}", pytrace=False)
    for word in LOST_LINES:
        assert any("lost.md" in line and word in line for line in found), word


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(pages, site):
    assert len(pages) > 40
    found = [problem for name in pages for problem in problems(name, pages, site)]
    assert [problem for problem in found if not problem.startswith("book/lost.html")] == []


def test_every_page_tells_the_browser_to_load_nothing_from_elsewhere(pages):
    policies = {page.policy for name, page in pages.items() if name != "index.html"}
    assert len(policies) == 1 and POLICY in min(policies)
    assert not re.search(r"https?:|\*|wss?:", min(policies))


@pytest.mark.parametrize(
    ("markup", "wrong"),
    [
        ('<script src="//example.org/x.js"></script>', True),
        ('<img srcset="https://example.org/x 2x">', True),
        ('<link rel="preconnect" href="https://example.org">', True),
        ('<video poster="gone.png">', True),
        ('<a href="gone.html">', True),
        ('<a href="#gone">', True),
        ('<a href="javascript:alert()">', True),
        ('<a href="https://example.org">', False),
        ('<img src="data:x"><p id="here"><a href="#here">', False),
    ],
)
def test_what_is_wrong_with_an_address_is_seen(markup, wrong, tmp_path):
    (tmp_path / "page.html").touch()
    assert any(problems("page.html", {"page.html": Page(markup)}, tmp_path)) == wrong

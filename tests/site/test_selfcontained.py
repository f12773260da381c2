"""The built site: it builds, its links lead somewhere, and no page asks anybody else for anything
or runs a script that is not the theme's.

The browser tests prove the last by what Chromium asks for; this looks at every page as written.
"""

import re
from html import unescape
from urllib.parse import unquote, urlsplit

import pytest
from sample import LOST, LOST_LINES, complaints

from casebook.cells.repository import ADDRESS

ROOT = f"/{ADDRESS.rpartition('/')[2]}/"  # of the site on its server: the 404 page names it
TAG = re.compile(r"""<([a-zA-Z]+)((?:[^<>"']|"[^"]*"|'[^']*')*)>""")
ATTRIBUTE = re.compile(r"""([\w:-]+)=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
SCRIPT = re.compile(r"(?is)<script\b(?![^>]*\ssrc=)[^>]*>\s*(.*?)</script>")
# How the scripts inside the theme's own pages begin.
OF_THEME = re.compile(
    r"document\.documentElement\.dataset\.mode|DOCUMENTATION_OPTIONS\.pagename|"
    r"// Activate the search|toggleFullScreen\(\)|window\.print\(\)"
)
ADDRESSES = {"href", "src", "data", "poster", "action", "formaction", "xlink:href", "srcset"}
# Links that a reader follows, and relations of a link element that loads nothing.
FOLLOWED = {"a", "area"}
RELATIONS = {"canonical", "next", "prev", "search"}


class Page:
    """What a page has: ids, addresses that it loads and those of links, scripts inside of it that
    are not the theme's, and images that are not described."""

    def __init__(self, text):
        self.ids, self.loaded, self.links, self.undescribed = set(), set(), set(), set()
        scripts = set(SCRIPT.findall(text))
        for tag, attributes in TAG.findall(text):
            given = {
                name.lower(): unescape("".join(values))
                for name, *values in ATTRIBUTE.findall(attributes)
            }
            self.ids.add(given.get("id"))
            scripts |= {value for name, value in given.items() if name.startswith("on")}
            if tag == "img" and "alt" not in given:
                self.undescribed.add(given.get("src", ""))
            link = tag in FOLLOWED or given.get("rel") in RELATIONS
            found = {given[name].split()[0] for name in given.keys() & ADDRESSES if given[name]}
            (self.links if link else self.loaded).update(found)
        self.scripts = {script for script in scripts if not OF_THEME.match(script)}


def wrong(name, pages, site):
    """What a page runs, shows or links and should not: a sentence each. Addresses may neither leave
    the site where they are loaded, nor lead nowhere in it."""
    page = pages[name]
    yield from (f"{name}: a script that is not the theme's: {code[:80]}" for code in page.scripts)
    yield from (f"{name}: the image {source} has no alt" for source in page.undescribed)
    for address in page.loaded | page.links:
        scheme, host, path, _, fragment = urlsplit(address)
        if scheme or host:
            if scheme == "javascript" or (scheme != "data" and address in page.loaded):
                yield f"{name}: {address}"
            continue
        folder = site if path.startswith(ROOT) else (site / name).parent
        file = folder / unquote(path).removeprefix(ROOT) if path else site / name
        target = pages.get(file.resolve().relative_to(site.resolve()).as_posix())
        if not file.exists() or (target and fragment and unquote(fragment) not in target.ids):
            yield f"{name}: {address} leads nowhere"


def test_the_site_builds(built):
    """Nothing is complained of but the lost links, each of which is."""
    folder, said = built
    unexpected = [line for line in complaints(said) if not any(w in line for w in LOST_LINES)]
    if unexpected or not (folder / "index.html").exists():
        why = "\n".join(unexpected or said.splitlines()[-20:])
        pytest.fail(f"the site does not build:\n{why}", pytrace=False)
    for word in LOST_LINES:
        assert re.search(rf"lost\.md.*{word}", said), word


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(texts, site):
    pages = {name: Page(text) for name, text in texts.items()}
    searched = pages.keys() - {f"{LOST}.html"}
    if found := [line for name in sorted(searched) for line in wrong(name, pages, site)]:
        pytest.fail("\n".join(found), pytrace=False)


def test_every_page_tells_the_browser_to_load_nothing_from_elsewhere(texts):
    stated = '<meta http-equiv="Content-Security-Policy" content="'
    (policy,) = {text.partition(stated)[2].partition('" />')[0] for text in texts.values()} - {""}
    assert [name for name, text in texts.items() if policy not in text] == ["index.html"]
    assert policy.startswith("default-src 'self';") and not re.search(r"https?:|\*|wss?:", policy)


WRONG = (
    '<script src="//example.org/x.js"></script>',
    '<img srcset="https://example.org/x 2x">',
    '<link rel="preconnect" href="https://example.org">',
    '<video poster="gone.png">',
    '<a href="gone.html">',
    '<a href="#gone">',
    '<a href="JavaScript:alert()">',
    "<a href=javascript:alert()>",
    "<source src=gone.mp4>",
    '<object data="gone.pdf">',
    '<script>\nnew Image().src = ["https:", "", "example.org"].join("/")</script>',
    '<p onClick="alert()">',
    '<img src="data:x">',
)
RIGHT = (
    "<script>\nDOCUMENTATION_OPTIONS.pagename = 'x';</script>",
    '<a href="https://example.org">',
    '<img src="data:x" alt=""><p id="here"><a href="#here">',
)


@pytest.mark.parametrize("markup", WRONG + RIGHT)
def test_what_is_wrong_with_an_address_is_seen(markup, tmp_path):
    (tmp_path / "page.html").touch()
    assert any(wrong("page.html", {"page.html": Page(markup)}, tmp_path)) == (markup in WRONG)

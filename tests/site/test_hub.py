"""The form of book/run.md that builds an nbgitpuller link, in a real browser."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from helpers import ROOT

from casebook.cells.repository import ADDRESS

FORM = re.search(
    r"(?s)```\{raw\} html\n(<form id=\"hub\".*?</form>)", (ROOT / "book/run.md").read_text()
)[1]


@pytest.fixture
def page(browser):
    """The form with its script, which is all that it needs."""
    page = browser.new_page()
    page.set_content(FORM.replace("{repository}", ADDRESS))
    page.add_script_tag(path=ROOT / "book/_static/hub.js")
    yield page
    page.close()


@pytest.mark.parametrize(
    ("typed", "root"),
    [
        ("https://hub.example.org", "https://hub.example.org"),
        ("https://hub.example.org/", "https://hub.example.org"),
        ("https://example.org/jupyter/hub/home", "https://example.org/jupyter"),
        ("https://hub.example.org/user/me/lab/tree/x?reset=1#top", "https://hub.example.org"),
        ("http://user.example.org:8000/hub/", "http://user.example.org:8000"),
    ],
)
def test_the_link_fetches_the_book_and_opens_the_chapters(page, typed, root):
    page.get_by_label("Address of your hub").fill(typed)
    link = page.get_by_role("link").get_attribute("href")
    assert link.startswith(f"{root}/hub/user-redirect/git-pull?")
    name = ADDRESS.rpartition("/")[2]
    assert parse_qs(urlsplit(link).query) == {
        "repo": [ADDRESS],
        "branch": ["main"],
        "urlpath": [f"lab/tree/{name}/notebooks"],
    }


@pytest.mark.parametrize(
    ("typed", "said"), [("", ""), ("hub", "Not an address yet: it begins with https://")]
)
def test_without_an_address_there_is_no_link(page, typed, said):
    box = page.get_by_label("Address of your hub")
    box.fill("https://hub.example.org")
    box.fill(typed)
    assert page.get_by_role("link").count() == 0
    assert page.get_by_role("status").inner_text() == said


def test_without_javascript_the_pattern_remains():
    text = (ROOT / "book/run.md").read_text()
    assert "hidden" in FORM
    assert (
        "https://HUB/hub/user-redirect/git-pull?repo={repository}&branch=main&urlpath=lab/tree/gpu-python-casebook/notebooks"
        in text
    )

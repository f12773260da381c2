"""The built site in a real browser: what a reader sees, clicks, types and hears. Needs Chromium on the machine."""
import functools
import http.server
import json
import re
import threading

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from sample import SAMPLE, UNRELATED

from casebook.chapters import load
from casebook.export import export

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
FIRST = "notebooks/01-default-arguments"
QUICK = {"resultTypes": ["violations"], "preload": False}
ALL = QUICK | {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
COLOURS = QUICK | {"runOnly": ["color-contrast", "link-in-text-block"]}      # what a theme can break
# A chapter has thousands of coloured words. Those of one class in one kind of cell look alike: the first cell of a section stays whole,
# of the others one of each.
THIN_OUT = """() => {
  const seen = new Set();
  for (const part of document.querySelectorAll("div.cell ~ div.cell :is(pre span:not(:has(span)), .bar, .export)")) {
    let look = "";
    for (let place = part; place.localName != "article"; place = place.parentElement) look += place.localName + place.className + "/";
    seen.has(look) ? part.remove() : seen.add(look);
  }
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    """Address that serves the site for as long as these tests run."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def visit(browser, address):
    """Opens a page: `visit("book/run", color_scheme="dark")`. At the end nothing was logged, and nothing asked of another host."""
    complaints, contexts = [], []

    def open_page(name, **options):
        context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce"} | options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith((address, "data:")) or complaints.append(request.url))
        page.goto(f"{address}/{name}.html")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


def names(site):
    """The pages that a reader can come to."""
    written = [f"{folder}/{path.stem}" for folder in ("book", "notebooks") for path in sorted((site / folder).glob("*.html"))]
    return [*(name for name in written if name != SAMPLE), "search", "genindex", "404"]


def test_every_page_is_accessible_and_fits(visit, site):
    screens, problems = {"wide": visit("404"), "phone": visit("404", viewport=PHONE)}, []
    root = screens["wide"].url.removesuffix("404.html")
    for page in screens.values():
        page.add_init_script(Axe().axe_script)
    for name in names(site):
        for screen, page in screens.items():
            page.emulate_media(color_scheme="light")
            page.goto(f"{root}{name}.html")
            too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            problems += [f"{name}, {screen}: {too_wide} pixels wider than the screen"] * (too_wide > 0)
            page.evaluate(THIN_OUT)
        problems += [f"{name}, light, {problem}" for problem in violations(screens, ALL)]
        for page in screens.values():
            page.emulate_media(color_scheme="dark")
            page.evaluate("document.documentElement.dataset.theme = 'dark'")
        problems += [f"{name}, dark, {problem}" for problem in violations(screens, COLOURS)]
    assert not problems, "\n".join(problems)


def violations(screens, options):
    """What axe finds on the screens, which it looks at side by side."""
    for page in screens.values():
        page.evaluate("options => { window.found = axe.run(options) }", options)
    for screen, page in screens.items():
        for rule in page.evaluate("found.then(found => found.violations)"):
            yield from (f"{screen}: {rule['id']}: {node['html'][:120]}" for node in rule["nodes"])


def test_search_finds_an_error_message(visit):
    page = visit("book/index")
    page.keyboard.press("Control+k")
    page.keyboard.type("CUDA_ERROR_CONTEXT_IS_DESTROYED")
    page.keyboard.press("Enter")
    results = page.locator("#search-results li a")
    expect(results.filter(has_text="A kernel that syncs the whole grid")).to_be_visible()
    expect(results.filter(has_text="Find your error").first).to_be_visible()


def paste(page, text):
    page.get_by_label("Paste a traceback").fill(text)
    return page.locator(".answer")


def test_box_finds_the_case_of_a_stored_traceback(visit):
    page = visit("book/errors")
    for chapter in load():
        cell = next(cell for cell in chapter.cells if cell.header and (cell.header.raises or cell.header.signal))
        answer = paste(page, cell.text)
        expect(answer.locator("h3")).to_contain_text(f"Case {chapter.name[:2]}")
        expect(answer.locator(f'a[href$="{chapter.name}.html#cell-{cell.number}"]')).to_be_visible()
        expect(answer.locator(".fact")).to_have_text([re.compile("^Affected .+"), re.compile("^Fixed in .+")])


def test_patterns_mean_to_the_browser_what_they_mean_to_python(visit):
    texts = [cell.text for chapter in load() for cell in chapter.cells if cell.pinned] + list(UNRELATED)
    page = visit("book/errors")
    table = json.loads(page.locator("#patterns").text_content())
    in_python = [[name for name, pattern in table.items() if re.search(pattern, text, re.MULTILINE | re.DOTALL)] for text in texts]
    in_page = "texts => texts.map(text => patterns.filter(([_, pattern]) => pattern.test(text)).map(([item]) => item.id))"
    assert page.evaluate(in_page, texts) == in_python


def test_box_says_when_it_knows_nothing(visit):
    answer = paste(visit("book/errors"), UNRELATED[0])
    expect(answer).to_contain_text("Not in this book")
    assert answer.get_by_role("link").get_attribute("href").endswith("/issues/new")


def test_box_is_announced(visit):
    page = visit("book/errors")
    assert page.get_by_role("status").get_attribute("aria-live") == "polite"
    answer = paste(page, "numba.cuda.cudadrv.driver.CudaAPIError: [709] Call to cuMemFree results in CUDA_ERROR_CONTEXT_IS_DESTROYED")
    expect(answer.locator("h3")).to_have_text("Case 02: A kernel that syncs the whole grid compiles, until it is cached")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/notebooks/02-grid-sync-cache.html")


def test_cell_is_copied_as_one_file_by_keyboard(visit):
    page = visit(FIRST, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy cell 3 as one file").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#cell-3 .export [role=status]")).to_contain_text("uv run case.py")
    assert page.evaluate("navigator.clipboard.readText()") == export(load(["01"])[0], 3)


def test_header_opens_by_keyboard(visit):
    page = visit(FIRST)
    header = page.locator("#cell-3 pre .header")
    expect(header).to_be_hidden()
    page.locator("#cell-3 .bar summary").focus()
    page.keyboard.press("Enter")
    expect(header).to_be_visible()


def test_theme_switch_changes_the_colours_and_is_remembered(visit):
    page = visit("book/index", color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    for _ in ("dark", "auto", "light"):
        if page.evaluate("document.documentElement.dataset.theme") != "dark":
            page.locator("button.theme-switch-button:visible").click()
    assert page.evaluate(paper) != light
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_chapter_is_reached_by_keyboard(visit):
    page = visit("book/index")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")        # skip to the main content
    for _ in range(40):
        page.keyboard.press("Tab")
        if (page.evaluate("document.activeElement.href ?? ''")).endswith(f"{FIRST}.html"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{FIRST}.html")


def test_without_a_script_the_book_reads_on(visit):
    page = visit("book/errors", java_script_enabled=False)
    expect(page.locator(".lookup")).to_be_hidden()
    expect(page.get_by_text("CUDA_ERROR_CONTEXT_IS_DESTROYED")).to_be_visible()
    page.get_by_role("link", name="The GPU refuses a default").first.click()
    expect(page.locator(".export").first).to_be_hidden()
    page.locator("#cell-3 .bar summary").click()
    expect(page.locator("#cell-3 pre .header")).to_be_visible()


def test_a_chapter_prints_whole(visit):
    page = visit(FIRST)
    page.emulate_media(media="print")
    expect(page.locator("#cell-3 pre .header")).to_be_visible()
    expect(page.locator(".bd-sidebar-primary")).to_be_hidden()
    expect(page.locator(".export").first).to_be_hidden()
    cut = page.evaluate("[...document.querySelectorAll('article pre')].filter(pre => pre.scrollWidth > pre.clientWidth + 1 "
                        "|| pre.scrollHeight > pre.clientHeight + 1).length")
    assert not cut

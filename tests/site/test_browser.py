"""The built site in a real browser: what a reader sees, clicks, types and hears. Needs Chromium on the machine."""

import functools
import http.server
import re
import threading

import pytest
from axe_playwright_python.sync_playwright import Axe
from helpers import wait_until
from playwright.sync_api import expect
from sample import SAMPLE

from casebook.cells.repository import ADDRESS

PREFIX = f"/{ADDRESS.rpartition('/')[2]}"  # as on GitHub Pages; the 404 page relies on it
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
FIRST = "notebooks/01-default-arguments"
QUICK = {"resultTypes": ["violations"], "preload": False}  # every rule, best practices included
COLOURS = QUICK | {"runOnly": ["color-contrast", "link-in-text-block"]}  # what a theme can break
# A chapter has thousands of coloured words, Versions as many marks. Those of one class in one kind of cell look alike: one of each stays.
THIN_OUT = """() => {
  const seen = new Set(), cell = "div.cell :is(pre span:not(:has(span)), .bar, .export, .permalink)";
  for (const part of document.querySelectorAll(`${cell}, ul.messages > li, .versions td span span`)) {
    let look = "";
    for (let place = part; place.localName != "article"; place = place.parentElement) look += place.localName + place.className + "/";
    seen.has(look) ? part.remove() : seen.add(look);
  }
}"""
# What is wider than its box and does not show it: by a shadow at the edge, which is a ground that moves with the content.
CLIPPED = """() => [...document.querySelectorAll("article *")].filter(part => {
  const style = getComputedStyle(part);
  if (part.scrollWidth <= part.clientWidth + 1 || !part.clientWidth || style.overflowX == "visible") return false;
  const grounds = [...part.querySelectorAll("table, tr, th, td")].map(one => getComputedStyle(one).backgroundColor);
  const hidden = grounds.some(ground => ground != "rgba(0, 0, 0, 0)");
  const moves = style.backgroundAttachment.includes("local") && style.backgroundImage.includes("gradient");
  return hidden || !(style.overflowX == "auto" && moves);
}).map(part => `${part.closest(".cell")?.id ?? ""} ${part.localName}.${part.className}: ${part.textContent.trim().slice(0, 60)}`)"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files

    def log_message(self, *_):
        pass

    def translate_path(self, path):
        return super().translate_path(path.removeprefix(PREFIX))


@pytest.fixture(scope="module")
def server(site):
    """Address that serves the site for as long as these tests run."""
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=site)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
        server.shutdown()


@pytest.fixture
def visit(browser, server):
    """Opens a page: `visit("book/run", color_scheme="dark")`. At the end nothing was logged, and nothing asked of another host."""
    complaints, contexts = [], []

    def open_page(name, **options):
        context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce"} | options)
        context.set_default_timeout(
            0
        )  # pytest's limit is enough: on a busy machine a page may take a minute
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning") and complaints.append(message.text)
            ),
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: (
                request.url.startswith((server, "data:")) or complaints.append(request.url)
            ),
        )
        page.goto(f"{server}/{name}.html")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


def names(site):
    """The pages that a reader can come to, and the sample."""
    written = [
        f"{folder}/{path.stem}"
        for folder in ("book", "notebooks")
        for path in sorted((site / folder).glob("*.html"))
    ]
    return [*written, "search", "404"]


def kinds(site):
    """One page of each kind: of the book, a chapter, a short case, the sample."""
    short = next((name for name in names(site) if re.match("notebooks/[1-8]", name)), FIRST)
    return [
        "book/index",
        "book/errors",
        "book/run",
        "book/found",
        "book/status",
        "book/versions",
        "search",
        "404",
        FIRST,
        short,
        SAMPLE,
    ]


@pytest.mark.timeout(1200)
def test_nothing_is_clipped(visit, server, site):
    page, problems = visit("404"), []
    for name in names(site):
        page.goto(f"{server}/{name}.html")
        for screen in (WIDE, PHONE):
            page.set_viewport_size(screen)
            too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            problems += [f"{name}, {screen['width']}: {too_wide} pixels wider than the screen"] * (
                too_wide > 0
            )
            problems += [f"{name}, {screen['width']}: {part}" for part in page.evaluate(CLIPPED)]
    assert not problems, "\n".join(problems)


@pytest.mark.timeout(1200)
def test_pages_are_accessible(visit, server, site):
    page, problems = visit("404"), []
    page.add_init_script(Axe().axe_script)
    for name in kinds(site):
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(PHONE)
        page.goto(f"{server}/{name}.html")
        page.evaluate(THIN_OUT)
        for screen in (PHONE, WIDE):
            page.set_viewport_size(screen)
            problems += [
                f"{name}, {screen['width']}: {problem}" for problem in violations(page, QUICK)
            ]
        page.emulate_media(color_scheme="dark")
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        problems += [f"{name}, dark: {problem}" for problem in violations(page, COLOURS)]
    assert not problems, "\n".join(problems)


def violations(page, options):
    found = page.evaluate("options => axe.run(options).then(found => found.violations)", options)
    return [f"{rule['id']}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]


def test_search_finds_an_error_message(visit):
    page = visit("book/index")
    page.keyboard.press("Control+k")
    page.keyboard.type("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")
    page.keyboard.press("Enter")
    results = page.locator("#search-results li a")
    expect(results.filter(has_text="A kernel that syncs the whole grid")).to_be_visible()
    expect(results.filter(has_text="Find your error").first).to_be_visible()


def test_search_ranks_the_cases_own_chapter_first(visit):
    page = visit("search")
    page.goto(f"{page.url}?q=Signature+mismatch")
    expect(page.locator("#search-results li a").first).to_have_text(
        "The GPU refuses a default argument that the CPU accepts"
    )


def test_search_that_finds_nothing_points_to_find_your_error(visit):
    page = visit("search")
    page.goto(f"{page.url}?q=illegal+zebra")
    page.get_by_role("link", name="Find your error").first.click()
    page.wait_for_url("**/book/errors.html")


def paste(page, text):
    page.get_by_label("Paste a traceback").fill(text)
    return page.locator(".answer")


@pytest.mark.parametrize("name", ["book/index", "book/errors"])
def test_box_says_which_case_it_is_and_why(visit, name):
    answer = paste(
        visit(name),
        "numba.core.errors.LoweringError: Failed in cuda mode pipeline (step: native lowering)\n"
        "No definition for lowering (<class 'numba.cuda.types.GridGroup'>, 'sync')(GridGroup,) -> int32",
    )
    expect(answer.locator(".finding")).to_have_class("finding sure")
    expect(answer.locator(".mark")).to_have_text("This is it")
    expect(answer.locator("h3")).to_contain_text("Case 02: A kernel that syncs the whole grid")
    expect(answer.locator(".fact")).to_have_text(
        [re.compile("^Affected .+"), re.compile("^Fixed in .+")]
    )
    expect(answer).to_contain_text("from Numba's CUDA target")
    answer.get_by_role("link", name=re.compile(r"^cell \d+$")).first.click()
    expect(visit_target(answer.page)).to_be_visible()


def visit_target(page):
    """The cell that the address names."""
    page.wait_for_url("**/notebooks/*#cell-*")
    return page.locator(f"#{page.url.partition('#')[2]}")


def test_box_says_perhaps_and_what_would_decide(visit):
    answer = paste(
        visit("book/errors"),
        "TypeError: Signature mismatch: 1 argument types given, but function takes 2 arguments",
    )
    expect(answer.locator(".finding.perhaps .mark")).to_have_text("Perhaps")
    expect(answer).to_contain_text("Perhaps, if Numba's CUDA target raised it")


def test_box_says_whom_to_ask_when_it_knows_nothing(visit):
    text = '  File "/v/lib/python3.12/site-packages/cupy/_core/core.py", line 9, in f\nValueError: no such thing'
    answer = paste(visit("book/errors"), text)
    expect(answer.locator(".finding.unknown .mark")).to_have_text("Not in this book")
    expect(answer.get_by_role("link", name="CuPy", exact=True)).to_have_attribute(
        "href", "https://github.com/cupy/cupy/issues"
    )
    expect(answer.get_by_role("link", name="A Python scalar in")).to_be_visible()
    expect(answer.get_by_role("link", name="doctor")).to_have_attribute(
        "href", re.compile("run.html#check-your-machine$")
    )
    expect(answer.get_by_role("link", name="report it here")).to_have_attribute(
        "href", re.compile("/issues/new$")
    )


def test_box_is_announced_and_its_answer_is_reached_by_keyboard(visit):
    page = visit("book/errors")
    answer = paste(page, "ObjectCode objects cannot be instantiated directly.")
    expect(answer).to_have_attribute("aria-live", "polite")
    expect(answer.locator("h3")).to_contain_text("Case 03")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/notebooks/03-jit-options.html")


def test_first_page_filters_by_library(visit):
    page = visit("book/index")
    every = page.locator("ul.cases > li:visible").count()
    page.get_by_label("nanobind", exact=True).check()
    expect(
        page.locator("ul.cases > li:visible .case-title").filter(has_text="The GPU array that said")
    ).not_to_have_count(0)
    expect(page.locator("ul.cases > li:visible").filter(has_text="Something breaks")).to_have_count(
        0
    )
    expect(page.locator("#filter [role=status]")).to_have_text(re.compile(r"^\d+ cases?$"))
    page.get_by_label("all", exact=True).check()
    expect(page.locator("ul.cases > li:visible")).to_have_count(every)


def test_cell_is_copied_as_one_file_by_keyboard(visit, site):
    page = visit(FIRST, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy cell 3 as one file").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#cell-3 .export [role=status]")).to_contain_text("uv run case.py")
    file = page.locator("#cell-3 .export button").get_attribute("data-file")
    text = (site / "notebooks" / file).read_text("utf8")
    assert page.evaluate("navigator.clipboard.readText()") == text


def test_header_opens_by_keyboard_and_the_copy_carries_it(visit):
    page = visit(SAMPLE, permissions=["clipboard-read", "clipboard-write"])
    header = page.locator("#cell-1 pre .header")
    expect(header).to_be_hidden()
    page.locator("#cell-1 .bar summary").focus()
    page.keyboard.press("Enter")
    expect(header).to_be_visible()
    page.locator("#cell-1 .highlight").first.hover()
    page.locator("#cell-1 button.copybtn").click()
    shown = page.locator("#cell-1 .cell_input pre").text_content().rstrip()
    assert wait_until(lambda: page.evaluate("navigator.clipboard.readText()").rstrip() == shown)


def test_what_has_the_focus_shows_it(visit):
    page = visit(SAMPLE)
    hidden = []
    for _ in range(60):
        page.keyboard.press("Tab")
        hidden += page.evaluate("""() => {
          const part = document.activeElement, style = getComputedStyle(part);
          return part != document.body && (style.outlineStyle == "none" || parseFloat(style.outlineWidth) < 2 || +style.opacity < 1)
            ? [part.outerHTML.slice(0, 100)] : [];
        }""")
    assert not hidden


def test_plots_scale_and_open_large(visit):
    page = visit(SAMPLE, viewport=PHONE)
    plot = page.locator("#cell-5 a.plot")
    assert 200 < plot.locator("img").bounding_box()["width"] <= PHONE["width"]
    picture = page.request.get(plot.evaluate("link => link.href"))
    assert picture.ok and "<svg" in picture.text()


def test_releases_fit_a_phone_or_scroll_in_their_box(visit):
    page = visit(FIRST, viewport=PHONE)
    strip = page.locator(".strip").last
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert (
        strip.evaluate(
            "table => { table.style.minWidth = '60em'; return table.offsetWidth - table.parentElement.clientWidth }"
        )
        > 0
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_theme_switch_changes_the_colours_and_is_remembered(visit):
    page = visit("book/index", color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for _ in ("dark", "auto", "light"):
        if page.evaluate("document.documentElement.dataset.theme") != "dark":
            page.locator("button.theme-switch-button:visible").click()
    expect(page.locator("body")).not_to_have_css("background-color", light)
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_chapter_is_reached_by_keyboard(visit):
    page = visit("book/index")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the main content
    for _ in range(80):
        page.keyboard.press("Tab")
        if (page.evaluate("document.activeElement.href ?? ''")).endswith(f"{FIRST}.html"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{FIRST}.html")


def test_without_a_script_the_book_reads_on(visit):
    page = visit("book/errors", java_script_enabled=False)
    expect(page.locator(".lookup")).to_be_hidden()
    expect(page.get_by_text("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE").first).to_be_visible()
    page.goto(page.url.replace("errors", "index"))
    expect(page.locator("#filter")).to_be_hidden()
    page.get_by_role("link", name="The GPU refuses a default").first.click()
    page.locator("#cell-3 .bar summary").click()
    expect(page.locator("#cell-3 pre .header")).to_be_visible()


def test_a_chapter_prints_light_whole_and_with_headers_folded(visit):
    page = visit(SAMPLE, color_scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(media="print")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.locator("#cell-1 pre .header")).to_be_hidden()
    expect(page.locator(".bd-sidebar-primary")).to_be_hidden()
    expect(page.locator(".export").first).to_be_hidden()
    cut = page.evaluate(
        "[...document.querySelectorAll('article :is(pre, table)')].filter(part => part.scrollWidth > part.clientWidth + 1 "
        "|| part.scrollHeight > part.clientHeight + 1).length"
    )
    assert not cut
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")

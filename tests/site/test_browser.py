"""The built site in a real browser: what a reader sees, clicks, types and hears. Needs Chromium on
the machine. `visit` fails for what is logged, and for requests that leave the site."""

import json
import re
from urllib.parse import parse_qs, urlencode, urlsplit

import yaml
from helpers import ROOT
from page_checks import LINES_OF_CASES, PHONE, WIDE, layout, violations
from playwright.sync_api import expect
from sample import LOST, MARKED, MARKUP, SAMPLE

from casebook.cells.repository import ADDRESS
from casebook.reports import entries, runs
from casebook.reports.issue import issue

FIRST = "notebooks/01-default-arguments"
# A page of each kind. tests/places lets axe look at all pages.
KINDS = ("book/index", "book/versions", "404", SAMPLE, "book/errors", "book/status", FIRST)
# Elements and attributes that only the markup of the data files can have made.
INJECTED = """() => document.title == "owned"
  || document.querySelectorAll("[onerror], [src=x]").length
  || [...document.scripts].some(script => script.text.startsWith("document.title"))"""


def test_pages_work_on_a_phone(visit, server):
    """Nothing logged, asked of others or clipped, what to do on the first screen; of the sample,
    which has a cell of each kind, axe agrees."""
    page, problems = visit("404", viewport=PHONE, color_scheme="dark"), []
    for name in KINDS:
        page.goto(f"{server}/{name}.html")
        problems += [*layout(page), *(violations(page) if name == SAMPLE else ())]
    assert not problems, "\n".join(problems)


def test_markup_in_data_files_is_text(visit, server, site):
    page = visit(MARKED)
    for name in (MARKED, "book/index", "book/errors", "book/versions", "book/status", LOST):
        page.goto(f"{server}/{name}.html")
        assert not page.evaluate(INJECTED), name
    page.goto(f"{server}/book/errors.html")
    book = json.loads((site / "_static/cases.js").read_text("utf8")[13:-2])
    (case,) = [case for case in book["cases"] if case["href"].endswith(f"{MARKED}.html")]
    for message in case["messages"]:
        answer = paste(page, message["text"])
        expect(answer.locator(".finding").first).to_be_visible()
        assert not page.evaluate(INJECTED), message
    assert MARKUP in page.locator("article").inner_text()


def test_search_finds_an_error_message_and_ranks_the_cases_own_chapter_first(visit):
    page = visit("book/index")
    page.keyboard.press("Control+k")
    page.keyboard.type("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")
    page.keyboard.press("Enter")
    results = page.locator("#search-results li a")
    expect(results.filter(has_text="Many short kernel launches are slow")).to_be_visible()
    expect(results.filter(has_text="Find your error").first).to_be_visible()
    page.goto(f"{page.url.partition('?')[0]}?q=Signature+mismatch")
    expect(results.first).to_have_text(
        "01 Numba CUDA: a device function called without its default argument does not compile"
    )


SEARCHES = yaml.safe_load((ROOT / "tests/site/searches.yml").read_text("utf8"))


def test_search_shows_the_right_case_among_the_first_three(visit):
    """Of what people type, one in fifteen may go astray."""
    page, missed = visit("search"), []
    for words, cases in SEARCHES.items():
        page.goto(f"{page.url.partition('?')[0]}?{urlencode({'q': words})}")
        expect(page.locator("#search-results .search-summary")).to_contain_text("Search finished")
        found = page.locator("#search-results li a").all_inner_texts()[:3]
        if not any(text.startswith(f"{case} ") for text in found for case in str(cases).split()):
            missed.append((words, found))
    assert len(missed) <= len(SEARCHES) / 15, missed


def paste(page, text):
    page.get_by_label("Paste a traceback").fill(text)
    return page.locator(".answer")


def test_a_list_of_packages_gets_its_known_faults_and_one_command(visit):
    page = visit("book/errors")
    answer = paste(page, "Package Version\n------- -------\nnumba-cuda 0.7.0\nnumba 0.61.2\n")
    expect(answer.locator(".mark")).to_have_text("Known faults in these releases")
    expect(answer.locator("pre")).to_have_text(
        re.compile(r'pip install "numba-cuda==\d+\.\d+\.\d+" "numpy<2\.5"')
    )
    expect(answer).to_contain_text(re.compile(r"This installs numba-cuda \d+\.\d+\.\d+, numpy<2"))
    case = answer.get_by_role("link", name="Case 01")
    expect(case).to_have_attribute("href", "../notebooks/01-default-arguments.html")
    assert not [*layout(page), *violations(page)]
    answer = paste(page, "numpy==1.26.4\nmine @ file:///x\n")
    expect(answer.locator(".mark")).to_have_text("No known fault in these releases")


def test_box_says_which_case_it_is_and_why(visit):
    answer = paste(
        visit("book/index"),
        "numba.core.errors.LoweringError: Failed in cuda mode pipeline (step: native lowering)\n"
        "No definition for lowering (<class 'numba.cuda.types.GridGroup'>, 'sync')(GridGroup,)",
    )
    expect(answer.locator(".finding")).to_have_class("finding sure")
    expect(answer.locator(".mark")).to_have_text("This is it")
    expect(answer.locator("h2")).to_contain_text("Case 02: Cached kernel with grid.sync()")
    expect(answer.locator(".finding > :first-child")).to_have_text(re.compile("^Do .+"))
    expect(answer.locator(".fact").nth(1)).to_have_text(re.compile("^Affected .+ Fixed in .+"))
    expect(answer).to_contain_text("from Numba's CUDA target")
    answer.get_by_role("link", name=re.compile(r"^cell \d+$")).first.click()
    answer.page.wait_for_url("**/notebooks/*#cell-*")
    expect(answer.page.locator(":target")).to_be_visible()


def test_box_says_what_would_decide_and_whom_to_ask_and_is_used_by_keyboard(visit):
    page = visit("book/errors")
    answer = paste(
        page,
        "TypeError: Signature mismatch: 1 argument types given, but function takes 2 arguments",
    )
    expect(answer.locator(".finding.perhaps .mark")).to_have_text("Likely")
    expect(answer).to_contain_text("Did Numba's CUDA target raise it?")
    paste(page, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: compiled with an unsupported toolchain.")
    expect(answer.locator(".finding.general > :first-child")).to_have_text(re.compile("^Do .+"))
    expect(answer.locator(".finding.general pre")).to_contain_text("pip list")
    expect(answer.locator(".finding.general .can")).to_have_text(
        ["1 case can end so:", "Nearest by words, usually not it:"]
    )
    like = answer.locator(".finding.general .like")
    expect(like.first).to_have_text(re.compile(r"\? Case 08$"))
    expect(answer.locator(".like + .fact").first).to_have_text(re.compile("^Do .+"))
    paste(page, "kernel with syncthreads in while never returns")
    expect(answer.locator(".mark")).to_have_text("Nearest by words")
    expect(answer.locator(".like").first).to_have_text(re.compile(r"\? Case 20$"))
    expect(answer.locator(".like + .fact").first).to_have_text(re.compile("^Do Call the barrier"))
    frame = '  File "/v/lib/python3.12/site-packages/cupy/_core/core.py", line 9, in f'
    paste(page, f"{frame}\nValueError: no such thing")
    expect(answer.locator(".finding.unknown .mark")).to_have_text(
        "No message of this book stands in your text"
    )
    expect(answer.locator(".mark + p")).to_contain_text("It is probably not in this book")
    expect(answer.locator(".near .can")).to_have_text("Nearest by words, usually not it:")
    expect(answer.locator(".like")).to_have_count(3)
    expect(answer.locator(".near .fact").first).to_be_hidden()
    for name, address in {
        "CuPy": "https://github.com/cupy/cupy/issues$",
        "doctor": "run.html#check-your-machine$",
        "report it here": "/issues/new$",
    }.items():
        link = answer.get_by_role("link", name=name, exact=True)
        expect(link).to_have_attribute("href", re.compile(address))
    answer.get_by_text("cases about the same library").click()
    expect(answer.get_by_role("link", name="A Python scalar in").first).to_be_visible()
    paste(page, ">>>")
    expect(answer).to_be_empty()
    paste(page, "BufferError: Can't export tensors that require gradient")
    expect(answer.locator(".mark")).to_have_text("No case, but an answer")
    expect(answer.locator("pre")).to_contain_text("t.detach()")
    paste(page, "ObjectCode objects cannot be instantiated directly.")
    expect(answer).to_have_attribute("aria-live", "polite")
    expect(answer.locator("h2")).to_contain_text("Case 03")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/notebooks/03-jit-options.html")


def test_nothing_that_fits_is_no_dead_end_and_answers_have_addresses(visit):
    page = visit("book/errors")
    answer = paste(page, "strange colours in my histogram of a cupy image")
    expect(answer.locator(".mark")).to_have_text("Nearest by words")
    expect(answer.locator(".like + .fact").first).to_have_text(re.compile("^Do .+"))
    answer = paste(page, "qqq zzz")
    expect(answer.locator(".mark")).to_have_text("Say more")
    words = "kernel with syncthreads in while never returns"
    page.goto(f"{page.url.partition('#')[0]}#q={words.replace(' ', '%20')}")
    expect(page.get_by_label("Paste a traceback")).to_have_value(words)
    expect(page.locator(".answer .like").first).to_have_text(re.compile(r"\? Case 20$"))
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    assert page.evaluate("address('x', [])").endswith("/book/errors.html#q=x")
    case = page.evaluate("address('x', [{ case: { number: '34' } }])")
    assert case.endswith("/book/errors.html#case-34")
    page.goto(case)
    expect(page.locator("#case-34")).to_be_visible()


def test_an_answer_uses_the_gpu_and_the_releases_that_a_text_names(visit):
    page = visit("book/errors")
    words = "nvrtc: error: invalid value for --gpu-architecture (-arch)"
    for gpu, number, action in (("GTX 1080", "6.1", "new env"), ("RTX 5090", "12.0", "Upgrade Py")):
        answer = paste(page, f"GeForce {gpu}\ncupy.cuda.compiler.CompileException: {words}")
        expect(answer).to_contain_text(f"names {gpu}, a GPU of compute capability {number}")
        expect(answer.locator(".finding > :first-child")).to_contain_text(action)
    trace = "numba-cuda 0.7.0\n  File /v/site-packages/numba_cuda/numba/cuda/compiler.py, line 9\n"
    message = "Signature mismatch: 1 argument types given, but function takes 2 arguments"
    answer = paste(page, f"{trace}TypeError: {message}")
    expect(answer).to_contain_text("names numba-cuda 0.7.0, which this case affects")
    log = "nothing\n" * 900
    expect(paste(page, log + words + "\n" + log).locator(".skipped")).to_contain_text("were not")


def test_first_page_filters_by_library_and_kind(visit):
    page = visit("book/index")
    shown = page.locator("ul.cases > li:visible")
    every = shown.count()
    page.get_by_label("nanobind", exact=True).check()
    expect(shown.filter(has_text="A GPU array returned by nanobind")).not_to_have_count(0)
    expect(shown.filter(has_text="hypergeometric")).to_have_count(0)
    expect(page.locator("#filter [role=status]")).to_have_text(re.compile(r"^\d+ cases?$"))
    page.get_by_label("hang", exact=True).check()
    expect(shown).to_have_count(0)
    for label in page.get_by_label("all", exact=True).all():
        label.check()
    expect(shown).to_have_count(every)
    page.get_by_label("CuPy", exact=True).check()
    numbers = shown.locator(".fault:visible .number").all_inner_texts()
    assert numbers.index("43") < numbers.index("05")  # which is about nanobind first
    page.get_by_label("hang", exact=True).check()
    expect(page.get_by_text("if nsample > max(10, ngood + nbad)")).to_be_visible()
    page.get_by_label("wrong numbers", exact=True).check()
    expect(page.get_by_text("accepts invalid parameters")).to_be_visible()
    expect(page.get_by_text("if nsample > max(10, ngood + nbad)")).to_be_hidden()


def test_filters_are_folded_on_a_phone_and_what_they_leave_is_on_the_screen(visit):
    page = visit("book/index", viewport=PHONE)
    expect(page.get_by_label("CuPy", exact=True)).to_be_hidden()
    expect(page.locator("ul.cases > li").first).to_be_in_viewport(ratio=1)
    page.get_by_text("Filter by library and kind").click()
    for label in ("nanobind", "crash"):
        page.get_by_label(label, exact=True).check()
        expect(page.locator("ul.cases > li:visible").first).to_be_in_viewport(ratio=1)
    page.set_viewport_size(WIDE)
    expect(page.get_by_label("CuPy", exact=True)).to_be_visible()


def test_each_case_of_the_first_page_takes_few_lines(visit):
    """Three on a desk, where nothing is cut off, and five on a phone."""
    desk = visit("book/index", viewport=WIDE).evaluate(LINES_OF_CASES)
    phone = visit("book/index", viewport=PHONE).evaluate(LINES_OF_CASES)
    assert max(desk) <= [3, False] and max(lines for lines, _ in phone) <= 5


def test_cell_is_copied_as_one_file_by_keyboard(visit, site):
    page = visit(FIRST)
    page.get_by_role("button", name="Copy cell 4 as one file").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#cell-4 .export [role=status]")).to_contain_text("uv run case.py")
    file = page.locator("#cell-4 .export button").get_attribute("data-file")
    text = (site / "notebooks" / file).read_text("utf8")
    assert page.evaluate("navigator.clipboard.readText()") == text


def test_a_bug_is_copied_as_an_issue(visit):
    page = visit("book/found")
    section = page.locator("#sys-path")
    section.get_by_role("button", name="Copy as issue").click()
    expect(section.get_by_role("status")).to_contain_text("The first line is the title")
    (entry,) = [entry for entry in entries() if entry.name == "sys-path"]
    run = next(run for run in runs() if run.name == entry.name)
    assert page.evaluate("navigator.clipboard.readText()") == issue(entry, run)
    section.get_by_text("The issue, to be copied").click()  # without JavaScript, it is here
    expect(section.locator("pre", has_text="### Steps to reproduce")).to_be_visible()


def test_header_opens_by_keyboard_and_the_copy_carries_it(visit):
    page = visit(SAMPLE)
    header = page.locator("#cell-1 pre .header")
    expect(header).to_be_hidden()
    page.locator("#cell-1 .bar summary").focus()
    page.keyboard.press("Enter")
    expect(header).to_be_visible()
    page.locator("#cell-1 .highlight").first.hover()
    page.locator("#cell-1 button.copybtn").click()
    shown = page.locator("#cell-1 .cell_input pre").text_content().rstrip()
    expect(page.locator("#cell-1 button.copybtn.success")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").rstrip() == shown


def test_what_has_the_focus_shows_it(visit):
    page = visit(SAMPLE)
    hidden = []
    for _ in range(60):
        page.keyboard.press("Tab")
        hidden += page.evaluate("""() => {
          const part = document.activeElement, style = getComputedStyle(part);
          const outline = style.outlineStyle == "none" ? 0 : parseFloat(style.outlineWidth);
          const unseen = part != document.body && (outline < 2 || +style.opacity < 1);
          return unseen ? [part.outerHTML.slice(0, 100)] : [];
        }""")
    assert not hidden


def test_theme_switch_changes_the_colours_and_is_remembered(visit):
    page = visit("book/index", color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for _ in ("dark", "auto", "light"):
        if page.evaluate("document.documentElement.dataset.theme") != "dark":
            page.locator("button.theme-switch-button:visible").click()
    expect(page.locator("body")).not_to_have_css("background-color", light)
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_without_a_script_the_book_reads_on(browser, server):
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"{server}/book/errors.html")
    expect(page.locator(".lookup")).to_be_hidden()
    expect(page.get_by_text("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE").first).to_be_visible()
    page.goto(page.url.replace("errors", "run"))
    expect(page.locator("#hub")).to_be_hidden()
    expect(
        page.get_by_text(f"https://HUB/hub/user-redirect/git-pull?repo={ADDRESS}")
    ).to_be_visible()
    page.goto(page.url.replace("run", "index"))
    expect(page.locator("#filter")).to_be_hidden()
    page.get_by_role("link", name="A device function called without").first.click()
    page.locator("#cell-4 .bar summary").click()
    expect(page.locator("#cell-4 pre .header")).to_be_visible()
    page.close()


def test_a_chapter_prints_light_whole_and_with_headers_folded(visit):
    page = visit(SAMPLE, color_scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(media="print")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.locator("#cell-1 pre .header")).to_be_hidden()
    expect(page.locator(".bd-sidebar-primary")).to_be_hidden()
    expect(page.locator(".export").first).to_be_hidden()
    cut = page.evaluate("""[...document.querySelectorAll("article :is(pre, table)")].filter(part =>
      part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1
    ).length""")
    assert not cut
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_link_of_a_hub_fetches_the_book_and_opens_the_chapters(visit):
    page = visit("book/run")
    box, form = page.get_by_label("Address of your hub"), page.locator("#hub")
    for typed, root in {
        "https://hub.example.org": "https://hub.example.org",
        "https://example.org/jupyter/hub/home": "https://example.org/jupyter",
        "https://hub.example.org/user/me/lab/tree/x?reset=1#top": "https://hub.example.org",
        "http://user.example.org:8000/hub/": "http://user.example.org:8000",
    }.items():
        box.fill(typed)
        link = form.get_by_role("link").get_attribute("href")
        assert link.startswith(f"{root}/hub/user-redirect/git-pull?")
        assert parse_qs(urlsplit(link).query) == {
            "repo": [ADDRESS],
            "branch": ["main"],
            "urlpath": [f"lab/tree/{ADDRESS.rpartition('/')[2]}/notebooks"],
        }
    for typed, said in {"": "", "hub": "Not an address yet: it begins with https://"}.items():
        box.fill(typed)
        expect(form.get_by_role("link")).to_have_count(0)
        expect(form.get_by_role("status")).to_have_text(said)

"""Looks at a page in the browser: what axe says of it, and what is clipped."""

import functools

from axe_playwright_python.sync_playwright import Axe

WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
FIRST_DO = """() => {
  const box = document.querySelector("table.case-card tbody td:nth-child(2)")
    .getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
}"""
# Of each fault on the first page: its lines, and whether some are cut off.
LINES_OF_CASES = """() => [...document.querySelectorAll("ul.cases .fault")].map(item => {
  item.classList.remove("other");
  const parts = [...item.querySelectorAll("p")];
  const lines = parts.map(one =>
    Math.round(one.clientHeight / parseFloat(getComputedStyle(one).lineHeight)));
  const below = parts[0].offsetLeft == parts[1].offsetLeft;
  const cut = parts.some(one => one.scrollHeight > one.clientHeight + 2);
  return [below ? lines[0] + lines[1] : Math.max(...lines), cut];
})"""
# A chapter has thousands of coloured words, Versions as many marks. Those of one class in one kind
# of cell look alike: one of each stays.
THIN_OUT = """() => {
  const seen = new Set();
  const cell = "div.cell :is(pre span:not(:has(span)), .bar, .export, .permalink)";
  const marks = ".versions td span span";
  for (const part of document.querySelectorAll(`${cell}, ul.messages > li, ${marks}`)) {
    let look = "";
    for (let place = part; place.localName != "article"; place = place.parentElement)
      look += place.localName + place.className + "/";
    seen.has(look) ? part.remove() : seen.add(look);
  }
}"""
# What is wider than its box and does not show it: by a shadow at the edge, which is a ground that
# moves with the content.
CLIPPED = """() => [...document.querySelectorAll("article *")].filter(part => {
  if (part.scrollWidth <= part.clientWidth + 1 || !part.clientWidth) return false;
  const style = getComputedStyle(part);
  if (style.overflowX == "visible") return false;
  const inside = [...part.querySelectorAll("table, tr, th, td")];
  const grounds = inside.map(one => getComputedStyle(one).backgroundColor);
  const hidden = grounds.some(ground => ground != "rgba(0, 0, 0, 0)");
  const moves = style.backgroundAttachment.includes("local")
    && style.backgroundImage.includes("gradient");
  return hidden || !(style.overflowX == "auto" && moves);
}).map(part => `${part.closest(".cell")?.id ?? ""} ${part.localName}.${part.className}: `
  + part.textContent.trim().slice(0, 60))"""


def names(site):
    """The pages that a reader can come to, and those that tests add."""
    folders = ("book", "notebooks")
    pages = [
        f"{folder}/{path.stem}" for folder in folders for path in (site / folder).glob("*.html")
    ]
    return [*sorted(pages), "search", "404"]


def layout(page):
    """What is wider than the screen or clipped, and a first Do that asks for scrolling."""
    where = f"{page.url.rpartition('/')[2]}, {page.viewport_size['width']}"
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        yield f"{where}: wider than the screen"
    yield from (f"{where}: {part}" for part in page.evaluate(CLIPPED))
    if "/notebooks/" in page.url and not page.evaluate(FIRST_DO):
        yield f"{where}: the first Do is not on the screen"


@functools.cache
def script():
    return Axe().axe_script


def violations(page):
    """What axe finds on a page by all its rules, best practices included, a line each."""
    page.evaluate(script())
    page.evaluate(THIN_OUT)
    found = page.evaluate(
        "axe.run({resultTypes: ['violations'], preload: false}).then(found => found.violations)"
    )
    where = f"{page.url.rpartition('/')[2]}, {page.viewport_size['width']}"
    return [f"{where}, {rule['id']}: {n['html'][:120]}" for rule in found for n in rule["nodes"]]


def on_every_page(visit, server, site, screen, scheme):
    """Assert that nothing is wrong on a screen of this size, in the dark or light scheme."""
    page, problems = visit("404"), []
    page.set_viewport_size(screen)  # first: the theme makes focusable what then scrolls
    page.emulate_media(color_scheme=scheme)
    for name in names(site):
        page.goto(f"{server}/{name}.html")
        problems += [*layout(page), *violations(page)]
    assert not problems, "\n".join(problems)

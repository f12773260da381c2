"""Every page of the site, wide and narrow: nothing logged, asked of others or clipped, what to do
on the first screen; axe is content, light and dark."""

import pytest
from page_checks import COLOURS, EVERY_RULE, PHONE, WIDE, layout, names, violations


@pytest.mark.timeout(1800)
def test_every_page(visit, server, site):
    page, problems = visit("404"), []
    for name in names(site):
        for screen in (PHONE, WIDE):
            page.set_viewport_size(screen)  # first: the theme makes focusable what then scrolls
            page.goto(f"{server}/{name}.html")
            problems += [*layout(page), *violations(page, EVERY_RULE)]
        page.emulate_media(color_scheme="dark")
        problems += violations(page, COLOURS)
        page.emulate_media(color_scheme="light")
    assert not problems, "\n".join(problems)

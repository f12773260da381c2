"""Every page of the site, narrow and dark, wide and light: nothing logged, asked of others or
clipped, what to do on the first screen; axe is content."""

import pytest
from page_checks import PHONE, WIDE, layout, names, violations


@pytest.mark.timeout(1800)
def test_every_page(visit, server, site):
    page, problems = visit("404"), []
    for name in names(site):
        for screen, scheme in ((PHONE, "dark"), (WIDE, "light")):
            page.set_viewport_size(screen)  # first: the theme makes focusable what then scrolls
            page.emulate_media(color_scheme=scheme)
            page.goto(f"{server}/{name}.html")
            problems += [*layout(page), *violations(page)]
    assert not problems, "\n".join(problems)

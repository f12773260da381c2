"""Every page of the site, narrow and dark: nothing logged, asked of others or clipped, what to do
on the first screen; axe is content."""

import pytest
from page_checks import PHONE, on_every_page


@pytest.mark.timeout(1800)
def test_every_page(visit, server, site):
    on_every_page(visit, server, site, PHONE, "dark")

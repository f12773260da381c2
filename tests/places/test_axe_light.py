"""As test_axe_dark, wide and light: a file of its own, so that another worker takes it."""

import pytest
from page_checks import WIDE, on_every_page


@pytest.mark.timeout(1800)
def test_every_page(visit, server, site):
    on_every_page(visit, server, site, WIDE, "light")

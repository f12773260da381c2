"""Everything that follows from the repository's address, which _config.yml names once."""

from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config


def site(repository: str) -> str:
    """Address of the site: GitHub Pages of the repository `https://github.com/owner/name`."""
    owner, name = urlsplit(repository).path.strip("/").split("/")
    return f"https://{owner}.github.io/{name}/"


NOT_FOUND = """<h1>No such page</h1>
<p>The address leads nowhere. The <a href="{root}book/index.html">first page</a> lists all cases.
An error message is found by <a href="{root}book/errors.html">Find your error</a>.</p>
"""


def derive(app: Sphinx, config: Config) -> None:
    """Set the address of the site, for all extensions that need it."""
    config.html_baseurl = config.ogp_site_url = site(config.html_theme_options["repository_url"])
    config.notfound_urls_prefix = root = urlsplit(config.html_baseurl).path
    config.notfound_context = {"title": "No such page", "body": NOT_FOUND.format(root=root)}
    config.ogp_site_name = config.html_title
    config.html_theme_options["logo"] = {"text": config.html_title}


def fill_in(app: Sphinx, docname: str, source: list[str]) -> None:
    """In the pages of book/, replace `{repository}` and `{owner/name}` by the address."""
    if docname.startswith("book/"):
        repository = app.config.html_theme_options["repository_url"]
        source[0] = (
            source[0]
            .replace("{repository}", repository)
            .replace("{owner/name}", urlsplit(repository).path.strip("/"))
        )


def setup(app: Sphinx) -> None:
    app.connect("config-inited", derive, priority=900)
    app.connect("source-read", fill_in)

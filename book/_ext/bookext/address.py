"""Everything that follows from the repository's address, which _config.yml names once."""

from urllib.parse import urlsplit


def site(repository):
    """Address of the site: GitHub Pages of the repository `https://github.com/owner/name`."""
    owner, name = urlsplit(repository).path.strip("/").split("/")
    return f"https://{owner}.github.io/{name}/"


def derive(app, config):
    config.html_baseurl = site(config.html_theme_options["repository_url"])
    config.html_theme_options["logo"] = {"text": config.html_title}


def fill_in(app, docname, source):
    """In the pages around the chapters, put the address in place of `{repository}`, and its path in place of `{owner/name}`."""
    if docname.startswith("book/"):
        repository = app.config.html_theme_options["repository_url"]
        source[0] = (
            source[0]
            .replace("{repository}", repository)
            .replace("{owner/name}", urlsplit(repository).path.strip("/"))
        )


def setup(app):
    app.connect("config-inited", derive, priority=900)
    app.connect("source-read", fill_in)

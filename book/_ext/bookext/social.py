"""What a link to a page shows elsewhere: Open Graph tags, and a card drawn for each page."""
import textwrap
from html import escape
from pathlib import Path

from docutils import nodes
from matplotlib.font_manager import findfont
from PIL import Image, ImageDraw, ImageFont

from . import notebook

SIZE, PAPER, FOLDER, INK = (1200, 630), "#faf7ee", "#b08d4b", "#22201b"


def tag_page(app, pagename, templatename, context, doctree):
    """Open Graph tags of a page, and its card beside them."""
    title = next(iter(doctree.findall(nodes.title)), None) if doctree else None
    if not title:
        return
    site, card = app.config.html_baseurl, f"_static/cards/{pagename.replace('/', '-')}.png"
    label = f"CASE {notebook.number(pagename)}" if app.env.doc2path(pagename).endswith(".ipynb") else ""
    draw_card(Path(app.outdir) / card, title.astext(), app.config.html_title, label)
    tags = {"og:title": title.astext(), "og:type": "article", "og:url": f"{site}{pagename}.html", "og:image": site + card}
    lines = [f'<meta property="{name}" content="{escape(value)}" />' for name, value in tags.items()]
    lines.append('<meta name="twitter:card" content="summary_large_image" />')
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)


def draw_card(path, title, book, label):
    """A file folder with the page's title on it, 1200 x 630 pixels."""
    card = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(card)
    draw.polygon([(0, 0), (430, 0), (470, 48), (1200, 48), (1200, 66), (0, 66)], fill=FOLDER)
    small, large = (ImageFont.truetype(findfont(name), size) for name, size in (("DejaVu Sans Mono", 34), ("DejaVu Serif:bold", 62)))
    draw.text((80, 120), label, font=small, fill=INK)
    draw.multiline_text((80, 190), textwrap.fill(title, 26), font=large, fill=INK, spacing=18)
    draw.text((80, 550), book, font=small, fill=INK)
    path.parent.mkdir(parents=True, exist_ok=True)
    card.save(path)


def setup(app):
    app.connect("html-page-context", tag_page)

"""A button below each %%pinned cell that can leave its notebook: it copies the one file that `python -m casebook export` prints."""
from html import escape

from casebook.errors import CasebookError
from casebook.export import export

BUTTON = """<div class="export"><button type="button">Copy cell {number} as one file</button>
<span role="status"></span><template>{text}</template></div>
"""


def button(chapter, number):
    """Markup of the button, or nothing where the cell needs the notebook around it."""
    try:
        return BUTTON.format(number=number, text=escape(export(chapter, number)))
    except CasebookError:
        return ""


def setup(app):
    app.add_js_file("export.js", loading_method="defer")

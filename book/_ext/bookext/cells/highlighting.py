"""Python highlighting inside %%pinned and %%gpu cells, which IPython's lexer leaves plain."""

from docutils import nodes
from ipython_pygments_lexers import IPython3Lexer
from pygments.lexer import bygroups, using
from pygments.lexers.configs import TOMLLexer
from pygments.token import Keyword, Operator, Text
from sphinx.application import Sphinx

from .. import notebook

MAGIC = r"(?s)(\s*)(%%)(pinned|gpu)\b([^\n]*\n)(.*)"
ENVIRONMENTS = r"(?s)(%%)(environments)([ \t]*\n)(.*)"


class CellLexer(IPython3Lexer):
    """IPython 3, and the book's own cell magics with their bodies."""

    tokens = dict(IPython3Lexer.tokens) | {
        "root": [
            (MAGIC, bygroups(Text, Operator, Keyword, Text, using(IPython3Lexer))),
            (ENVIRONMENTS, bygroups(Operator, Keyword, Text, using(TOMLLexer))),
            *IPython3Lexer.tokens["root"],
        ]
    }


def name_language(app: Sphinx, tree: nodes.document) -> None:
    """Set the language of code cells, which the normal form of the notebooks leaves out."""
    for _, container in notebook.cells(tree):
        for source in container[0].findall(nodes.literal_block):
            source["language"] = "ipython3"


def setup(app: Sphinx) -> None:
    app.add_lexer("ipython3", CellLexer)
    app.connect("doctree-read", name_language)

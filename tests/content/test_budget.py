"""How much code each product of the project may have: budget.toml. Every file belongs to one."""

import io
import re
import subprocess
import tokenize
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from helpers import ROOT

TABLE = tomllib.loads(Path(__file__).with_name("budget.toml").read_text("utf-8"))
PRODUCTS, MOST = TABLE["product"], TABLE["most"]
LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}
START, END = (getattr(tokenize, f"FSTRING_{edge}", None) for edge in ("START", "END"))
JAVASCRIPT = re.compile(
    r"""(?xs) (?P<comment> //[^\n]* | /\*.*?\*/ )
    | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | `(?:\\.|[^`\\])*` | [\w$]+ | [=!<>]=+|=>|&&|\|\||\S"""
)


def python_tokens(text):
    """Number of tokens of Python in a text, without comments and layout.

    An f-string is one, as in Python 3.11; later ones split it.
    """
    found, depth = 0, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        found += depth == 0 and token.type not in LAYOUT
        depth += (token.type == START) - (token.type == END)
    return found


def javascript_tokens(text):
    """Number of words, strings and signs, without comments: an estimate, since no regular
    expression of the language is told apart."""
    return sum(not match["comment"] for match in JAVASCRIPT.finditer(text))


def files():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py", "*.js"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split() if (ROOT / name).exists()]


def product_of(name):
    """The first product in the table with a pattern for the file."""
    for product, entry in PRODUCTS.items():
        if any(fnmatch(name, pattern) for pattern in entry["files"]):
            return product
    return None


USED = dict.fromkeys(PRODUCTS, 0)
HOMELESS = []
for file in files():
    if not any(fnmatch(file, pattern) for pattern in TABLE["free"]):
        count = javascript_tokens if file.endswith(".js") else python_tokens
        if product := product_of(file):
            USED[product] += count((ROOT / file).read_text("utf-8"))
        else:
            HOMELESS.append(file)


def test_every_file_belongs_to_a_product():
    assert not HOMELESS


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_product_keeps_its_budget(product):
    most = PRODUCTS[product]["tokens"]
    assert 0 < USED[product] <= most, f"{product}: {USED[product]:,} tokens, {most:,} allowed"


@pytest.mark.parametrize("part", MOST)
def test_the_budgets_keep_their_sums(part):
    tests = part == "tests"
    total = sum(entry["tokens"] for name, entry in PRODUCTS.items() if (name == "tests") == tests)
    assert total <= MOST[part], f"the budgets of {part} add up to {total:,}, not {MOST[part]:,}"


def test_layout_and_comments_cost_nothing():
    assert python_tokens("def f(a):\n    # why\n    return a\n") == 8
    assert javascript_tokens("f(a) // why\n/* and\nwhy */ + `b ${c}` === 'd e'") == 8


def test_an_f_string_is_one_token_on_every_python():
    assert python_tokens("""a = f'{b} and {f"{c!r:>{d}}"}' "e" + f""\n""") == 6

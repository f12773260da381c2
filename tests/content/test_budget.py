"""How much Python the project may have. Raise a budget in a commit of its own that says why."""

import io
import subprocess
import tokenize

import pytest
from helpers import ROOT

BUDGET = {"tooling": 80_810, "tests": 63_060}  # in tokens
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


def tokens(text):
    """Number of tokens of Python in a text, without comments and layout.

    An f-string is one, as in Python 3.11; later ones split it.
    """
    found, depth = 0, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        found += depth == 0 and token.type not in LAYOUT
        depth += (token.type == START) - (token.type == END)
    return found


def part(name):
    """The part of the project that a file belongs to, None for what has no budget."""
    if "/chapter_" in name or "hunt" in name or name.startswith("native/"):
        return None
    return "tests" if name.startswith("tests/") else "tooling"


@pytest.mark.parametrize("name", BUDGET)
def test_budget(name):
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [file for file in listed.stdout.split() if part(file) == name]
    used = sum(tokens((ROOT / file).read_text("utf-8")) for file in files)
    assert files
    assert used <= BUDGET[name], f"{name}: {used:,} tokens, {BUDGET[name]:,} allowed"


def test_layout_and_comments_cost_nothing():
    assert tokens("def f(a):\n    # why\n    return a\n") == 8


def test_an_f_string_is_one_token_on_every_python():
    assert tokens("""a = f'{b} and {f"{c!r:>{d}}"}' "e" + f""\n""") == 6

"""Moves the book to another repository address: in _config.yml, and in every file that repeats it."""
import re
import subprocess
from urllib.parse import urlsplit

from .chapters import ROOT, address
from .errors import CasebookError


def move(new):
    """Replace the address, and the links that open its notebooks on Colab, in all tracked text files; returns those that changed."""
    new = new.removesuffix("/").removesuffix(".git")
    if not re.fullmatch(r"https://[\w.-]+/[\w.-]+/[\w.-]+", new):
        raise CasebookError(f"{new!r} is not an address such as https://github.com/you/casebook: make address URL=…")
    places = {address(): new, f"/github{urlsplit(address()).path}/": f"/github{urlsplit(new).path}/"}
    command = ["git", "grep", "-lIF", *(part for old in places for part in ("-e", old))]
    changed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    for name in changed:
        text = (ROOT / name).read_text(encoding="utf-8")
        for old, other in places.items():
            text = text.replace(old, other)
        (ROOT / name).write_text(text, encoding="utf-8")
    return changed

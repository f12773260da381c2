"""Moves the book to another repository address: in _config.yml, and in every file that repeats it."""
import re
import subprocess
from urllib.parse import urlsplit

from .chapters import ROOT, address
from .errors import CasebookError


def move(new):
    """Replace the address, and its path in links of other sites that open it, in all tracked text files; returns those that changed."""
    new = new.removesuffix("/").removesuffix(".git")
    if not re.fullmatch(r"https://[\w.-]+/[\w.-]+/[\w.-]+", new):
        raise CasebookError(f"{new!r} is not an address such as https://github.com/you/casebook: make address URL=…")
    places = {address(): new, urlsplit(address()).path: urlsplit(new).path}
    old = re.compile("|".join(map(re.escape, places)))
    changed = subprocess.run(["git", "grep", "-lIF", "\n".join(places)], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    for name in changed:
        text = (ROOT / name).read_text(encoding="utf-8")
        (ROOT / name).write_text(old.sub(lambda found: places[found[0]], text), encoding="utf-8")
    return changed

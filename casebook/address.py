"""Moves the book to another repository address: in _config.yml, and in every file that repeats it."""
import re
import subprocess

from .chapters import ROOT, address
from .errors import CasebookError


def move(new):
    """Replace the address in all tracked text files; returns the files that changed."""
    new = new.removesuffix("/").removesuffix(".git")
    if not re.fullmatch(r"https://[\w.-]+/[\w.-]+/[\w.-]+", new):
        raise CasebookError(f"{new!r} is not an address such as https://github.com/you/casebook: make address URL=…")
    old = address()
    listed = subprocess.run(["git", "grep", "-lIF", old], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    for name in listed:
        path = ROOT / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return listed

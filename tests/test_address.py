"""`make address` moves the book: no file keeps the old address, and no receipt becomes stale."""
import subprocess

import pytest

from casebook import address, chapters
from casebook.chapters import ROOT
from casebook.checks import problems
from casebook.errors import CasebookError


def test_nothing_keeps_the_old_address(tmp_path, monkeypatch):
    subprocess.run(["git", "clone", "-q", ROOT, tmp_path / "book"], check=True)
    old = chapters.address()
    monkeypatch.setattr(address, "ROOT", tmp_path / "book")
    changed = address.move("https://github.com/someone/another.git")
    left = subprocess.run(["git", "grep", "-lF", old.removeprefix("https://github.com/")], cwd=tmp_path / "book",
                          capture_output=True, text=True)
    assert {"_config.yml", "README.md"} <= set(changed)
    assert left.stdout == ""
    for path in sorted((tmp_path / "book/notebooks").glob("*.ipynb")):
        moved = chapters.Chapter(path)
        with monkeypatch.context() as patch:
            patch.setattr(chapters, "address", lambda: "https://github.com/someone/another")
            assert problems(moved) == []


def test_what_is_no_address_is_refused():
    with pytest.raises(CasebookError, match="is not an address"):
        address.move("nonsense")

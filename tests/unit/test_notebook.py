"""A notebook file as data."""

import json

import pytest
from helpers import cell

from casebook.cells.notebook import Cell, Notebook
from casebook.errors import WrongUse


@pytest.mark.parametrize("line", ["%%pinned", "%%pinned --out text --folder shelf"])
def test_the_body_is_what_follows_magic_and_header(line):
    assert Cell(1, {"source": f"{line}\n{cell('print(1)')}"}).body == "print(1)\n"


@pytest.mark.parametrize(
    "content", [[], {"nbformat": 3}, {"nbformat": 4}, {"nbformat": 4, "cells": [{"source": 1}]}]
)
def test_a_file_that_is_no_notebook_is_one_sentence(tmp_path, content):
    (tmp_path / "a.ipynb").write_text(json.dumps(content))
    with pytest.raises(WrongUse, match=r"a\.ipynb is not an nbformat 4 notebook"):
        Notebook(tmp_path / "a.ipynb")
